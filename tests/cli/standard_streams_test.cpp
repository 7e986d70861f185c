#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/helpers/program.hpp"

/// The program where the shell has closed its streams or limits its files.
namespace corun::standard_streams_test {
namespace {

/// The exit code of a line of the shell, in which $corun is the program; 128 + signal when killed.
int shell(const test::TemporaryDirectory& directory, const std::string& line) {
  const std::string command = fmt::format("cd '{}' && corun='{}' && exec 2>err && {}",
                                          directory.path(), CORUN_PROGRAM, line);
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

constexpr const char* kReplay = "\"$corun\" replay --set replications=2 --threads 1 --output r.h5";

TEST(StandardStreams, NoFileTakesTheNumberOfAClosedOne) {
  const test::TemporaryDirectory directory;
  ASSERT_EQ(shell(directory, std::string(kReplay) + " >out"), 0);
  const std::string expected = test::read_file(directory.path("r.h5"));
  struct Case {
    const char* streams;
    int code;
  };
  // What stdout should have had is lost without it.
  for (const Case& c : std::vector<Case>{{">out 2>&-", 0},
                                         {">out <&-", 0},
                                         {">out <&- 2>&-", 0},
                                         {">&-", 2},
                                         {">&- <&-", 2},
                                         {">&- 2>&- <&-", 2}}) {
    std::filesystem::remove(directory.path("r.h5"));
    EXPECT_EQ(shell(directory, fmt::format("{} {}", kReplay, c.streams)), c.code) << c.streams;
    EXPECT_EQ(test::read_file(directory.path("r.h5")), expected) << c.streams;
  }
  EXPECT_EQ(shell(directory, "\"$corun\" list policies >&-"), 2);
  EXPECT_EQ(test::read_file(directory.path("err")), "corun: standard output cannot be written\n");
}

TEST(StandardStreams, AFileThatReplacesThemIsRefused) {
  const test::TemporaryDirectory directory;
  const std::string replay = "\"$corun\" replay --quiet --set replications=1 --figure ";
  const auto error = [&] { return test::read_file(directory.path("err")); };
  for (const char* line : {"/dev/stdout >out.svg", "out.svg >out.svg", "out.svg >>out.svg"}) {
    EXPECT_EQ(shell(directory, replay + line), 2) << line;
    EXPECT_NE(error().find("is where standard output goes, and what the program prints there would "
                           "be lost; give another file\n"),
              std::string::npos)
        << line << ": " << error();
  }
  EXPECT_EQ(shell(directory, replay + "/dev/stderr 2>e.svg"), 2);
  EXPECT_NE(test::read_file(directory.path("e.svg")).find("is where standard error goes"),
            std::string::npos);
  EXPECT_EQ(shell(directory, replay + "/dev/stdout | cat"), 0) << "of cat";
  EXPECT_NE(error().find("'/dev/stdout' is not a regular file"), std::string::npos) << error();
  EXPECT_EQ(shell(directory, replay + "f.svg >out"), 0) << error();
}

TEST(StandardStreams, NoFileThatASweepKeepsOpenHasTheNumberOfAClosedOne) {
  const test::TemporaryDirectory directory;
  const std::string config =
      directory.write("s.yaml", "replications: 100000\nsweep: {grid: {cluster.nodes: [1, 2]}}\n");
  const std::string output = directory.path("r.h5");
  const pid_t corun = fork();
  if (corun == 0) {
    for (int stream = 0; stream < 3; ++stream) close(stream);
    execl(CORUN_PROGRAM, "corun", "sweep", config.c_str(), "--output", output.c_str(), nullptr);
    _exit(127);
  }
  std::error_code error;
  for (int i = 0; i < 3000; ++i) {
    if (std::filesystem::file_size(output + ".journal", error) > 0 && !error) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(error) << "no journal";
  for (int stream = 0; stream < 3; ++stream) {
    const std::string link = fmt::format("/proc/{}/fd/{}", corun, stream);
    EXPECT_EQ(std::filesystem::read_symlink(link, error), "/dev/null") << link;
  }
  kill(corun, SIGKILL);
  waitpid(corun, nullptr, 0);
}

TEST(StandardStreams, AFileAtItsSizeLimitIsABadOutput) {
  const test::TemporaryDirectory directory;
  directory.write("s.yaml",
                  "replications: 2\npolicies: [fcfs, random]\n"
                  "sweep: {grid: {cluster.nodes: [1, 2]}}\n");
  directory.write("mine.corun.csv", test::read_file(CORUN_SOURCE_DIR "/examples/mine.corun.csv"));
  for (const char* line : {"list keys >out", "replay --set replications=1 --output r.h5 >/dev/null",
                           "replay --set replications=1 --figure f.svg >/dev/null",
                           "sweep s.yaml --output s.h5", "trace generate t.csv --jobs 500",
                           "kb build --like jrs --coruns mine.corun.csv --output kb.yaml",
                           "model fit --pairs mine.corun.csv --out m.model"}) {
    EXPECT_EQ(shell(directory, fmt::format("ulimit -f 1 && \"$corun\" {}", line)), 2) << line;
    const std::string err = test::read_file(directory.path("err"));
    EXPECT_TRUE(err.find("File too large") != std::string::npos ||
                err == "corun: standard output cannot be written\n")
        << line << ": " << err;
  }
  for (const char* file : {"r.h5", "f.svg", "s.h5", "t.csv", "kb.yaml", "m.model"}) {
    EXPECT_FALSE(std::filesystem::exists(directory.path(file))) << file;
  }
}

}  // namespace
}  // namespace corun::standard_streams_test
