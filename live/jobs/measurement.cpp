#include "live/jobs/measurement.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "live/gpu/gpu_box.hpp"
#include "live/session/session.hpp"
#include "sim/base/csv_text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"

namespace corun::live {

namespace {

void take_greater(std::optional<double>& value, const std::optional<double>& other) {
  if (other && (!value || *other > *value)) value = other;
}

/// A running session of measurements.
class Measuring {
 public:
  Measuring(const Nvml& nvml, std::size_t gpu, const LiveConfig& config,
            const std::atomic<bool>& stop)
      : nvml_(nvml),
        gpu_(gpu),
        config_(config),
        stop_(stop),
        sharing_(session_, nvml, std::span(&gpu, 1), config.shares_by_mps()),
        demand_mib_(config.workloads.size()) {
    std::filesystem::create_directories(config.output + "/output");
  }

  /// The outcomes of a set, or the reason why it was refused; nullopt if it was interrupted.
  std::optional<MeasuredCoRunners> measure(const CoRunners& members, int number) {
    MeasuredCoRunners co_runners{members, number, "", {}};
    double asked = 0;
    for (const std::size_t w : members) asked += demand_mib_[w].value_or(0);
    const double free = nvml_.gpus()[gpu_].memory_mib - nvml_.read(gpu_).memory_used_mib -
                        config_.memory_reserve_mib;
    if (members.size() > 1 && asked > free) {
      co_runners.refused = "they need " + csv_number(std::round(asked)) + " MiB together, and " +
                           csv_number(std::round(free)) + " are free";
      return co_runners;
    }
    co_runners.outcomes = run(members, std::to_string(number));
    if (stop_) return std::nullopt;
    if (members.size() == 1) {
      take_greater(demand_mib_[members[0]], co_runners.outcomes[0].profile.mem_used_mib);
    }
    return co_runners;
  }

  std::vector<RunOutcome> run(const CoRunners& members, const std::string& label) {
    if (!sharing_.works()) throw DeviceError("the MPS daemon has ended by itself");
    wait_until_idle(nvml_, gpu_, stop_);
    std::vector<std::unique_ptr<JobRun>> runs;
    std::vector<std::string> outputs;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const JobCommand& job = config_.workloads[members[m]].command;
      outputs.push_back(config_.output + "/output/" + label + "-" + std::to_string(m + 1) + "-" +
                        job.name);
      // A service has the same requests in every run, two of one workload beside each other have others.
      const auto again = static_cast<std::uint64_t>(std::count(
          members.begin(), members.begin() + static_cast<std::ptrdiff_t>(m), members[m]));
      constexpr std::uint64_t kCopies = 100;
      runs.push_back(std::make_unique<JobRun>(session_, nvml_, gpu_, job, outputs.back(),
                                              sharing_.environment(),
                                              members[m] * kCopies + again));
    }
    std::vector<RunOutcome> outcomes = run_together(runs, from_seconds(config_.sample_s), stop_);
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (!outcomes[m].load) continue;
      write_file_atomically(outputs[m] + ".latency.csv", latency_csv(*outcomes[m].load));
      outcomes[m].load->requests = {};  // they are on disk
    }
    return outcomes;
  }

 private:
  const Nvml& nvml_;
  std::size_t gpu_;
  const LiveConfig& config_;
  const std::atomic<bool>& stop_;
  Session session_;
  Sharing sharing_;
  std::vector<std::optional<double>> demand_mib_;  ///< by workload, from runs alone
};

}  // namespace

bool MeasuredCoRunners::finished() const {
  return !outcomes.empty() &&
         std::all_of(outcomes.begin(), outcomes.end(),
                     [](const RunOutcome& o) { return o.end == RunEnd::kFinished; });
}

bool MeasuredCoRunners::well() const {
  const bool full = std::any_of(outcomes.begin(), outcomes.end(),
                                [](const RunOutcome& o) { return o.end == RunEnd::kOutOfMemory; });
  return finished() || !refused.empty() || (full && members.size() > 1);
}

std::vector<SoloRow> MeasuredSession::solo(const LiveConfig& config) const {
  std::vector<SoloRow> rows;
  for (std::size_t w = 0; w < config.workloads.size(); ++w) {
    if (config.workloads[w].serves()) continue;
    SoloRow row;
    row.job = config.workloads[w].name;
    row.gpu_type = gpu_name;
    double sum = 0;
    double squares = 0;
    for (const MeasuredCoRunners& c : sets) {
      if (c.members != CoRunners{w} || !c.finished()) continue;
      const RunOutcome& o = c.outcomes[0];
      ++row.runs;
      sum += to_seconds(o.length());
      squares += to_seconds(o.length()) * to_seconds(o.length());
      take_greater(row.profile.gpu_util_pct, o.profile.gpu_util_pct);
      take_greater(row.profile.mem_alloc_pct, o.profile.mem_alloc_pct);
      take_greater(row.profile.mem_time_pct, o.profile.mem_time_pct);
      take_greater(row.profile.mem_used_mib, o.profile.mem_used_mib);
    }
    if (row.runs == 0) continue;
    row.solo_s = sum / row.runs;
    if (row.runs > 1) {
      const double variance = (squares - sum * row.solo_s) / (row.runs - 1);
      row.sd_s = std::sqrt(std::max(variance, 0.0));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<MeasuredTogether> MeasuredSession::together(const LiveConfig& config) const {
  const std::vector<SoloRow> alone = solo(config);
  std::vector<MeasuredTogether> results;
  for (const MeasuredCoRunners& c : sets) {
    if (c.members.size() < 2 || !c.finished() || has_service(c.members, config)) continue;
    double solo_sum = 0;
    double longest = 0;
    std::vector<double> isd;
    for (std::size_t m = 0; m < c.members.size(); ++m) {
      const SoloRow* row = find_solo(alone, config.workloads[c.members[m]].name);
      if (row == nullptr) break;
      const double corun_s = to_seconds(c.outcomes[m].length());
      solo_sum += row->solo_s;
      longest = std::max(longest, corun_s);
      isd.push_back((corun_s - row->solo_s) / row->solo_s);
    }
    if (isd.size() != c.members.size()) continue;
    auto result = std::find_if(results.begin(), results.end(),
                               [&](const MeasuredTogether& r) { return r.members == c.members; });
    if (result == results.end()) {
      results.push_back({c.members, 0, std::vector<double>(isd.size()), 0});
      result = results.end() - 1;
    }
    const double n = ++result->runs;
    for (std::size_t m = 0; m < isd.size(); ++m) result->isd[m] += (isd[m] - result->isd[m]) / n;
    result->ps += ((solo_sum - longest) / solo_sum - result->ps) / n;
  }
  return results;
}

std::vector<MeasuredService> MeasuredSession::services(const LiveConfig& config) const {
  const std::vector<SoloRow> alone = solo(config);
  std::vector<MeasuredService> results;
  for (const MeasuredCoRunners& c : sets) {
    for (std::size_t m = 0; m < c.outcomes.size(); ++m) {
      const RunOutcome& o = c.outcomes[m];
      if (!o.load || !o.load->whole) continue;
      CoRunners beside = c.members;
      beside.erase(beside.begin() + static_cast<std::ptrdiff_t>(m));
      auto result = std::ranges::find_if(results, [&](const MeasuredService& r) {
        return r.workload == c.members[m] && r.beside == beside;
      });
      if (result == results.end()) {
        results.push_back({c.members[m],
                           beside,
                           0,
                           {},
                           0,
                           0,
                           Duration{0},
                           Duration{0},
                           std::vector<SlowedJob>(beside.size()),
                           {}});
        result = results.end() - 1;
      }
      ++result->runs;
      result->latency.add(o.load->latency);
      result->requests += o.load->count();
      result->within += o.load->within;
      result->span += o.load->span;
      result->latest = std::max(result->latest, o.load->latest);
      take_greater(result->profile.gpu_util_pct, o.profile.gpu_util_pct);
      take_greater(result->profile.mem_alloc_pct, o.profile.mem_alloc_pct);
      take_greater(result->profile.mem_time_pct, o.profile.mem_time_pct);
      take_greater(result->profile.mem_used_mib, o.profile.mem_used_mib);
      for (std::size_t b = 0; b < beside.size(); ++b) {
        const RunOutcome& other = c.outcomes[b < m ? b : b + 1];
        const SoloRow* row = find_solo(alone, config.workloads[beside[b]].name);
        if (row == nullptr || other.end != RunEnd::kFinished) continue;
        SlowedJob& slowed = result->isd[b];
        const double isd = to_seconds(other.length()) / row->solo_s - 1;
        slowed.mean += (isd - slowed.mean) / ++slowed.runs;
      }
    }
  }
  // Alone first, then in the order of the measurements.
  std::ranges::stable_sort(results, {}, [](const MeasuredService& r) {
    return std::pair(r.workload, !r.beside.empty());
  });
  return results;
}

MeasuredSession measure(const Nvml& nvml, std::size_t gpu, const LiveConfig& config,
                        std::span<const CoRunners> order, const std::atomic<bool>& stop,
                        const MeasureOptions& options) {
  Measuring measuring(nvml, gpu, config, stop);
  MeasuredSession result;
  result.gpu_name = nvml.gpus()[gpu].name;
  result.sharing = name_of(config.config.cluster.sharing);
  for (int w = 0; w < options.warm_up && !order.empty() && !stop; ++w) {
    measuring.run(order.front(), "warm-up");
  }
  for (const CoRunners& members : order) {
    if (stop) break;
    auto co_runners = measuring.measure(members, static_cast<int>(result.sets.size()) + 1);
    if (!co_runners) break;  // an interrupted set is no measurement
    result.sets.push_back(std::move(*co_runners));
    if (options.on_measured) options.on_measured(result.sets.back(), order.size());
  }
  result.interrupted = stop;
  return result;
}

}  // namespace corun::live
