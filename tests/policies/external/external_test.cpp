#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "policies/external/external_process.hpp"
#include "sim/error.hpp"
#include "tests/helpers/eventually.hpp"
#include "tests/helpers/program.hpp"
#include "tests/helpers/scenarios.hpp"

/// external: a policy in a program of its own: its protocol, and the treatment of its mistakes.
namespace corun::test::external_test {
namespace {

using Words = std::vector<std::string>;

RunResult simulate(const Words& command, const OwnedWorkload& w, double timeout_s = 20,
                   const std::string& start = "control") {
  const PolicyEntry& entry = *find_policy("external");
  Parameters parameters(entry.parameters);
  parameters.set("command", command);
  parameters.set("timeout_s", timeout_s);
  parameters.set("start", start);
  const ShareWorld world(0.5);
  const auto policy = make_policy(entry, w, world, 1, parameters);
  RunOptions options;
  options.traits = entry.traits_for(parameters);
  options.name = "mine";
  return run(cluster(2, 1), w, world, *policy, options);
}

/// Error of the run of a program that prints these lines.
std::string error_of(const std::string& python, double timeout_s = 20) {
  const OwnedWorkload w = workload({job(seconds(10)), job(seconds(5))});
  try {
    simulate({"python3", "-c", python}, w, timeout_s);
  } catch (const PolicyError& e) {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "the program was not reaped";
    return e.what();
  }
  return "no error";
}

std::string answering(const std::string& answer) {
  return R"(import sys
sys.stdin.readline()
print('{"protocol": "corun-policy", "version": 1}', flush=True)
for line in sys.stdin:
    print(')" +
         answer + R"(', flush=True)
)";
}

TEST(External, TheExampleDoesAsFcfs) {
  std::vector<JobSpec> jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back(job(seconds(5 + 7 * i % 23)).at(seconds(3 * i)));
  const OwnedWorkload w = workload(std::move(jobs));
  const RunResult r = simulate({"python3", CORUN_SOURCE_DIR "/examples/policy.py"}, w);
  const ShareWorld world(0.5);
  const auto fcfs = make_policy(*find_policy("fcfs"), w, world, 1);
  const RunResult expected = run(cluster(2, 1), w, world, *fcfs);
  EXPECT_EQ(r.log, expected.log);
}

TEST(External, GarbageIsRefusedInOneLine) {
  EXPECT_NE(error_of(answering("hello")).find("found 'hello', expected one JSON object"),
            std::string::npos);
  for (const char* const wrong :
       {"[]", "{}", R"({"decisions": 1})", R"({"decisions": [], "more": 1})",
        R"({"decisions": [{"event": "stop"}]})",
        R"({"decisions": [{"event": "start", "jobs": [0]}]})",
        R"({"decisions": [{"event": "start", "jobs": [-1], "gpus": [0]}]})",
        R"({"decisions": [{"event": "start", "jobs": [], "gpus": [0]}]})",
        R"({"decisions": [{"event": "start", "jobs": ["a"], "gpus": [0]}]})",
        R"({"decisions": [{"event": "wake", "time_ns": "now"}]})",
        R"({"decisions": [], "decisions": []})",
        R"({"decisions": [{"event": "start", "jobs": [0], "gpus": [0], "gpus": [0]}]})"}) {
    const std::string what = error_of(answering(wrong));
    EXPECT_NE(what.find("broke the rule 'answer': found '"), std::string::npos) << wrong << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
  }
  EXPECT_NE(
      error_of("import sys; print('hello', flush=True); sys.stdin.read()").find("rule 'answer'"),
      std::string::npos);
  EXPECT_NE(error_of("input(); print('{\"version\": 2}', flush=True); import sys; sys.stdin.read()")
                .find("rule 'handshake'"),
            std::string::npos);
}

TEST(External, AnAnswerOfBracketsIsRefused) {
  const std::string brackets = R"('[' * 5000000 + ']' * 5000000)";
  const std::string what = error_of(
      R"(import sys
sys.stdin.readline()
print('{"protocol": "corun-policy", "version": 1, "wants": [' + )" +
      brackets + R"( + ']}', flush=True)
sys.stdin.read())");
  EXPECT_NE(what.find("lists and maps nested more than 10 deep"), std::string::npos) << what;
}

TEST(External, TooManyWakeUpsAreRefused) {
  const std::string what = error_of(R"(import sys, json
sys.stdin.readline()
print('{"protocol": "corun-policy", "version": 1}', flush=True)
for line in sys.stdin:
    now = json.loads(line)['time_ns']
    wakes = [now + 1] + [10**12 + 40000 * now + i for i in range(40000)]
    print(json.dumps({'decisions': [{'event': 'wake', 'time_ns': t} for t in wakes]}), flush=True)
)");
  EXPECT_NE(what.find("broke the rule 'wake-ups': 'python3' asked for more than 100000 wake-ups"),
            std::string::npos)
      << what;
}

TEST(External, ItsDecisionsKeepTheRulesOfAll) {
  EXPECT_NE(error_of(answering(R"({"decisions": [{"event": "start", "jobs": [7], "gpus": [0]}]})"))
                .find("policy 'mine' broke the rule 'waiting': job 7 is not waiting"),
            std::string::npos);
  EXPECT_NE(error_of(answering(R"({"decisions": []})")).find("'progress'"), std::string::npos);
}

TEST(External, AProgramThatEndsOrHangsEndsTheRun) {
  EXPECT_NE(error_of("raise SystemExit(3)").find("ended with exit code 3"), std::string::npos);
  EXPECT_NE(error_of("import os; os.kill(os.getpid(), 9)").find("ended by signal 9"),
            std::string::npos);
  EXPECT_NE(error_of("import time; time.sleep(100)", 0.2).find("gave no answer within 200 ms"),
            std::string::npos);
  EXPECT_NE(error_of("import os, time; os.close(1); os.close(0); time.sleep(100)")
                .find("closed its standard output"),
            std::string::npos);
  const OwnedWorkload w = workload({job(seconds(1))});
  try {
    simulate({"no-such-program"}, w);
    FAIL();
  } catch (const PolicyError& e) {
    EXPECT_NE(std::string(e.what()).find("cannot be started: no program 'no-such-program' in PATH"),
              std::string::npos)
        << e.what();
  }
}

TEST(External, MayPreemptJoinAndWake) {
  // Starts job 0, is woken at 2 s, preempts it and starts job 1, then both together.
  const std::string python = R"(import sys, json
hello = json.loads(input())
assert hello['start'] == 'join' and len(hello['nodes']) == 2, hello
print('{"protocol": "corun-policy", "version": 1}', flush=True)
seen = []
for line in sys.stdin:
    view = json.loads(line)
    seen += [e['event'] for e in view['events']]
    t, d = view['time_ns'], []
    if t == 0 and 0 in view['waiting']:
        d = [{'event': 'start', 'jobs': [0], 'gpus': [0]}, {'event': 'wake', 'time_ns': 2000000000}]
    elif t == 2000000000 and 1 in view['waiting']:
        d = [{'event': 'preempt', 'jobs': [0]}, {'event': 'start', 'jobs': [1], 'gpus': [0]}]
    elif t == 2000000000 and 0 in view['waiting']:
        assert view['free'] == [1] and seen == ['arrive', 'arrive', 'preempt'], (view, seen)
        d = [{'event': 'start', 'jobs': [0], 'gpus': [0]}]
    print(json.dumps({'decisions': d}), flush=True)
)";
  const OwnedWorkload w = workload({job(seconds(10)), job(seconds(4))});
  const RunResult r = simulate({"python3", "-c", python}, w, 20, "join");
  // Together at 1 / 1.5 speed from 2 s to 8 s; then 4 s of job 0 are left.
  EXPECT_EQ(r.record.jobs[1].finish, seconds(8));
  EXPECT_EQ(r.record.jobs[0].finish, seconds(12));
  EXPECT_EQ(r.record.jobs[0].preemptions, 1);
}

TEST(External, ACommandMustBeGiven) {
  const Outcome r = run_corun({"replay", "--set", "policies=[{name: external}]"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("policy 'external' needs command"), std::string::npos) << r.err;
  const Outcome dies = run_corun(
      {"replay", "--quiet", "--set", "policies=[{name: external, command: [\"false\"]}]"});
  EXPECT_EQ(dies.code, 1);
  EXPECT_NE(dies.err.find("policies=[{name: external, command: [\"false\"]}]: policy 'external' "
                          "broke the rule 'answer': 'false' ended with exit code 1"),
            std::string::npos)
      << dies.err;
}

/// Error of a question to a program that never answers, when `stop` is set. The program runs the given
/// commands first.
std::string stopped(const std::string& python) {
  const TemporaryDirectory directory;
  const std::string asked = directory.path("asked");
  std::atomic<bool> stop{false};
  std::string what = "no error";
  const auto began = std::chrono::steady_clock::now();
  {
    const std::string waits =
        "import signal, sys, time\n" + python +
        "sys.stdin.readline()\nopen(sys.argv[1], 'w').close()\ntime.sleep(1000)\n";
    ExternalProcess process({"python3", "-c", waits, asked}, &stop);
    const std::jthread later([&] {
      EXPECT_TRUE(eventually([&] { return std::filesystem::exists(asked); }));
      stop = true;
    });
    try {
      process.ask("{}", std::chrono::minutes{5});
    } catch (const ExternalError& e) {
      what = e.what();
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::minutes{2});
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "the program was not reaped";
  return what;
}

TEST(External, AStopEndsTheWaitAndTheProgram) {
  EXPECT_EQ(stopped(""), "was stopped");
  // The same for a program that does not end by itself.
  EXPECT_EQ(stopped("for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):\n"
                    "  signal.signal(s, signal.SIG_IGN)\n"),
            "was stopped");
}

/// corun under a policy that has a child of its group, and one in a session of its own: neither the program
/// nor its children read what corun sends.
class ExternalFamily : public ::testing::Test {
 public:
  ~ExternalFamily() override {
    for (const pid_t pid : family) {
      if (pid > 0 && !all_gone()) kill(pid, SIGKILL);
    }
  }

 protected:
  /// Starts corun; returns when the three processes run.
  void start(const std::string& then) {
    directory.write("policy.sh",
                    "read -r hello\n"
                    "echo '{\"protocol\": \"corun-policy\", \"version\": 1}'\n"
                    "read -r question\n"
                    "sleep 1000 >&2 &\n"
                    "near=$!\n"
                    "setsid sleep 1000 >&2 &\n"
                    "echo $$ $near $! >pids.new && mv pids.new pids\n" +
                        then + "\n");
    corun = fork();
    ASSERT_GE(corun, 0);
    if (corun == 0) {
      if (chdir(directory.path().c_str()) == 0) {
        execl(CORUN_PROGRAM, CORUN_PROGRAM, "replay", "--quiet", "--set",
              "policies=[{name: external, command: [sh, policy.sh], timeout_s: 1000}]", "--set",
              "replications=1", nullptr);
      }
      _exit(99);
    }
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(directory.path("pids")); }));
    std::ifstream file(directory.path("pids"));
    for (pid_t& pid : family) file >> pid;
    ASSERT_GT(family.back(), 0);
  }
  /// Exit code of corun; 128 + signal when killed.
  int wait() {
    int status = 0;
    waitpid(corun, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// A zombie counts as gone: the reaper of orphans may need a moment.
  bool all_gone() const {
    return std::none_of(family.begin(), family.end(), [](pid_t pid) {
      std::string line;
      std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
      return std::getline(stat, line) && line.find(") Z ") == std::string::npos;
    });
  }
  const TemporaryDirectory directory;
  pid_t corun = 0;
  std::array<pid_t, 3> family{};  ///< the program, its child, the one in another session
};

// As on Ctrl-C: the run is interrupted without an error.
TEST_F(ExternalFamily, IsGoneWhenARunIsInterrupted) {
  start("wait");
  kill(corun, SIGINT);
  EXPECT_EQ(wait(), 130);
  EXPECT_TRUE(all_gone());
}

TEST_F(ExternalFamily, IsGoneWhenARunEnds) {
  start("exit 0");
  EXPECT_EQ(wait(), 1);
  EXPECT_TRUE(all_gone());
}

TEST_F(ExternalFamily, IsGoneWhenCorunIsKilled) {
  start("wait");
  kill(corun, SIGKILL);
  wait();
  EXPECT_TRUE(eventually([&] { return all_gone(); }));
}

TEST_F(ExternalFamily, IsGoneWhenItKillsItsGuard) {
  start("kill -KILL $PPID; wait");
  EXPECT_EQ(wait(), 1);
  EXPECT_TRUE(all_gone());
}

TEST_F(ExternalFamily, IsGoneWhenItStopsItsGuard) {
  start("kill -STOP $PPID; wait");
  EXPECT_EQ(wait(), 1);
  EXPECT_TRUE(all_gone());
}

}  // namespace
}  // namespace corun::test::external_test
