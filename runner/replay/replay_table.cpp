#include "runner/replay/replay_table.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "runner/experiment/real_runs.hpp"
#include "runner/replay/elastic_output.hpp"
#include "runner/replay/left_out_table.hpp"
#include "runner/replay/replay_columns.hpp"
#include "runner/replay/service_output.hpp"
#include "support/statistics/metric_choice.hpp"
#include "support/time_unit.hpp"
#include "traces/trace_statistics.hpp"

namespace corun::inline runner {

namespace {

/// Share of co-run time with any source of cost: 0 without co-runs.
double shared(const Coverage& c) { return c.measured + c.modelled + c.extrapolated; }

/// "JCT p99" of jct_p99_s: columns of times may have another unit.
std::string shown_name(Metric metric) {
  std::string name(metric_info(metric).name);
  if (metric_info(metric).unit == "s" && name.ends_with("_s")) name.resize(name.size() - 2);
  constexpr std::string_view kAcronyms[] = {"isd", "ps", "jct", "gpu", "oom"};
  for (std::size_t from = 0; from < name.size();) {
    const std::size_t to = std::min(name.find('_', from), name.size());
    const auto word = name.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = name.begin() + static_cast<std::ptrdiff_t>(to);
    if (std::ranges::find(kAcronyms, std::string_view(word, end)) != std::end(kAcronyms)) {
      std::transform(word, end, word, [](char c) { return static_cast<char>(c - 'a' + 'A'); });
    }
    if (to < name.size()) name[to] = ' ';
    from = to + 1;
  }
  return name;
}

/// The experiment and result, with the facts that determine columns and footnotes.
struct Shown {
  Shown(const Experiment& the_experiment, const ReplayResult& the_result,
        const ReplayView& the_view)
      : experiment(the_experiment), result(the_result), view(the_view) {
    failed.resize(policies().size());
    for (const FailedRun& run : failed_runs(result)) failed[run.policy].push_back(run);
    if (!result.replications.empty()) {
      jobs = static_cast<std::size_t>(
          std::ranges::count_if(result.replications.front().trace->jobs,
                                [](const TraceJob& job) { return !job.spec.is_replica(); }));
    }
    shares = std::ranges::any_of(result.coverage_by_policy,
                                 [](const Coverage& c) { return shared(c) > 0; });
    const auto costs = [](const MetricIntervals& m) {
      constexpr double kRounding = 1e-9;  // of preempted runs, whose parts are whole nanoseconds
      const auto known = [](const Interval& i) { return std::abs(i.mean) > kRounding; };
      return known(interval_of(m, Metric::kIsd)) || known(interval_of(m, Metric::kPs));
    };
    const bool usual = view.metrics.empty();
    sharing_table = usual && (shares || std::ranges::any_of(result.comparison.policies, costs));
    if (!usual) {
      intervals = view.metrics;
    } else {
      intervals = {Metric::kJctS};
      if (sharing_table) intervals.insert(intervals.end(), {Metric::kIsd, Metric::kPs});
    }
  }

  const std::vector<PolicyInstance>& policies() const { return experiment.policies(); }
  const MetricIntervals& metrics(std::size_t policy) const {
    return result.comparison.policies[policy];
  }

  const Experiment& experiment;
  const ReplayResult& result;
  const ReplayView& view;
  std::size_t jobs = 0;
  std::vector<std::vector<FailedRun>> failed;  ///< by policy
  bool shares = false;                         ///< under some policy jobs shared a GPU
  bool sharing_table = false;                  ///< there is a table of ISD and PS
  std::vector<Metric> intervals;               ///< metrics that are shown with intervals
};

/// A policy that never shares has slowdown 0 and saves nothing: these metrics do not judge it.
bool judges_sharing(Metric metric) {
  return metric == Metric::kIsd || metric == Metric::kIsdMax || metric == Metric::kPs ||
         metric == Metric::kPsTotal;
}

/// Names the best policy and those not significantly different; `text` such as "least JCT".
void print_winner(std::ostream& out, const Shown& shown, Metric metric, const std::string& text) {
  const auto& policies = shown.policies();
  const auto usable = [&](std::size_t p) {
    return !policies[p].granted_truth && shown.failed[p].empty() &&
           !std::isnan(interval_of(shown.metrics(p), metric).mean) &&
           (!judges_sharing(metric) || shared(shown.result.coverage_by_policy[p]) > 0);
  };
  std::optional<std::size_t> best;
  std::string left_out;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    if (!usable(p)) {
      left_out += (left_out.empty() ? "" : ", ") + policies[p].label;
      continue;
    }
    const auto mean_of = [&](std::size_t policy) {
      return interval_of(shown.metrics(policy), metric).mean;
    };
    const bool better = !best || (judged(metric).smaller_is_better ? mean_of(p) < mean_of(*best)
                                                                   : mean_of(p) > mean_of(*best));
    if (better) best = p;
  }
  if (!best) return;
  std::string ties;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    if (p == *best || !usable(p)) continue;
    const Interval& d = interval_of(shown.result.comparison.versus[p][*best], metric);
    if (!d.excludes_zero()) ties += (ties.empty() ? "" : ", ") + policies[p].label;
  }
  const double given_up = interval_of(shown.metrics(*best), Metric::kFailed).mean;
  fmt::print(
      out, "{}{}: {}{}{}\n", text, left_out.empty() ? "" : " (without " + left_out + ")",
      policies[*best].label,
      given_up > 0 ? fmt::format(" ^ (gave up {:.4g} of {} jobs)", given_up, shown.jobs) : "",
      ties.empty() ? "" : "; not significantly different (95 %): " + ties);
}

/// When the jobs of a file come, how long they run, and the load: mistakes in units show here.
void print_load(std::ostream& out, const Shown& shown) {
  if (shown.result.replications.empty()) return;
  const Trace& trace = *shown.result.replications.front().trace;
  const auto is_replica = [](const TraceJob& job) { return job.spec.is_replica(); };
  Trace without_replicas;
  if (std::ranges::any_of(trace.jobs, is_replica)) {
    without_replicas = without_jobs(trace);
    std::ranges::remove_copy_if(trace.jobs, std::back_inserter(without_replicas.jobs), is_replica);
  }
  const TraceStatistics jobs =
      trace_statistics(without_replicas.jobs.empty() ? trace : without_replicas);
  const auto text = [](double seconds) {
    const TimeUnit unit = time_unit(seconds);
    return fmt::format("{:.3g} {}", seconds / unit.seconds, unit.name);
  };
  const std::optional<double> load = offered_load(jobs, shown.experiment.reference_gpus());
  fmt::print(out, "jobs submitted {}, run time alone {} on average{}\n",
             load ? "over " + text(jobs.last_submit_s - jobs.first_submit_s) : "at once",
             text(jobs.mean_work_s), load ? fmt::format(", offered load {:.2f}", *load) : "");
}

/// "4 x V100-16GB, 2 x T4": the GPUs of the cluster; of a node list with many types, the number of all.
std::string machines_text(const ClusterSpec& cluster) {
  constexpr std::size_t kCounted = 4;
  const std::vector<std::string> models = cluster.models();
  if (models.size() > kCounted) {
    return fmt::format("{} x {}", cluster.gpu_count(), fmt::join(models, ", "));
  }
  std::vector<int> gpus(models.size(), 0);
  for (const NodeSpec& node : cluster.nodes) gpus[node.gpu.id] += node.gpus;
  std::string text;
  for (std::size_t t = 0; t < models.size(); ++t) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", gpus[t], models[t]);
  }
  return text;
}

void print_setting(std::ostream& out, const Shown& shown) {
  const Experiment& experiment = shown.experiment;
  const Config& config = experiment.config();
  fmt::print(out, "{}: {} job{} on {} ({}), {} start; world {}{}{}; belief {} from {}\n",
             workload_name(config), shown.jobs, shown.jobs == 1 ? "" : "s",
             machines_text(experiment.cluster()), name_of(config.cluster.sharing),
             name_of(config.control.start), config.world.model.text(),
             config.world.model == WorldKind::kMeasured
                 ? fmt::format(" (else {})", config.world.fallback.text())
                 : "",
             config.world.noise ? "" : ", no noise", config.belief.model.text(),
             config.belief.initial);
  if (config.workload.path) print_load(out, shown);
  if (const Note* run_times = find_note(experiment.notes(), NoteCode::kRunTimes)) {
    fmt::print(out, "{}\n", run_times->text);
  }
  if (config.probing.probes > 0) {
    fmt::print(out, "policies that learn from probes: up to {} probe{} of {:g} s per job{}\n",
               config.probing.probes, config.probing.probes == 1 ? "" : "s", config.probing.seconds,
               config.probing.keeps_progress ? ", progress kept" : "");
  }
  const std::size_t n = shown.result.replications.size();
  fmt::print(out, "{} replication{}{}, seed {}{}{}\n\n", n, n == 1 ? "" : "s",
             n < kFewestReplications ? ": no intervals" : "", config.seed,
             n < kFewestReplications ? "" : "; [95 % intervals]",
             shown.view.baseline ? fmt::format("; vs. {}: paired difference",
                                               shown.policies()[*shown.view.baseline].label)
                                 : "");
}

/// Means and, with a baseline, differences of a metric.
void add_metric(std::vector<ReplayColumn>& columns, const Shown& shown, Metric metric,
                const std::string& name) {
  columns.push_back(mean_column(shown.result, shown.view, metric, name, true));
  if (!shown.view.baseline) return;
  columns.push_back(difference_column(shown.experiment, shown.result, shown.view, metric));
}

std::vector<ReplayColumn> chosen_columns(const Shown& shown) {
  std::vector<ReplayColumn> columns;
  for (const Metric metric : shown.view.metrics) {
    add_metric(columns, shown, metric, shown_name(metric));
  }
  return columns;
}

std::vector<ReplayColumn> times_columns(const Shown& shown) {
  std::vector<ReplayColumn> columns;
  add_metric(columns, shown, Metric::kJctS, "JCT");
  const auto add = [&](Metric metric, const char* name) {
    columns.push_back(mean_column(shown.result, shown.view, metric, name, false));
  };
  add(Metric::kJctP50S, "p50");
  add(Metric::kJctP95S, "p95");
  add(Metric::kJctP99S, "p99");
  add(Metric::kQueueS, "queueing delay");
  add(Metric::kMakespanS, "makespan");
  const auto known = [](const MetricIntervals& m) {
    return !std::isnan(interval_of(m, Metric::kGpuUtil).mean);
  };
  if (std::ranges::any_of(shown.result.comparison.policies, known)) {
    add(Metric::kGpuUtil, "GPU util");
  }
  return columns;
}

std::vector<ReplayColumn> sharing_columns(const Shown& shown) {
  std::vector<ReplayColumn> columns;
  add_metric(columns, shown, Metric::kIsd, "ISD");
  if (shown.result.coverage.solo)
    add_metric(columns, shown, Metric::kIsdReference, "ISD vs. reference");
  add_metric(columns, shown, Metric::kPs, "PS");
  ReplayColumn measured{"measured %", {}};
  ReplayColumn published{"published", {}};
  for (std::size_t p = 0; p < shown.policies().size(); ++p) {
    const Coverage& coverage = shown.result.coverage_by_policy[p];
    measured.cells.push_back(shared(coverage) > 0 ? fmt::format("{:.0f}", coverage.measured * 100)
                                                  : "-");
    published.cells.push_back(shown.policies()[p].config.published.value_or(""));
  }
  if (shown.shares) columns.push_back(std::move(measured));
  const auto is_given = [](const std::string& cell) { return !cell.empty(); };
  if (std::ranges::any_of(published.cells, is_given)) columns.push_back(std::move(published));
  return columns;
}

void print_tables(std::ostream& out, const Shown& shown) {
  const auto print = [&](const std::vector<ReplayColumn>& columns) {
    fmt::print(out, "{}\n", table_of(shown.experiment, shown.result, columns));
  };
  if (!shown.view.metrics.empty()) {
    print(chosen_columns(shown));
    return;
  }
  print(times_columns(shown));
  if (shown.sharing_table) print(sharing_columns(shown));
}

void print_winners(std::ostream& out, const Shown& shown) {
  if (shown.policies().size() < 2 || shown.result.replications.size() < kFewestReplications) return;
  if (shown.view.metrics.empty()) {
    print_winner(out, shown, Metric::kJctS, "least JCT");
    print_winner(out, shown, Metric::kIsd, "least slowdown");
    print_winner(out, shown, Metric::kPs, "most packing saving");
  }
  for (const Metric metric : shown.view.metrics) {
    if (!judged(metric).has_better) continue;
    print_winner(out, shown, metric,
                 (judged(metric).smaller_is_better ? "least " : "most ") + shown_name(metric));
  }
}

void print_memory_note(std::ostream& out, const Shown& shown) {
  const auto& policies = shown.policies();
  double jobs_given_up = 0;
  std::string given_up_under;
  bool oom = false;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    oom |= interval_of(shown.metrics(p), Metric::kOom).mean > 0;
    if (const double failed = interval_of(shown.metrics(p), Metric::kFailed).mean; failed > 0) {
      given_up_under += (given_up_under.empty() ? "" : ", ") + policies[p].label;
      jobs_given_up = std::max(jobs_given_up, failed);
    }
  }
  if (!given_up_under.empty()) {
    fmt::print(
        out,
        "^ up to {:.4g} of {} jobs were given up, out of memory once too often, under {}: times "
        "and slowdowns are of the others\n",
        jobs_given_up, shown.jobs, given_up_under);
  } else if (oom) {
    fmt::print(out,
               "some runs ended out of memory and were repeated: see `oom` in --format json\n");
  }
}

/// Whether two policies have equal figures, to the last bit, in all replications.
bool are_equal(const ReplayResult& result, std::size_t p, std::size_t q) {
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  return std::ranges::all_of(result.replications, [&](const Replication& r) {
    return std::ranges::equal(r.runs[p].metrics, r.runs[q].metrics, same);
  });
}

/// Names the policies whose figures are equal in every digit, and why.
void print_equals(std::ostream& out, const Shown& shown) {
  const std::size_t policies = shown.policies().size();
  if (shown.result.replications.empty()) return;
  std::vector<bool> told(policies, false);
  for (std::size_t p = 0; p < policies; ++p) {
    if (told[p] || !shown.failed[p].empty()) continue;
    std::string equal;
    for (std::size_t q = p + 1; q < policies; ++q) {
      if (told[q] || !shown.failed[q].empty() || !are_equal(shown.result, p, q)) continue;
      told[q] = true;
      equal += ", " + shown.policies()[q].label;
    }
    if (equal.empty()) continue;
    const bool waits = interval_of(shown.metrics(p), Metric::kQueueS).mean > 0;
    fmt::print(out, "equal in every digit: {}{}: {}\n", shown.policies()[p].label, equal,
               waits ? "they made the same decisions in all replications"
                     : "no job waited, so that no decision differed");
  }
}

/// Names the policies that broke a rule.
void print_failures(std::ostream& out, const Shown& shown) {
  for (std::size_t p = 0; p < shown.failed.size(); ++p) {
    const std::vector<FailedRun>& runs = shown.failed[p];
    if (runs.empty()) continue;
    fmt::print(out,
               "! {} failed in {} of {} replications, which its figures lack; replication {}: {}\n",
               shown.policies()[p].label, runs.size(), shown.result.replications.size(),
               runs.front().replication, runs.front().reason);
  }
}

/// Whether any mean of the tables that may have an interval meets the condition.
bool any_mean(const Shown& shown, bool (*condition)(const Interval&)) {
  const auto meets = [&](const MetricIntervals& m) {
    return std::ranges::any_of(shown.intervals,
                               [&](Metric metric) { return condition(interval_of(m, metric)); });
  };
  for (std::size_t p = 0; p < shown.policies().size(); ++p) {
    if (meets(shown.metrics(p))) return true;
    const auto& baseline = shown.view.baseline;
    if (baseline && meets(shown.result.comparison.versus[p][*baseline])) return true;
  }
  return false;
}

/// The meaning of each column.
void print_meanings(std::ostream& out, const Shown& shown) {
  for (const Metric metric : shown.view.metrics) {
    fmt::print(out, "{}: {}{}\n", shown_name(metric), metric_info(metric).description,
               !judged(metric).has_better         ? ""
               : judged(metric).smaller_is_better ? "; less is better"
                                                  : "; more is better");
  }
  if (!shown.view.metrics.empty()) return;
  fmt::print(out,
             "JCT: mean time from submission to finish, with its percentiles; queueing delay: from "
             "submission to first start; less is better\n");
  if (shown.sharing_table) {
    fmt::print(out,
               "ISD: extra time on the GPU against running alone, less is better; PS: GPU time "
               "saved against running one after another, more is better\n");
  } else {
    fmt::print(out, "no job shared a GPU: there is no slowdown and no packing saving\n");
  }
}

/// Names the policies under which no job shared, and clock ticks alone made a slowdown.
void print_tick_note(std::ostream& out, const Shown& shown) {
  if (!shown.experiment.config().control.tick_s) return;
  std::string names;
  for (std::size_t p = 0; p < shown.policies().size(); ++p) {
    const bool alone = shared(shown.result.coverage_by_policy[p]) == 0;
    if (!alone || !(interval_of(shown.metrics(p), Metric::kIsd).mean > 0)) continue;
    names += (names.empty() ? "" : ", ") + shown.policies()[p].label;
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
  print_meanings(out, shown);
  const Coverage& c = result.coverage;
  if (shared(c) > 0) {
    fmt::print(out,
               "co-run time whose cost was measured {:.1f} %, modelled {:.1f} %, extrapolated "
               "{:.1f} %\n",
               c.measured * 100, c.modelled * 100, c.extrapolated * 100);
  }
  if (c.solo) {
    const auto share = [&](SoloSource source) {
      return 100 * (*c.solo)[static_cast<std::size_t>(source)];
    };
    fmt::print(out,
               "time on GPUs by solo speed there: reference {:.1f} %, measured {:.1f} %, predicted "
               "{:.1f} %, scaled {:.1f} %, assumed {:.1f} %\n",
               share(SoloSource::kReference), share(SoloSource::kMeasured),
               share(SoloSource::kPredicted), share(SoloSource::kScaled),
               share(SoloSource::kAssumed));
  }
  if (std::ranges::any_of(shown.policies(), &PolicyInstance::granted_truth)) {
    fmt::print(
        out,
        "* knows the true expected co-run costs: an upper bound for beliefs with its objective\n");
  }
  if (any_mean(shown, [](const Interval& i) { return i.is_point(); })) {
    const bool all = std::ranges::all_of(shown.result.comparison.policies, [](const auto& m) {
      return interval_of(m, Metric::kJctS).is_point();
    });
    fmt::print(
        out, "no interval: all replications gave the same value{}\n",
        all ? "; workload.order: shuffled or estimates.duration: lognormal would vary them" : "");
  }
  const std::vector<Metric>& asked = shown.view.metrics;
  const std::string varies =
      text_of(shown.view.variations, shown_name(asked.empty() ? Metric::kJctS : asked.front()));
  if (!varies.empty()) fmt::print(out, "{}\n", varies);
  if (any_mean(shown, [](const Interval& i) { return i.approximate && !i.is_point(); })) {
    fmt::print(
        out,
        "~ approximate interval: the values are few or skewed (experiments/intervals/README.md)\n");
  }
  print_equals(out, shown);
  print_failures(out, shown);
  print_tick_note(out, shown);
  print_memory_note(out, shown);
  fmt::print(out, "{}\n", real_runs_text(shown.policies(), shown.experiment.cluster()));
  if (result.interrupted) {
    fmt::print(out, "interrupted: {} of {} replications\n", result.replications.size(),
               shown.experiment.config().replications);
  }
}

}  // namespace

void print_table(std::ostream& out, const Experiment& experiment, const ReplayResult& result,
                 const ReplayView& view) {
  const Shown shown(experiment, result, view);
  print_setting(out, shown);
  print_tables(out, shown);
  print_winners(out, shown);
  out << services_table(experiment.policies(), result);
  out << elastic_table(experiment.policies(), result);
  print_footnotes(out, shown);
  out << left_out_table(experiment.left_out());
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

}  // namespace corun::inline runner
