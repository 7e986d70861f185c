#include "tests/support/program.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

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
  std::string command = "cd " + quoted(directory) + " && " + quoted(program);
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

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "corun-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryDirectory::write(const std::string& name, const std::string& bytes) const {
  std::ofstream(path(name), std::ios::binary) << bytes;
  return path(name);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

}  // namespace corun::test
