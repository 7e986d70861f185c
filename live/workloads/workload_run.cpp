#include "live/workloads/workload_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include <nlohmann/json.hpp>

#include "support/json.hpp"

namespace corun::live {

namespace {

/// Steps that belong to the warm-up of a run.
std::int64_t first_tenth(std::int64_t steps) { return std::max<std::int64_t>(1, steps / 10); }

double rate(std::int64_t steps, double seconds) {
  constexpr double kShortest = 1e-9;  // no clock is finer
  return static_cast<double>(steps) / std::max(seconds, kShortest);
}

}  // namespace

void make_step(const Recipe& recipe, std::int64_t step, WorkloadDevice& device,
               const HostClock& clock) {
  device.step();
  if (recipe.stall_every > 0 && step % recipe.stall_every == 0) {
    clock.sleep_s(recipe.stall_ms / 1000);
  }
}

HostClock real_clock() {
  return {
      [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
      },
      [](double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }};
}

std::string start_line(const WorkloadRun& run, const WorkloadDevice& device) {
  return json_line({{"event", "start"},
                    {"workload", run.recipe.name},
                    {"gpu", device.name()},
                    {"gemm", device.gemm()},
                    {"memory_mib", run.recipe.memory_mib},
                    {"intensity", run.intensity},
                    {"seed", run.seed},
                    {"steps", run.steps}});
}

void run_steps(const WorkloadRun& run, WorkloadDevice& device, const HostClock& clock,
               const WriteLine& write) {
  const double start = clock.now_s();
  double warm = start;
  double seconds = 0;
  for (std::int64_t step = 1; step <= run.steps; ++step) {
    make_step(run.recipe, step, device, clock);
    const double now = clock.now_s();
    seconds = now - start;
    if (step == first_tenth(run.steps)) warm = now;
    if (step % run.report_every == 0 || step == run.steps) {
      write(
          json_line({{"event", "step"}, {"step", step}, {"of", run.steps}, {"seconds", seconds}}));
    }
  }
  const double checksum = device.checksum();
  if (!std::isfinite(checksum)) {
    throw DeviceError("corun live workload: the GPU's results are not numbers; is it broken?");
  }
  const std::int64_t steady_steps = run.steps - first_tenth(run.steps);
  write(json_line(
      {{"event", "end"},
       {"steps", run.steps},
       {"seconds", seconds},
       {"steps_per_s", rate(run.steps, seconds)},
       {"steady_steps_per_s",
        steady_steps > 0 ? Json(rate(steady_steps, start + seconds - warm)) : Json(nullptr)},
       {"checksum", checksum}}));
}

std::optional<double> told_rate(std::string_view output) {
  while (output.ends_with('\n')) output.remove_suffix(1);
  const std::string_view line = output.substr(output.rfind('\n') + 1);
  if (!line.starts_with('{')) return std::nullopt;
  const auto json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("event") || json["event"] != "end") return std::nullopt;
  const auto rate = json.find("steady_steps_per_s");
  if (rate == json.end() || !rate->is_number() || rate->get<double>() < 0) return std::nullopt;
  return rate->get<double>();
}

Calibration calibrate(const Recipe& recipe, WorkloadDevice& device, const HostClock& clock,
                      double seconds) {
  const double long_enough = std::clamp(seconds / 4, 0.5, 5.0);
  const auto steps_for = [&](double wanted) {
    const double start = clock.now_s();
    std::int64_t step = 0;
    // Whole periods: a wait for input belongs to the steps before it.
    do {
      make_step(recipe, ++step, device, clock);
    } while (clock.now_s() - start < wanted ||
             (recipe.stall_every > 0 && step % recipe.stall_every != 0));
    return rate(step, clock.now_s() - start);
  };
  steps_for(long_enough / 2);  // warm-up: clocks rise, libraries load
  Calibration result;
  result.steps_per_s = steps_for(long_enough);
  result.steps =
      std::max<std::int64_t>(1, std::llround(std::min(seconds * result.steps_per_s, 1e12)));
  return result;
}

std::string calibrated_line(const Recipe& recipe, const WorkloadDevice& device, double seconds,
                            const Calibration& found) {
  return json_line({{"event", "calibrated"},
                    {"workload", recipe.name},
                    {"gpu", device.name()},
                    {"gemm", device.gemm()},
                    {"steps", found.steps},
                    {"seconds", seconds},
                    {"steps_per_s", found.steps_per_s}});
}

}  // namespace corun::live
