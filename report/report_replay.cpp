#include "report/report_replay.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/report_groups.hpp"
#include "report/report_services.hpp"
#include "report/report_sharing.hpp"
#include "report/report_timeline.hpp"
#include "sim/base/nan.hpp"

namespace corun::inline report {

namespace {

using hdf5::RowRange;
using hdf5::TableReader;

/// Runs by policy and replication in a table, and what all parts of the report use of it.
struct Replay {
  const ReportSource& source;
  const ReportLimits& limits;
  TableReader runs_table;
  std::size_t policies = 0;
  std::vector<RunRows> runs;
  std::vector<std::string>& reductions;
};

Json coverage_json(double measured, double modelled, double extrapolated) {
  return {{"measured", short_json(measured)},
          {"modelled", short_json(modelled)},
          {"extrapolated", short_json(extrapolated)}};
}

void add_policies(const ReportSource& source, Json& out) {
  const TableReader table(source.file(), "policies");
  const RowRange all{0, table.rows()};
  const auto labels = table.texts("label");
  const auto names = table.texts("name");
  const auto parameters = table.texts("parameters");
  const auto bounds = table.flags("granted_truth", all);
  out["policies"] = Json::array();
  for (std::size_t p = 0; p < table.rows(); ++p) {
    out["policies"].push_back({{"label", labels[p]},
                               {"name", names[p]},
                               {"description", policy_description(names[p])},
                               {"parameters", parameters[p]},
                               {"bound", bounds[p] != 0},
                               {"shares", false},
                               {"coverage", nullptr}});
  }
}

void add_coverage(const ReportSource& source, Json& out) {
  const TableReader table(source.file(), "coverage");
  const auto policy = table.integers("policy");
  const auto measured = table.reals("measured");
  const auto modelled = table.reals("modelled");
  const auto extrapolated = table.reals("extrapolated");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    out["policies"][source.index(policy[row], out["policies"].size())]["coverage"] =
        coverage_json(measured[row], modelled[row], extrapolated[row]);
  }
  const auto total = [&](const char* name) { return hdf5::read_real_attribute(table.id(), name); };
  out["coverage"] =
      coverage_json(total("all_measured"), total("all_modelled"), total("all_extrapolated"));
}

/// A policy shares GPUs if two jobs or more were in an episode.
void add_shares(const Replay& replay, Json& out) {
  const TableReader table(replay.source.file(), "episodes");
  for (const RunRows& run : replay.source.runs(table, replay.policies)) {
    Json& shares = out["policies"][run.policy]["shares"];
    if (shares.get<bool>()) continue;
    const auto jobs = table.integers("jobs", run.rows);
    const auto unfinished = table.integers("unfinished", run.rows);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i] + unfinished[i] > 1) shares = true;
    }
  }
}

void add_usage(const Replay& replay, Json& out) {
  const TableReader table(replay.source.file(), "usage");
  std::int64_t unknown = 0;
  for (const std::int64_t jobs : table.integers("unknown_memory_jobs")) {
    unknown = std::max(unknown, jobs);
  }
  out["unknown_memory_jobs"] = unknown;
  out["solo"] = solo_json(table);
}

Json interval(double mean, double lo, double hi) {
  return Json::array({short_json(mean), short_json(lo), short_json(hi)});
}

void add_intervals(const Replay& replay, Json& out) {
  const ReportSource& source = replay.source;
  const std::size_t n = replay.policies;
  const Json empty = Json::array({Json(nullptr), Json(nullptr), Json(nullptr)});
  const Json row(Json::array_t(kMetricCount, empty));
  out["summary"] = Json(Json::array_t(n, row));
  const TableReader summary(source.file(), "summary");
  if (summary.rows() == 0) {
    throw InputError(source.path(),
                     "is a part of a run that did not end: it has no summary; run it again, or "
                     "report the whole file");
  }
  const auto fill = [&](const TableReader& table, const auto& cell) {
    const auto metric = table.texts("metric");
    const auto policy = table.integers("policy");
    const auto mean = table.reals("mean");
    const auto lo = table.reals("lo");
    const auto hi = table.reals("hi");
    for (std::size_t i = 0; i < table.rows(); ++i) {
      const auto m = static_cast<std::size_t>(metric_of(source, metric[i]));
      cell(i, source.index(policy[i], n))[m] = interval(mean[i], lo[i], hi[i]);
    }
  };
  fill(summary, [&](std::size_t, std::size_t p) -> Json& { return out["summary"][p]; });

  const TableReader versus(source.file(), "versus");
  const auto other = versus.integers("other");
  out["versus"] = Json(Json::array_t(n, Json(Json::array_t(n, row))));
  fill(versus, [&](std::size_t i, std::size_t p) -> Json& {
    return out["versus"][p][source.index(other[i], n)];
  });
}

void add_replicated(const Replay& replay, Json& out) {
  const TableReader table(replay.source.file(), "metrics");
  constexpr std::size_t kMost = 400;
  out["replicated"] = {{"isd", Json::array_t(replay.policies, Json::array())},
                       {"ps", Json::array_t(replay.policies, Json::array())}};
  const auto policy = table.integers("policy");
  const auto isd = table.reals("isd");
  const auto ps = table.reals("ps");
  bool cut = false;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const std::size_t p = replay.source.index(policy[i], replay.policies);
    if (out["replicated"]["isd"][p].size() == kMost) {
      cut = true;
      continue;
    }
    out["replicated"]["isd"][p].push_back(short_json(isd[i]));
    out["replicated"]["ps"][p].push_back(short_json(ps[i]));
  }
  if (cut) {
    replay.reductions.push_back(
        fmt::format("Slowdown against saving has dots for the first {} replications.", kMost));
  }
}

/// The distribution of values as at most `most` points, with more of them in the upper tail.
Json curve_json(std::vector<double>& values, std::size_t most) {
  std::erase_if(values, [](double x) { return std::isnan(x); });
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  std::vector<std::size_t> ranks;
  if (n <= most) {
    for (std::size_t i = 0; i < n; ++i) ranks.push_back(i);
  } else {
    const std::size_t body = most * 4 / 5;
    for (std::size_t k = 0; k < body; ++k) ranks.push_back(k * (n - 1) / (body - 1) * 98 / 100);
    // From the 98th percentile to the largest value, ever closer.
    for (std::size_t k = 0; k <= most - body; ++k) {
      const double left =
          0.02 * std::pow(1e-4, static_cast<double>(k) / static_cast<double>(most - body));
      ranks.push_back(n - 1 - static_cast<std::size_t>(left * static_cast<double>(n - 1)));
    }
    ranks.push_back(n - 1);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  }
  Json x = Json::array();
  Json y = Json::array();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    // Of equal values the last counts.
    if (i + 1 < ranks.size() && values[ranks[i + 1]] == values[ranks[i]]) continue;
    x.push_back(short_json(values[ranks[i]]));
    y.push_back(short_json(static_cast<double>(ranks[i] + 1) / static_cast<double>(n)));
  }
  return {{"n", n}, {"x", std::move(x)}, {"y", std::move(y)}};
}

void add_curves(const Replay& replay, Json& out) {
  std::size_t largest = 0;
  for (const char* column : {"jct_s", "queue_s", "isd"}) {
    Json curves(Json::array_t(replay.policies, Json(nullptr)));
    std::size_t at = 0;
    for (std::size_t p = 0; p < replay.policies; ++p) {
      std::vector<double> values;
      for (; at < replay.runs.size() && replay.runs[at].policy == p; ++at) {
        const auto part = replay.runs_table.reals(column, replay.runs[at].rows);
        values.insert(values.end(), part.begin(), part.end());
      }
      curves[p] = curve_json(values, replay.limits.curve_points);
      largest = std::max(largest, values.size());
    }
    out["curves"][column] = std::move(curves);
  }
  if (largest > replay.limits.curve_points) {
    replay.reductions.push_back(fmt::format(
        "A distribution of up to {} jobs has {} points at most, the largest value among them.",
        largest, replay.limits.curve_points + 2));
  }
}

void add_over_time(const Replay& replay, Json& out) {
  out["over_time"] = nullptr;
  if (!replay.source.has("over_time")) return;
  const TableReader table(replay.source.file(), "over_time");
  if (table.rows() == 0) return;
  constexpr std::array<std::pair<const char*, const char*>, 5> kColumns{{{"busy", "gpus_busy"},
                                                                         {"shared", "gpus_shared"},
                                                                         {"util", "gpu_util"},
                                                                         {"queue", "queue"},
                                                                         {"running", "running"}}};
  Json by_policy(Json::array_t(replay.policies, Json(nullptr)));
  for (const RunRows& run : replay.source.runs(table, replay.policies)) {
    if (run.replication != 0) continue;
    Json one;
    one["start"] = short_json(table.reals("start_s", run.rows).front());
    one["end"] = short_json(table.reals("end_s", run.rows));
    for (const auto& [key, column] : kColumns) one[key] = short_json(table.reals(column, run.rows));
    by_policy[run.policy] = std::move(one);
  }
  out["over_time"] = std::move(by_policy);
}

/// What was predicted before a live run, and each job's figures beside it.
void add_live(const Replay& replay, Json& out) {
  out["live"] = nullptr;
  const ReportSource& source = replay.source;
  if (!source.has("predicted") || !source.has("predicted_runs")) return;
  const TableReader predicted(source.file(), "predicted");
  Json metrics(Json::array_t(replay.policies, Json(nullptr)));
  const auto policy = predicted.integers("policy");
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    const std::string name(metric_info(static_cast<Metric>(m)).name);
    const auto values = predicted.reals(name);
    for (std::size_t i = 0; i < predicted.rows(); ++i) {
      Json& row = metrics[source.index(policy[i], replay.policies)];
      if (row.is_null()) row = Json::array();
      row.push_back(short_json(values[i]));
    }
  }
  struct Figures {
    double isd = kNaN;
    double jct_s = kNaN;
  };
  std::map<std::pair<std::size_t, std::int64_t>, Figures> expected;
  const TableReader table(source.file(), "predicted_runs");
  for (const RunRows& run : source.runs(table, replay.policies)) {
    const auto job = table.integers("job_index", run.rows);
    const auto isd = table.reals("isd", run.rows);
    const auto jct = table.reals("jct_s", run.rows);
    for (std::size_t i = 0; i < job.size(); ++i) expected[{run.policy, job[i]}] = {isd[i], jct[i]};
  }
  Json jobs(Json::array_t(replay.policies, Json(nullptr)));
  for (const RunRows& run : replay.runs) {
    const auto job = replay.runs_table.integers("job_index", run.rows);
    const auto name = replay.runs_table.texts("job", run.rows);
    const auto isd = replay.runs_table.reals("isd", run.rows);
    const auto jct = replay.runs_table.reals("jct_s", run.rows);
    Json one{{"job", Json::array()}, {"isd", Json::array()}, {"jct_s", Json::array()}};
    constexpr std::size_t kMost = 2000;
    for (std::size_t i = 0; i < std::min(job.size(), kMost); ++i) {
      const auto found = expected.find({run.policy, job[i]});
      const Figures then = found == expected.end() ? Figures{} : found->second;
      one["job"].push_back(short_name(name[i]));
      one["isd"].push_back(Json::array({short_json(isd[i]), short_json(then.isd)}));
      one["jct_s"].push_back(Json::array({short_json(jct[i]), short_json(then.jct_s)}));
    }
    if (job.size() > kMost) {
      replay.reductions.push_back(
          fmt::format("Measured beside predicted has the first {} of {} jobs.", kMost, job.size()));
    }
    jobs[run.policy] = std::move(one);
  }
  out["live"] = {{"predicted", std::move(metrics)}, {"jobs", std::move(jobs)}};
}

}  // namespace

void add_replay(const ReportSource& source, const ReportLimits& limits, Json& out) {
  std::vector<std::string> reductions;
  add_policies(source, out);
  Replay replay{source, limits,    TableReader(source.file(), "runs"), out["policies"].size(),
                {},     reductions};
  if (replay.policies == 0) throw source.damaged();
  replay.runs = source.runs(replay.runs_table, replay.policies);
  add_coverage(source, out);
  add_shares(replay, out);
  add_usage(replay, out);
  out["jobs"] = replay.runs.empty() ? 0 : replay.runs.front().rows.count;
  add_intervals(replay, out);
  add_replicated(replay, out);
  add_curves(replay, out);
  add_over_time(replay, out);
  add_live(replay, out);
  const ReportRuns shared{source, limits, replay.runs_table, replay.runs, replay.policies};
  add_groups(shared, out, reductions);
  add_services(shared, out, reductions);
  add_sharing(shared, out, reductions);
  add_timeline(shared, out, reductions);
  out["reductions"] = reductions;
}

}  // namespace corun::inline report
