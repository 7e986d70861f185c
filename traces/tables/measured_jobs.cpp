#include "traces/tables/measured_jobs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/text.hpp"
#include "traces/csv_reader.hpp"
#include "traces/tables/corun_csv.hpp"

namespace corun::inline traces {

namespace {

/// Calls f(speed, job, the other) for each speed of a pair.
template <typename F>
void each_speed(const Measurements& table, F&& f) {
  for (const SpeedTable::Row& row : table.speeds.rows) {
    const WorkloadKey a = table.speeds.jobs[row.a];
    const WorkloadKey b = table.speeds.jobs[row.b];
    f(row.speed_a, a, b);
    f(row.speed_b, b, a);
  }
  for (const CorunMeasurement& run : table.runs) {
    if (run.members.size() != 2) continue;
    const std::array<double, 2> speeds = speeds_of_pair(run);
    f(speeds[0], run.members[0].workload, run.members[1].workload);
    f(speeds[1], run.members[1].workload, run.members[0].workload);
  }
}

}  // namespace

std::string slow_speeds_note(const Measurements& table, const WorkloadKeys& keys) {
  std::size_t slow = 0;
  double least = kDoubtfulSpeed;
  std::string pair;
  each_speed(table, [&](double speed, WorkloadKey job, WorkloadKey other) {
    if (!(speed < kDoubtfulSpeed)) return;
    ++slow;
    if (speed >= least) return;
    least = speed;
    pair = "'" + printable(keys.text(job)) + "' beside '" + printable(keys.text(other)) + "'";
  });
  if (slow == 0) return "";
  return printable(table.source) + ": " + std::to_string(slow) +
         (slow == 1 ? " speed" : " speeds") + " beside another job below 0.05 of that alone, " +
         pair + " " + csv_number(std::round(least * 1e4) / 1e4) +
         ": were both timed from their common start, and alone on this GPU?";
}

std::map<WorkloadKey, double> measured_memory_mib(const Measurements& table) {
  std::map<WorkloadKey, double> memory;
  const auto add = [&](WorkloadKey job, double mib) {
    if (!(mib > 0)) return;
    double& most = memory[job];
    most = std::max(most, mib);
  };
  for (const CorunMeasurement& run : table.runs) {
    for (const CorunMember& member : run.members) {
      add(member.workload, member.profile.mem_used_mib.value_or(0));
    }
  }
  const auto feature =
      std::ranges::find(table.speeds.features, "mem_used_mib", &SpeedTable::Feature::name);
  if (feature == table.speeds.features.end()) return memory;
  const auto f = static_cast<std::size_t>(feature - table.speeds.features.begin());
  for (std::size_t j = 0; j < table.speeds.jobs.size(); ++j) {
    add(table.speeds.jobs[j], table.speeds.of(j)[f]);
  }
  return memory;
}

}  // namespace corun::inline traces
