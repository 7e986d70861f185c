#pragma once

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/helpers/program.hpp"
#include "tests/live/run/live_box.hpp"

/// `corun live` on a fake box, as users run it.
namespace corun::test {

/// The program in the background. Its destructor kills it.
class Background {
 public:
  Background(const std::vector<std::string>& arguments, std::string directory)
      : directory_(std::move(directory)) {
    std::vector<std::string> words{CORUN_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string out = path("stdout");
    const std::string err = path("stderr");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(open("/dev/null", O_RDONLY), 0);
      dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), 1);
      dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
      execv(argv[0], argv.data());
      _exit(127);
    }
  }
  ~Background() {
    if (pid_ > 0) kill(SIGKILL);
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void signal(int number) const { ::kill(pid_, number); }
  /// Exit code, or 128 + signal.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void kill(int number) {
    signal(number);
    wait();
  }
  bool running() const { return pid_ > 0 && is_alive(pid_); }
  std::string out() const { return read_file(path("stdout")); }
  std::string err() const { return read_file(path("stderr")); }

 private:
  std::string path(const char* name) const { return directory_ + "/" + name; }
  std::string directory_;
  pid_t pid_ = -1;
};

/// A box, a folder for results, and a TMPDIR of the test's own; FAKE_GPU_BOX names the box.
class LiveProgram : public ::testing::Test {
 public:
  ~LiveProgram() override {
    unsetenv("FAKE_GPU_BOX");
    if (tmpdir_.empty()) {
      unsetenv("TMPDIR");
    } else {
      setenv("TMPDIR", tmpdir_.c_str(), 1);
    }
  }

 protected:
  LiveProgram() { use_box("16384 0 0 Fake V100\n16384 0 0 Fake V100\n"); }

  void use_box(const std::string& gpus) {
    std::filesystem::create_directories(folder.path("box/jobs"));
    std::filesystem::create_directories(folder.path("tmp"));
    folder.write("box/gpus", gpus);
    setenv("FAKE_GPU_BOX", box().c_str(), 1);
    setenv("TMPDIR", folder.path("tmp").c_str(), 1);
  }
  std::string box() const { return folder.path("box"); }

  /// The words of `corun live WORDS`, with --nvml after the first.
  std::vector<std::string> live(std::vector<std::string> words) const {
    words.insert(words.begin(), "live");
    words.insert(words.begin() + 2, {"--nvml", CORUN_FAKE_NVML});
    return words;
  }
  Outcome run(const std::vector<std::string>& words) const {
    return run_corun(live(words), folder.path());
  }

  /// [PROGRAM, BOX, NUMBERS..., MODES...] as YAML.
  std::string command(const std::string& words) const {
    std::string yaml = std::string("[") + CORUN_FAKE_WORKLOAD + ", " + box();
    std::istringstream text(words);
    for (std::string word; text >> word;) yaml += ", '" + word + "'";
    return yaml + "]";
  }
  /// Writes a configuration, with `workloads` (name, words of the fake workload) and further lines.
  std::string config(const std::vector<std::pair<std::string, std::string>>& workloads,
                     const std::string& lines = "") const {
    std::string text =
        "live: {gpus: [0], output: " + folder.path("out") +
        ", sample_s: 0.02, disk_free_mib: 0, grace_s: 0.2, timeout_s: 60}\nworkloads:\n";
    for (const auto& [name, words] : workloads) {
      text += "  " + name + ": {command: " + command(words) + "}\n";
    }
    return folder.write("box.yaml", text + lines);
  }
  std::string result(const std::string& name) const {
    return read_file(folder.path("out/" + name));
  }
  bool has_result(const std::string& name) const {
    return std::filesystem::exists(folder.path("out/" + name));
  }
  std::size_t on_gpu(int gpu = 0) const { return fake_uses(box(), gpu).size(); }

  /// Whether no process of the box runs and no directory of a session exists.
  bool nothing_left() const {
    return processes_of(box()) == 0 && std::filesystem::is_empty(folder.path("tmp"));
  }

  const TemporaryDirectory folder;

 private:
  const std::string tmpdir_ = std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "";
};

}  // namespace corun::test
