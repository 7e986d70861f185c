#include <cmath>
#include <csignal>
#include <set>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/live/live_workload_command.hpp"
#include "live/workloads/workload_run.hpp"
#include "sim/error.hpp"
#include "tests/helpers/eventually.hpp"
#include "tests/helpers/temporary_directory.hpp"

namespace corun::live::workload_command_test {
namespace {

using Json = nlohmann::json;
using test::TemporaryDirectory;

/// A clock that only steps and sleeps advance.
struct FakeTime {
  double now_s = 100;
  double slept_s = 0;
  HostClock clock() {
    return {[this] { return now_s; },
            [this](double seconds) {
              now_s += seconds;
              slept_s += seconds;
            }};
  }
};

/// A GPU whose steps call `on_step`.
class FakeDevice : public WorkloadDevice {
 public:
  explicit FakeDevice(std::function<void(std::int64_t)> on_step = {}, double sum = 1.25)
      : on_step_(std::move(on_step)), sum_(sum) {}
  std::string name() const override { return "Stand-in"; }
  std::string gemm() const override { return "own"; }
  void step() override {
    ++steps;
    if (on_step_) on_step_(steps);
  }
  double checksum() override { return sum_; }
  std::int64_t steps = 0;

 private:
  std::function<void(std::int64_t)> on_step_;
  double sum_;
};

std::vector<Json> parsed(const std::string& lines) {
  std::vector<Json> result;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) result.push_back(Json::parse(line));
  return result;
}

struct Ran {
  std::int64_t steps = 0;
  std::string lines;
};
Ran ran(const WorkloadRun& run, const std::function<void(std::int64_t, FakeTime&)>& on_step,
        FakeTime& time) {
  FakeDevice device([&](std::int64_t step) { on_step(step, time); });
  Ran result;
  run_steps(run, device, time.clock(),
            [&](const std::string& line) { result.lines += line + "\n"; });
  result.steps = device.steps;
  return result;
}

TEST(Workloads, TheTableIsWhole) {
  std::set<std::string_view> names;
  for (const Recipe& r : workload_recipes()) {
    EXPECT_TRUE(names.insert(r.name).second) << r.name;
    EXPECT_FALSE(r.stands_for.empty());
    EXPECT_GE(r.memory_mib, kMemoryMinMib);
    EXPECT_GE(r.steps, 10);
    EXPECT_EQ(r.products > 0, r.matrix > 0) << r.name;
    EXPECT_EQ(r.convolutions > 0, r.image > 0) << r.name;
    EXPECT_TRUE(r.products > 0 || r.convolutions > 0 || r.update_mib > 0 || r.lookups > 0 ||
                r.small_kernels > 0)
        << r.name << " does nothing";
    EXPECT_EQ(r.stall_every > 0, r.stall_ms > 0) << r.name;
    EXPECT_EQ(&find_recipe(r.name), &r);
  }
  EXPECT_GE(names.size(), 8U);
}

TEST(Workloads, DialsScaleTheWorkAndNotTheWaits) {
  const Recipe plain = find_recipe("input-stall");
  const Recipe half = with_dials(plain, {0.5, 1000});
  EXPECT_EQ(half.products, plain.products / 2);
  EXPECT_EQ(half.update_mib, plain.update_mib / 2);
  EXPECT_EQ(half.stall_ms, plain.stall_ms);
  EXPECT_EQ(half.memory_mib, 1000);
  const Recipe least = with_dials(plain, {kIntensityMin, {}});
  EXPECT_EQ(least.products, 1) << "what is done at all is done once";
  EXPECT_EQ(least.convolutions, 0);
  for (const Recipe& r : workload_recipes()) {
    EXPECT_GT(with_dials(r, {kIntensityMax, {}}).lookups, -1) << "overflow";
  }
}

TEST(Workloads, StepsAreCountedAndTimed) {
  FakeTime time;
  WorkloadRun run;
  run.recipe.name = "x";
  run.steps = 25;
  run.report_every = 10;
  // The first two steps are slow; the first tenth of 25 steps are 2.
  const Ran result = ran(
      run, [](std::int64_t step, FakeTime& t) { t.now_s += step <= 2 ? 1.0 : 0.1; }, time);
  EXPECT_EQ(result.steps, 25);
  const auto lines = parsed(result.lines);
  ASSERT_EQ(lines.size(), 4U);
  for (const auto& [n, step, seconds] :
       {std::tuple{0, 10, 2.8}, std::tuple{1, 20, 3.8}, std::tuple{2, 25, 4.3}}) {
    EXPECT_EQ(lines[n]["event"], "step");
    EXPECT_EQ(lines[n]["step"], step);
    EXPECT_EQ(lines[n]["of"], 25);
    EXPECT_NEAR(lines[n]["seconds"], seconds, 1e-9);
  }
  EXPECT_EQ(lines[3]["event"], "end");
  EXPECT_EQ(lines[3]["steps"], 25);
  EXPECT_NEAR(lines[3]["seconds"], 4.3, 1e-9);
  EXPECT_NEAR(lines[3]["steps_per_s"], 25 / 4.3, 1e-9);
  EXPECT_NEAR(lines[3]["steady_steps_per_s"], 10, 1e-6);
  EXPECT_EQ(lines[3]["checksum"], 1.25);
}

TEST(Workloads, LiveModeReadsTheRateThatTheyTell) {
  FakeTime time;
  WorkloadRun run;
  run.recipe.name = "x";
  run.steps = 20;
  run.report_every = 20;
  const auto rate = told_rate(ran(
                                  run, [](std::int64_t, FakeTime& t) { t.now_s += 0.1; }, time)
                                  .lines);
  ASSERT_TRUE(rate);
  EXPECT_NEAR(*rate, 10, 1e-6);
  run.steps = 1;  // nothing is left without the warm-up
  EXPECT_FALSE(told_rate(ran(
                             run, [](std::int64_t, FakeTime& t) { t.now_s += 0.1; }, time)
                             .lines));

  const std::string line = R"({"event": "end", "steady_steps_per_s": 2.5})";
  EXPECT_EQ(told_rate("epoch 1\n" + line + "\n\n"), 2.5);
  EXPECT_FALSE(told_rate(line + "\ndone\n")) << "not the last line";
  EXPECT_FALSE(told_rate(""));
  EXPECT_FALSE(told_rate(line.substr(0, 20)));
  EXPECT_FALSE(told_rate(R"({"event": "step", "steady_steps_per_s": 2.5})"));
  EXPECT_FALSE(told_rate(R"({"event": "end", "steady_steps_per_s": "fast"})"));
  EXPECT_FALSE(told_rate(R"({"event": "end", "steady_steps_per_s": -1})"));
  EXPECT_FALSE(told_rate(R"({"event": "end", "steady_steps_per_s": 1e999})"));
}

TEST(Workloads, WaitsForInputComeAfterEverySoManySteps) {
  FakeTime time;
  WorkloadRun run;
  run.recipe.stall_every = 4;
  run.recipe.stall_ms = 60;
  run.steps = 11;
  run.report_every = 100;
  const Ran result = ran(
      run, [](std::int64_t, FakeTime& t) { t.now_s += 0.01; }, time);
  EXPECT_NEAR(time.slept_s, 2 * 0.06, 1e-9);
  EXPECT_NEAR(parsed(result.lines).back()["seconds"], 11 * 0.01 + 2 * 0.06, 1e-9);
}

TEST(Workloads, ResultsThatAreNoNumbersAreAnError) {
  FakeTime time;
  FakeDevice device({}, std::nan(""));
  EXPECT_THROW(run_steps({}, device, time.clock(), [](const std::string&) {}), DeviceError);
}

TEST(Workloads, CalibrationFindsTheSteps) {
  for (const double step_s : {0.003, 0.05, 3.0}) {
    FakeTime time;
    // The first steps, cold, take ten times as long.
    FakeDevice device([&](std::int64_t step) { time.now_s += step < 3 ? 10 * step_s : step_s; });
    const Calibration found = calibrate({}, device, time.clock(), 12);
    EXPECT_NEAR(static_cast<double>(found.steps), 12 / step_s, step_s > 1 ? 3 : 1) << step_s;
  }
  FakeTime time;
  FakeDevice device([&](std::int64_t) { time.now_s += 0.01; });
  Recipe stalled;
  stalled.stall_every = 4;
  stalled.stall_ms = 60;  // 0.1 s for 4 steps
  EXPECT_NEAR(static_cast<double>(calibrate(stalled, device, time.clock(), 10).steps), 400, 1);
  FakeDevice slow([&](std::int64_t) { time.now_s += 100; });
  EXPECT_EQ(calibrate({}, slow, time.clock(), 1).steps, 1);
}

/// The arguments with which the command opens the device.
struct Asked {
  Recipe recipe;
  std::uint64_t seed = 0;
  Gemm gemm = Gemm::kAuto;
  int opened = 0;
};
int command(const std::vector<std::string>& arguments, Asked& asked) {
  return workload_command_on(arguments, [&](const Recipe& recipe, std::uint64_t seed, Gemm gemm) {
    asked = {recipe, seed, gemm, asked.opened + 1};
    return std::make_unique<FakeDevice>();
  });
}

TEST(WorkloadCommand, DialsReachTheDevice) {
  const TemporaryDirectory folder;
  Asked asked;
  const std::string out = folder.path("out");
  EXPECT_EQ(command({"gemm", "--steps", "30", "--intensity", "2", "--memory-mib", "123", "--seed",
                     "9", "--gemm", "own", "--report-every", "15", "--output", out},
                    asked),
            0);
  EXPECT_EQ(asked.recipe.products, 2 * find_recipe("gemm").products);
  EXPECT_EQ(asked.recipe.memory_mib, 123);
  EXPECT_EQ(asked.seed, 9U);
  EXPECT_EQ(asked.gemm, Gemm::kOwn);
  const auto lines = parsed(test::read_file(out));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0]["event"], "start");
  EXPECT_EQ(lines[0]["workload"], "gemm");
  EXPECT_EQ(lines[0]["gpu"], "Stand-in");
  EXPECT_EQ(lines[0]["intensity"], 2);
  EXPECT_EQ(lines[0]["memory_mib"], 123);
  EXPECT_EQ(lines[0]["seed"], 9);
  EXPECT_EQ(lines[0]["steps"], 30);
  EXPECT_EQ(lines[2]["step"], 30);
  EXPECT_EQ(lines[3]["event"], "end");
}

TEST(WorkloadCommand, EachHasItsDefaultSteps) {
  const TemporaryDirectory folder;
  for (const Recipe& r : workload_recipes()) {
    if (r.stall_every > 0) continue;  // its waits are real
    Asked asked;
    const std::string out = folder.path(std::string(r.name));
    EXPECT_EQ(command({std::string(r.name), "--output", out}, asked), 0);
    EXPECT_EQ(parsed(test::read_file(out)).back()["steps"], r.steps);
    EXPECT_EQ(parsed(test::read_file(out)).size(), 12U) << "ten steps lines, start and end";
  }
}

TEST(WorkloadCommand, WrongWordsAreInputErrors) {
  const auto message = [](const std::vector<std::string>& arguments) {
    Asked asked;
    std::string text;
    try {
      command(arguments, asked);
    } catch (const InputError& e) {
      text = e.what();
    }
    EXPECT_EQ(asked.opened, 0) << "the GPU was asked before the words were checked";
    return text;
  };
  EXPECT_NE(message({}).find("no workload named"), std::string::npos);
  EXPECT_NE(message({"gem"}).find("did you mean 'gemm'"), std::string::npos);
  EXPECT_EQ(message({"gemm", "--steps", "0"}).find("--steps: found '0'"), 0U);
  EXPECT_EQ(message({"gemm", "--steps", "1e3"}).find("--steps: found '1e3'"), 0U);
  EXPECT_EQ(message({"gemm", "--intensity", "0"}).find("--intensity: found '0'"), 0U);
  EXPECT_EQ(message({"gemm", "--intensity", "nan"}).find("--intensity"), 0U);
  EXPECT_EQ(message({"gemm", "--memory-mib", "-1"}).find("--memory-mib"), 0U);
  EXPECT_EQ(message({"gemm", "--memory-mib", "1e12"}).find("--memory-mib"), 0U);
  EXPECT_EQ(message({"gemm", "--seconds", "0"}).find("--seconds"), 0U);
  EXPECT_EQ(message({"gemm", "--seconds", "5", "--steps", "5"}).find("--seconds: finds"), 0U);
  EXPECT_EQ(message({"infer", "--serve", "70000"}).find("--serve: found '70000'"), 0U);
  EXPECT_EQ(message({"infer", "--serve", "80", "--seconds", "5"}).find("--serve: is a service"),
            0U);
  EXPECT_EQ(message({"gemm", "--seed", "-1"}).find("--seed"), 0U);
  EXPECT_EQ(message({"gemm", "--gemm", "mkl"}).find("--gemm: found 'mkl'"), 0U);
  EXPECT_EQ(message({"gemm", "--report-every", "0"}).find("--report-every"), 0U);
  EXPECT_EQ(message({"gemm", "--device", "cpu"}).find("--device"), 0U);
  EXPECT_EQ(message({"gemm", "--format", "csv"}).find("--format"), 0U);
  EXPECT_EQ(message({"gemm", "--output", "/no/such/place/x"}).find("--output"), 0U);
  EXPECT_NE(message({"gemm", "--stepz", "1"}).find("did you mean '--steps'"), std::string::npos);
}

TEST(WorkloadCommand, NoMemoryIsExitCodeOneInTheDriversWords) {
  ::testing::internal::CaptureStderr();
  const int code = workload_command_on(
      {"hungry"}, [](const Recipe&, std::uint64_t, Gemm) -> std::unique_ptr<WorkloadDevice> {
        throw DeviceOutOfMemory("CUDA error: out of memory: hungry");
      });
  EXPECT_EQ(code, 1);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "CUDA error: out of memory: hungry\n");
}

TEST(WorkloadCommand, WithoutAGpuItIsADeviceError) {
  // Hides the machine's GPU, if it has one.
  setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  try {
    workload_command({"rl", "--steps", "1"});
    ADD_FAILURE() << "ran without a GPU";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("no usable GPU"), std::string::npos) << e.what();
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
  }
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(WorkloadCommand, SigtermEndsItAtOnceAndKeepsTheLines) {
  const TemporaryDirectory folder;
  const std::string out = folder.path("out");
  const pid_t child = fork();
  if (child == 0) {
    // Some parents leave signals ignored and blocked.
    std::signal(SIGTERM, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    try {
      workload_command_on({"gemm", "--steps", "100000000", "--report-every", "5", "-o", out},
                          [](const Recipe&, std::uint64_t, Gemm) {
                            return std::make_unique<FakeDevice>([](std::int64_t) { usleep(1000); });
                          });
    } catch (...) {
    }
    _exit(99);
  }
  const auto told = [&] {
    return access(out.c_str(), R_OK) == 0 &&
           test::read_file(out).find("\"step\"") != std::string::npos;
  };
  EXPECT_TRUE(test::eventually(told));
  kill(child, SIGTERM);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  const std::string lines = test::read_file(out);
  EXPECT_NE(lines.find("\"step\":5,"), std::string::npos) << lines;
  EXPECT_EQ(lines.find("\"end\""), std::string::npos) << lines;
}

}  // namespace
}  // namespace corun::live::workload_command_test
