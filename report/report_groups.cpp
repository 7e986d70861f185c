#include "report/report_groups.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "results/result_columns.hpp"
#include "runner/replay/job_groups.hpp"
#include "sim/base/nan.hpp"
#include "sim/base/summary.hpp"

namespace corun::inline report {

namespace {

using hdf5::TableReader;

/// Groups of a grouping that a report lists; of a column those with the most work.
constexpr std::size_t kMostGroups = 20;

/// The jobs of a replication, the same under all policies.
struct JobsOf {
  std::vector<std::int64_t> gpus;
  std::vector<double> work_s;
};

/// Jobs in groups: names in the order of the report, and the group of each job of each replication.
struct Grouping {
  std::string by;
  std::string kind;  ///< gpus, length, column
  std::vector<std::string> names;
  std::vector<std::vector<std::size_t>> of;  ///< by replication, then job

  std::size_t group(std::size_t replication, std::size_t job) const { return of[replication][job]; }
};

Grouping by_gang(const std::vector<JobsOf>& replications) {
  std::map<std::int64_t, std::size_t> sizes;
  for (const JobsOf& jobs : replications) {
    for (const std::int64_t gpus : jobs.gpus) sizes[gpus] = 0;
  }
  Grouping grouping{"gpus", "gpus", {}, {}};
  for (auto& [gpus, place] : sizes) {
    place = grouping.names.size();
    grouping.names.push_back(fmt::format("{} GPU{}", gpus, gpus == 1 ? "" : "s"));
  }
  for (const JobsOf& jobs : replications) {
    std::vector<std::size_t>& of = grouping.of.emplace_back();
    for (const std::int64_t gpus : jobs.gpus) of.push_back(sizes.at(gpus));
  }
  return grouping;
}

/// Quarters of each replication; the names have the run times of the first.
Grouping by_length(const std::vector<JobsOf>& replications) {
  Grouping grouping{"length", "length", quarters_by_length(replications.front().work_s).names, {}};
  for (const JobsOf& jobs : replications) {
    grouping.of.push_back(quarters_by_length(jobs.work_s).of);
    // A replication with more jobs than the first may have more quarters.
    for (std::size_t& group : grouping.of.back()) {
      group = std::min(group, grouping.names.size() - 1);
    }
  }
  return grouping;
}

/// Of a column of the log. No names if its texts tell nothing: one for all, or hardly two jobs with the same.
Grouping by_column(const TableReader& table, const std::string& column,
                   const std::vector<RunRows>& rows, const std::vector<JobsOf>& replications) {
  Grouping grouping{column, "column", {}, {}};
  std::map<std::string, std::size_t> place;
  std::vector<double> work;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::size_t>& of = grouping.of.emplace_back();
    const std::vector<std::string> texts = table.texts(column, rows[r].rows);
    for (std::size_t j = 0; j < texts.size(); ++j) {
      const auto [at, fresh] = place.emplace(texts[j], place.size());
      if (fresh) work.push_back(0);
      if (r == 0) {
        work[at->second] +=
            static_cast<double>(replications[0].gpus[j]) * replications[0].work_s[j];
      }
      of.push_back(at->second);
    }
  }
  const std::size_t jobs = rows.front().rows.count;
  if (place.size() < 2 || (place.size() > kMostGroups && 2 * place.size() > jobs) ||
      place.size() >= jobs) {
    return grouping;
  }
  // The groups with the most work first.
  std::vector<std::string> texts(place.size());
  for (const auto& [text, at] : place) texts[at] = text;
  std::vector<std::size_t> order(place.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t t) { return work[t]; });
  std::vector<std::size_t> rank(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = i;
    const std::string& text = texts[order[i]];
    grouping.names.push_back(text.empty() ? "(empty)" : short_name(text));
  }
  for (std::vector<std::size_t>& of : grouping.of) {
    for (std::size_t& group : of) group = rank[group];
  }
  return grouping;
}

/// Sums of a grouping over policies and replications.
class GroupSums {
 public:
  GroupSums(Grouping grouping, std::size_t policies, const JobsOf& first)
      : grouping_(std::move(grouping)),
        jobs_(grouping_.names.size(), 0),
        work_(grouping_.names.size(), 0),
        jct_(policies, std::vector<RunningMean>(grouping_.names.size())),
        worst_(policies, std::vector<double>(grouping_.names.size(), 0)) {
    double all = 0;
    for (std::size_t j = 0; j < first.gpus.size(); ++j) {
      const double work = static_cast<double>(first.gpus[j]) * first.work_s[j];
      ++jobs_[grouping_.group(0, j)];
      work_[grouping_.group(0, j)] += work;
      all += work;
    }
    for (double& work : work_) work = all > 0 ? work / all : 0;
  }

  void add(std::size_t policy, std::size_t replication, const std::vector<double>& jct,
           const std::vector<bool>& worst) {
    std::vector<RunningMean> means(jobs_.size());
    for (std::size_t j = 0; j < jct.size(); ++j) {
      const std::size_t group = grouping_.group(replication, j);
      means[group].add_if_known(jct[j]);
      if (worst[j]) ++worst_[policy][group];
    }
    for (std::size_t g = 0; g < means.size(); ++g) jct_[policy][g].add_if_known(means[g].value());
  }

  Json json() const {
    const std::size_t shown = std::min(jobs_.size(), kMostGroups);
    Json out{{"by", short_name(grouping_.by)},
             {"kind", grouping_.kind},
             {"left_out", jobs_.size() - shown}};
    const auto cut = [&](const auto& values, const auto& of) {
      Json list = Json::array();
      for (std::size_t g = 0; g < shown; ++g) list.push_back(of(values[g]));
      return list;
    };
    const auto as_is = [](const auto& x) { return Json(x); };
    out["names"] = cut(grouping_.names, as_is);
    out["jobs"] = cut(jobs_, as_is);
    out["work"] = cut(work_, [](double x) { return short_json(x); });
    out["jct_s"] = Json::array();
    out["worst"] = Json::array();
    for (std::size_t p = 0; p < jct_.size(); ++p) {
      const double all = std::accumulate(worst_[p].begin(), worst_[p].end(), 0.0);
      out["jct_s"].push_back(
          cut(jct_[p], [](const RunningMean& mean) { return short_json(mean.value()); }));
      out["worst"].push_back(cut(worst_[p], [&](double x) { return short_json(x / all); }));
    }
    return out;
  }

 private:
  Grouping grouping_;
  std::vector<std::size_t> jobs_;  ///< of the first replication
  std::vector<double> work_;       ///< share of the GPU time of its jobs alone
  std::vector<std::vector<RunningMean>> jct_;
  std::vector<std::vector<double>> worst_;  ///< number of jobs in the worst tenths
};

/// What preemption does under a policy, per replication.
struct Preemptions {
  RunningMean times;      ///< preemptions
  RunningMean jobs;       ///< share of the jobs that were preempted
  RunningMean lost;       ///< GPU time of these jobs beyond that of their work alone [GPU s]
  RunningMean isd;        ///< of them
  RunningMean isd_other;  ///< of the others
  std::int64_t most = 0;  ///< of a job

  void add(const TableReader& table, const RunRows& run) {
    const auto preempted = table.integers("preemptions", run.rows);
    const auto gpus = table.integers("gpus", run.rows);
    const auto corun = table.reals("corun_s", run.rows);
    const auto solo = table.reals("solo_s", run.rows);
    const auto slowdown = table.reals("isd", run.rows);
    std::array<RunningMean, 2> means;
    double sum = 0;
    double some = 0;
    double beyond = 0;
    for (std::size_t j = 0; j < preempted.size(); ++j) {
      const bool was = preempted[j] > 0;
      sum += static_cast<double>(preempted[j]);
      some += was ? 1 : 0;
      most = std::max(most, preempted[j]);
      means[was ? 0 : 1].add_if_known(slowdown[j]);
      const double more = static_cast<double>(gpus[j]) * (corun[j] - solo[j]);
      if (was && !std::isnan(more)) beyond += more;
    }
    times.add_if_known(sum);
    jobs.add_if_known(some / static_cast<double>(preempted.size()));
    lost.add_if_known(beyond);
    isd.add_if_known(means[0].value());
    isd_other.add_if_known(means[1].value());
  }

  Json json() const {
    return {{"times", short_json(times.value())},
            {"jobs", short_json(jobs.value())},
            {"most", most},
            {"lost_gpu_s", short_json(lost.value())},
            {"isd", short_json(isd.value())},
            {"isd_other", short_json(isd_other.value())}};
  }
};

/// The replications of the first policy that groups are made of: as many as the limit permits, at least one.
std::vector<RunRows> chosen_replications(const ReportRuns& runs,
                                         std::vector<std::string>& reductions) {
  std::vector<RunRows> chosen;
  std::size_t of_first = 0;
  std::size_t rows = 0;
  for (const RunRows& run : runs.runs) {
    if (run.policy != runs.runs.front().policy) break;
    ++of_first;
    rows += run.rows.count * runs.policies;
    if (chosen.empty() || rows <= runs.limits.group_rows) chosen.push_back(run);
  }
  if (chosen.size() < of_first) {
    reductions.push_back(fmt::format("Groups of jobs are of the first {} of {} replications.",
                                     chosen.size(), of_first));
  }
  return chosen;
}

}  // namespace

void add_groups(const ReportRuns& runs, Json& out, std::vector<std::string>& reductions) {
  out["groups"] = nullptr;
  out["preemptions"] = nullptr;
  const TableReader& table = runs.table;
  if (runs.runs.empty() || runs.runs.front().rows.count == 0) return;
  const std::vector<RunRows> chosen = chosen_replications(runs, reductions);
  std::map<std::size_t, std::size_t> place;  // of a replication among the chosen ones
  std::vector<JobsOf> jobs;
  for (const RunRows& run : chosen) {
    place.emplace(run.replication, place.size());
    jobs.push_back({table.integers("gpus", run.rows), table.reals("work_s", run.rows)});
  }
  std::vector<GroupSums> sums;
  const auto add = [&](Grouping grouping) {
    if (grouping.names.size() < 2) return;
    sums.emplace_back(std::move(grouping), runs.policies, jobs.front());
  };
  add(by_gang(jobs));
  add(by_length(jobs));
  for (const std::string& column : table.columns()) {
    if (table.description(column) != kCarriedDescription) continue;
    add(by_column(table, column, chosen, jobs));
  }
  const bool counted = table.has_column("preemptions");
  std::vector<Preemptions> preemptions(runs.policies);
  std::vector<std::array<RunningMean, 2>> tenths(runs.policies);  // the worst, the others
  for (const RunRows& run : runs.runs) {
    const auto at = place.find(run.replication);
    if (at == place.end()) continue;
    if (run.rows.count != jobs[at->second].gpus.size()) throw runs.source.damaged();
    const std::vector<double> jct = table.reals("jct_s", run.rows);
    const std::vector<bool> worst = worst_tenth(jct);
    for (GroupSums& grouping : sums) grouping.add(run.policy, at->second, jct, worst);
    std::array<RunningMean, 2> means;
    for (std::size_t j = 0; j < jct.size(); ++j) means[worst[j] ? 0 : 1].add_if_known(jct[j]);
    for (std::size_t k = 0; k < 2; ++k) tenths[run.policy][k].add_if_known(means[k].value());
    if (counted) preemptions[run.policy].add(table, run);
  }
  Json groups{{"sets", Json::array()}, {"tenths", Json::array()}};
  for (const GroupSums& grouping : sums) groups["sets"].push_back(grouping.json());
  for (const auto& tenth : tenths) {
    groups["tenths"].push_back(
        Json::array({short_json(tenth[0].value()), short_json(tenth[1].value())}));
  }
  groups["replications"] = chosen.size();
  out["groups"] = std::move(groups);
  const auto preempts = [](const Preemptions& one) { return one.most > 0; };
  if (!std::ranges::any_of(preemptions, preempts)) return;
  out["preemptions"] = Json::array();
  for (const Preemptions& one : preemptions) out["preemptions"].push_back(one.json());
}

}  // namespace corun::inline report
