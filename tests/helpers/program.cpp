#include "tests/helpers/program.hpp"

#include <cstdlib>

#include <sys/wait.h>

namespace corun::test {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

Outcome run_corun(const std::vector<std::string>& arguments, const std::string& directory) {
  const TemporaryDirectory temporary;
  // Where the tests run on another machine than they were built on, this names the program.
  const char* const elsewhere = std::getenv("CORUN_TEST_PROGRAM");
  const std::string program = elsewhere != nullptr ? elsewhere : CORUN_PROGRAM;
  std::string command = "cd " + quoted(directory) +
                        " && exec /usr/bin/timeout --foreground -s KILL " +
                        std::to_string(kProgramLimitSeconds) + " " + quoted(program);
  for (const std::string& a : arguments) command += " " + quoted(a);
  command +=
      " >" + quoted(temporary.path("out")) + " 2>" + quoted(temporary.path("err")) + " </dev/null";
  const int status = std::system(command.c_str());
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = read_file(temporary.path("out"));
  outcome.err = read_file(temporary.path("err"));
  return outcome;
}

}  // namespace corun::test
