#include "experiments/replay/replay_table.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "experiments/base/text_table.hpp"
#include "experiments/statistics/interval_output.hpp"
#include "traces/paper_workloads.hpp"

namespace corun {

namespace {

const Interval& of(const MetricIntervals& metrics, Metric m) {
  return metrics[static_cast<std::size_t>(m)];
}

/// A number with this many digits; never "-0.0".
std::string fixed(double x, int digits) {
  std::string text = fmt::format("{:.{}f}", x, digits);
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

/// "17.3 [16.9, 17.8]"
std::string with_interval(const Interval& i, double scale, int digits) {
  if (std::isnan(i.mean)) return "-";
  return interval_text(i, fixed(i.mean * scale, digits), fixed(i.lo * scale, digits),
                       fixed(i.hi * scale, digits));
}

std::string plain(const Interval& i, double scale, int digits) {
  return std::isnan(i.mean) ? "-" : fixed(i.mean * scale, digits);
}

/// The JRS paper's result for a policy on the JRS queue, as "ISD / PS (Table)"; empty if none.
std::string paper_figures(const PolicyInstance& policy) {
  std::string text;
  for (const std::string_view table : {"JRS-IV", "JRS-V", "JRS-VI", "JRS-VII"}) {
    const PaperSchedule schedule = paper_schedule(table);
    if (schedule.policy != policy.entry->name) continue;
    // The printed tables use no exploration and no risk term.
    const auto& settings = policy.config.settings;
    const auto above_zero = [&](const char* name) {
      const auto at = settings.find(name);
      return at != settings.end() && std::get<double>(at->second) > 0;
    };
    const auto explore = settings.find("explore");
    const bool drawn =
        explore != settings.end() && std::get<std::string>(explore->second) != "epsilon";
    if (above_zero("epsilon") || above_zero("risk") || drawn) continue;
    if (!schedule.fill_by.empty()) {
      const auto by = policy.config.settings.find("by");
      const std::string asked =
          by == policy.config.settings.end() ? "utilisation" : std::get<std::string>(by->second);
      if (schedule.fill_by != asked) continue;
    }
    const PaperReported reported = paper_reported(table);
    text = fmt::format("{:.1f} / {:.1f} ({})", reported.isd_with_bin_pct, reported.ps_with_bin_pct,
                       table.substr(4));
  }
  return text;
}

/// Share of co-run time with any source of cost: 0 without co-runs.
double shared(const Coverage& c) { return c.measured + c.modelled + c.extrapolated; }

void print_winner(std::ostream& out, const Experiment& experiment, const ReplayResult& result,
                  Metric metric, bool smaller, const char* what) {
  const auto& policies = experiment.policies();
  // A policy that never shares has slowdown 0 and saves nothing, so it is not compared.
  const auto usable = [&](std::size_t p) {
    return !policies[p].granted_truth && shared(result.coverage_by_policy[p]) > 0 &&
           !std::isnan(of(result.comparison.policies[p], metric).mean);
  };
  std::size_t best = policies.size();
  for (std::size_t p = 0; p < policies.size(); ++p) {
    if (!usable(p)) continue;
    if (best == policies.size()) {
      best = p;
      continue;
    }
    const double difference = of(result.comparison.policies[p], metric).mean -
                              of(result.comparison.policies[best], metric).mean;
    if (smaller ? difference < 0 : difference > 0) best = p;
  }
  if (best == policies.size()) return;
  std::string left_out;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    if (!usable(p)) left_out += (left_out.empty() ? "" : ", ") + policies[p].label;
  }
  std::string ties;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    if (p == best || !usable(p)) continue;
    const Interval& d = of(result.comparison.versus[p][best], metric);
    if (!d.excludes_zero()) ties += (ties.empty() ? "" : ", ") + policies[p].label;
  }
  fmt::print(out, "{}{}: {}{}\n", what, left_out.empty() ? "" : " (without " + left_out + ")",
             policies[best].label,
             ties.empty() ? "" : "; not significantly different (95 %): " + ties);
}

/// The experiment and result, with the facts that determine columns and footnotes.
struct Shown {
  Shown(const Experiment& the_experiment, const ReplayResult& the_result)
      : experiment(the_experiment), result(the_result) {
    const Config& config = experiment.config();
    // The papers did not probe.
    paper_queue = config.workload.source == "jrs-queue" && config.probing.probes == 0;
    if (!result.replications.empty()) jobs = result.replications.front().trace->names.size();
    const auto& policies = experiment.policies();
    for (std::size_t p = 0; p < policies.size() && !random; ++p) {
      if (policies[p].entry->name == "random") random = p;
    }
  }

  const MetricIntervals& metrics(std::size_t policy) const {
    return result.comparison.policies[policy];
  }

  const Experiment& experiment;
  const ReplayResult& result;
  bool paper_queue = false;
  std::size_t jobs = 0;
  std::optional<std::size_t> random;  ///< the first policy of that name
};

void print_setting(std::ostream& out, const Shown& shown) {
  const Experiment& experiment = shown.experiment;
  const Config& config = experiment.config();
  const std::vector<std::string> models = experiment.cluster().models();
  fmt::print(
      out, "{}: {} jobs on {} x {} ({}), {} start; world {}{}{}; belief {} from {}\n",
      config.workload.source, shown.jobs, experiment.cluster().gpu_count(), fmt::join(models, ", "),
      name_of(config.cluster.sharing), name_of(config.control.start), config.world.model.text(),
      config.world.model == WorldKind::kMeasured
          ? fmt::format(" (else {})", config.world.fallback.text())
          : "",
      config.world.noise ? "" : ", no noise", config.belief.model.text(), config.belief.initial);
  if (!experiment.equal_speeds().empty()) fmt::print(out, "{}\n", experiment.equal_speeds());
  if (config.probing.probes > 0) {
    fmt::print(out, "policies that learn from probes: up to {} probe{} of {:g} s per job{}\n",
               config.probing.probes, config.probing.probes == 1 ? "" : "s", config.probing.seconds,
               config.probing.keeps_progress ? ", progress kept" : "");
  }
  const std::size_t n = shown.result.replications.size();
  fmt::print(out, "{} replication{}{}, seed {}{}{}\n\n", n, n == 1 ? "" : "s",
             n < kFewestReplications ? ": no intervals" : "", config.seed,
             n < kFewestReplications ? "" : "; [95 % intervals]",
             shown.random ? "; vs. random: paired difference" : "");
}

std::vector<std::string> head_of(const Shown& shown) {
  std::vector<std::string> head{"policy", "ISD %", "PS %"};
  if (shown.random) head.insert(head.end(), {"ISD vs. random", "PS vs. random"});
  head.insert(head.end(), {"JCT s", "makespan s", "GPU util %", "measured %"});
  if (shown.paper_queue) head.emplace_back("paper: ISD / PS");
  return head;
}

std::vector<std::string> row_of(const Shown& shown, std::size_t p) {
  const PolicyInstance& policy = shown.experiment.policies()[p];
  const MetricIntervals& m = shown.metrics(p);
  const auto percent = [&](const MetricIntervals& of_metric, Metric metric) {
    return with_interval(of(of_metric, metric), 100, 1);
  };
  std::vector<std::string> row{policy.label + (policy.granted_truth ? " *" : ""),
                               percent(m, Metric::kIsd), percent(m, Metric::kPs)};
  if (shown.random) {
    const MetricIntervals& d = shown.result.comparison.versus[p][*shown.random];
    for (const Metric metric : {Metric::kIsd, Metric::kPs}) {
      row.push_back(p == *shown.random ? "" : percent(d, metric));
    }
  }
  row.push_back(plain(of(m, Metric::kJctS), 1, 0));
  row.push_back(plain(of(m, Metric::kMakespanS), 1, 0));
  row.push_back(plain(of(m, Metric::kGpuUtil), 100, 1));
  const Coverage& coverage = shown.result.coverage_by_policy[p];
  row.push_back(shared(coverage) > 0 ? fixed(coverage.measured * 100, 0) : "-");
  if (shown.paper_queue) row.push_back(paper_figures(policy));
  return row;
}

void print_memory_note(std::ostream& out, const Shown& shown) {
  const auto& policies = shown.experiment.policies();
  double jobs_given_up = 0;
  std::string given_up_under;
  bool oom = false;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    oom |= of(shown.metrics(p), Metric::kOom).mean > 0;
    if (const double failed = of(shown.metrics(p), Metric::kFailed).mean; failed > 0) {
      given_up_under += (given_up_under.empty() ? "" : ", ") + policies[p].label;
      jobs_given_up = std::max(jobs_given_up, failed);
    }
  }
  if (!given_up_under.empty()) {
    fmt::print(
        out,
        "up to {:.4g} of {} jobs were given up, out of memory once too often, under {}: times "
        "and slowdowns are of the others\n",
        jobs_given_up, shown.jobs, given_up_under);
  } else if (oom) {
    fmt::print(out,
               "some runs ended out of memory and were repeated: see `oom` in --format json\n");
  }
}

/// Whether an interval of the table has the mark "~".
bool any_approximate(const Shown& shown) {
  const auto marked = [](const MetricIntervals& m) {
    return of(m, Metric::kIsd).approximate || of(m, Metric::kPs).approximate;
  };
  for (std::size_t p = 0; p < shown.experiment.policies().size(); ++p) {
    if (marked(shown.metrics(p))) return true;
    if (shown.random && marked(shown.result.comparison.versus[p][*shown.random])) return true;
  }
  return false;
}

/// Names the policies under which no job shared, and clock ticks alone made a slowdown.
void print_tick_note(std::ostream& out, const Shown& shown) {
  if (!shown.experiment.config().control.tick_s) return;
  std::string names;
  for (std::size_t p = 0; p < shown.experiment.policies().size(); ++p) {
    const bool alone = shared(shown.result.coverage_by_policy[p]) == 0;
    if (!alone || !(of(shown.metrics(p), Metric::kIsd).mean > 0)) continue;
    names += (names.empty() ? "" : ", ") + shown.experiment.policies()[p].label;
  }
  if (names.empty()) return;
  const PreemptionConfig& lost = shown.experiment.config().preemption;
  const bool preempts = lost.save_s > 0 || lost.restore_s > 0 || lost.lost_work > 0;
  fmt::print(
      out, "no job shared under {}: the ISD there is the cost of clock ticks (control.tick_s){}\n",
      names, preempts ? " and preemptions" : "");
}

void print_footnotes(std::ostream& out, const Shown& shown) {
  const ReplayResult& result = shown.result;
  fmt::print(out,
             "ISD: extra time on the GPU against running alone, less is better; PS: GPU time saved "
             "against running one after another, more is better\n");
  const Coverage& c = result.coverage;
  if (shared(c) > 0) {
    fmt::print(out,
               "co-run time whose cost was measured {:.1f} %, modelled {:.1f} %, extrapolated "
               "{:.1f} %\n",
               c.measured * 100, c.modelled * 100, c.extrapolated * 100);
  }
  if (std::ranges::any_of(shown.experiment.policies(), &PolicyInstance::granted_truth)) {
    fmt::print(
        out,
        "* knows the true expected co-run costs: an upper bound for beliefs with its objective\n");
  }
  if (any_approximate(shown)) {
    fmt::print(out, "~ approximate interval: the values are few or skewed (docs/intervals.md)\n");
  }
  if (shown.paper_queue) {
    fmt::print(out,
               "paper: means over the rows of that table of the JRS paper, bins included; each "
               "schedule ran "
               "once\n");
  }
  print_tick_note(out, shown);
  print_memory_note(out, shown);
  if (result.interrupted) {
    fmt::print(out, "interrupted: {} of {} replications\n", result.replications.size(),
               shown.experiment.config().replications);
  }
}

}  // namespace

void print_table(std::ostream& out, const Experiment& experiment, const ReplayResult& result) {
  const Shown shown(experiment, result);
  print_setting(out, shown);
  std::vector<std::vector<std::string>> rows{head_of(shown)};
  for (std::size_t p = 0; p < experiment.policies().size(); ++p) rows.push_back(row_of(shown, p));
  fmt::print(out, "{}", aligned(std::move(rows)));
  fmt::print(out, "\n");
  if (result.replications.size() >= kFewestReplications) {
    print_winner(out, experiment, result, Metric::kIsd, true, "least slowdown");
    print_winner(out, experiment, result, Metric::kPs, false, "most packing saving");
  }
  print_footnotes(out, shown);
}

std::string decision_notes(const Experiment& experiment, const ReplayResult& result) {
  std::string text;
  std::size_t slowest = 0;
  DecisionTimes longest;
  for (std::size_t p = 0; p < experiment.policies().size(); ++p) {
    const DecisionTimes times = decision_times(result, p);
    if (times.quantile_s(0.99) > longest.quantile_s(0.99)) {
      slowest = p;
      longest = times;
    }
    if (const PlanLosses losses = plan_losses(result, p); losses.plans > 0) {
      text += fmt::format(
          "plans of {}: proven to lose {:.3g} % at most, {:.3g} % on average, against the full "
          "matching\n",
          experiment.policies()[p].label, 100 * losses.worst,
          100 * losses.sum / static_cast<double>(losses.plans));
    }
  }
  if (longest.passes() > 0) {
    text += fmt::format("decisions: slowest is {}: {}\n", experiment.policies()[slowest].label,
                        text_of(longest));
  }
  return text;
}

}  // namespace corun
