#include "runner/replay/job_groups.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nan.hpp"
#include "sim/base/summary.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/text_table.hpp"
#include "support/time_unit.hpp"
#include "traces/trace_statistics.hpp"

namespace corun::inline runner {

namespace {

using Kind = JobGrouping::Kind;

/// Of the kinds before kColumn.
constexpr std::array<std::string_view, 3> kWords{"gpus", "length", "worst"};
constexpr std::size_t kMostShown = 20;

const CarriedColumn* find_column(const Trace& trace, const std::string& name) {
  const auto at = std::ranges::find(trace.carried, name, &CarriedColumn::name);
  return at == trace.carried.end() || name.empty() ? nullptr : &*at;
}

/// The groups in their order, and the group of each job.
struct Grouped {
  std::vector<std::string> names;
  std::vector<std::size_t> of;  ///< by JobId
};

Grouped by_gang(const Trace& trace) {
  std::map<int, std::size_t> sizes;
  for (const TraceJob& job : trace.jobs) sizes[job.spec.gpus] = 0;
  Grouped grouped;
  for (auto& [gpus, place] : sizes) {
    place = grouped.names.size();
    grouped.names.push_back(fmt::format("{} GPU{}", gpus, gpus == 1 ? "" : "s"));
  }
  for (const TraceJob& job : trace.jobs) grouped.of.push_back(sizes.at(job.spec.gpus));
  return grouped;
}

Grouped by_length(const Trace& trace) {
  std::vector<double> work_s;
  for (const TraceJob& job : trace.jobs) work_s.push_back(to_seconds(job.spec.work));
  Quarters quarters = quarters_by_length(work_s);
  return {std::move(quarters.names), std::move(quarters.of)};
}

Grouped by_column(const Trace& trace, const CarriedColumn& column) {
  const auto c = static_cast<std::size_t>(&column - trace.carried.data());
  std::vector<double> work(column.texts.size(), 0);
  for (const TraceJob& job : trace.jobs) work[job.carried[c]] += gpu_seconds(job.spec);
  std::vector<std::size_t> order(work.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t t) { return work[t] == 0; });
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t t) { return work[t]; });
  std::vector<std::size_t> place(work.size(), 0);
  Grouped grouped;
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    const std::string& text = column.texts[order[i]];
    grouped.names.push_back(text.empty() ? "(empty)" : text);
  }
  for (const TraceJob& job : trace.jobs) grouped.of.push_back(place[job.carried[c]]);
  return grouped;
}

Grouped grouped_by(const Trace& trace, const JobGrouping& by) {
  if (by.kind == Kind::kGpus) return by_gang(trace);
  if (by.kind == Kind::kLength) return by_length(trace);
  return by_column(trace, *find_column(trace, by.name));
}

double jct_s(const JobRecord& job) { return to_seconds(job.finish - job.submit); }

std::vector<bool> worst_of(const RunRecord& record) {
  std::vector<double> jct;
  for (const JobRecord& job : record.jobs) {
    jct.push_back(job.end == JobEnd::kFinished ? jct_s(job) : kNaN);
  }
  return worst_tenth(jct);
}

std::vector<GroupOfJobs> worst_and_others(const ReplayResult& result) {
  const Trace& trace = *result.replications.front().trace;
  const std::size_t policies = result.replications.front().runs.size();
  std::vector<GroupOfJobs> groups{{"worst 10 %", 0, 0, {}}, {"others", 0, 0, {}}};
  std::vector<bool> first(trace.jobs.size(), false);  // of the first policy that did not fail
  for (const PolicyRun& run : result.replications.front().runs) {
    if (run.record.jobs.size() != first.size()) continue;
    first = worst_of(run.record);
    break;
  }
  double all = 0;
  for (std::size_t j = 0; j < first.size(); ++j) {
    GroupOfJobs& group = groups[first[j] ? 0 : 1];
    ++group.jobs;
    group.work_share += gpu_seconds(trace.jobs[j].spec);
    all += gpu_seconds(trace.jobs[j].spec);
  }
  for (GroupOfJobs& group : groups) group.work_share /= all;
  for (std::size_t p = 0; p < policies; ++p) {
    std::array<RunningMean, 2> over;
    for (const Replication& r : result.replications) {
      const RunRecord& record = r.runs[p].record;
      const std::vector<bool> worst = worst_of(record);
      std::array<RunningMean, 2> means;
      for (std::size_t j = 0; j < record.jobs.size(); ++j) {
        if (record.jobs[j].end != JobEnd::kFinished) continue;
        means[worst[j] ? 0 : 1].add_if_known(jct_s(record.jobs[j]));
      }
      for (std::size_t g = 0; g < 2; ++g) over[g].add_if_known(means[g].value());
    }
    for (std::size_t g = 0; g < 2; ++g) groups[g].jct_s.push_back(over[g].value());
  }
  return groups;
}

}  // namespace

Quarters quarters_by_length(std::span<const double> work_s) {
  constexpr std::size_t kQuarters = 4;
  std::vector<std::size_t> order(work_s.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t j) { return work_s[j]; });
  Quarters quarters{{}, std::vector<std::size_t>(order.size())};
  for (std::size_t q = 0; q < kQuarters; ++q) {
    const std::size_t from = q * order.size() / kQuarters;
    const std::size_t to = (q + 1) * order.size() / kQuarters;
    if (from == to) continue;
    const double longest = work_s[order[to - 1]];
    const TimeUnit unit = time_unit(longest);
    for (std::size_t i = from; i < to; ++i) quarters.of[order[i]] = quarters.names.size();
    quarters.names.push_back(fmt::format("{:.3g} to {:.3g} {}", work_s[order[from]] / unit.seconds,
                                         longest / unit.seconds, unit.name));
  }
  return quarters;
}

std::vector<bool> worst_tenth(std::span<const double> jct_s) {
  std::vector<std::size_t> order;
  for (std::size_t j = 0; j < jct_s.size(); ++j) {
    if (!std::isnan(jct_s[j])) order.push_back(j);
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t j) { return jct_s[j]; });
  order.resize((order.size() + 9) / 10);
  std::vector<bool> worst(jct_s.size(), false);
  for (const std::size_t j : order) worst[j] = true;
  return worst;
}

JobGrouping job_grouping(const Experiment& experiment, const std::string& name) {
  const auto word = std::ranges::find(kWords, name);
  if (word != kWords.end()) return {static_cast<Kind>(word - kWords.begin()), name};
  const auto trace = experiment.make_trace(0);
  if (find_column(*trace, name) != nullptr) return {Kind::kColumn, name};
  std::vector<std::string_view> known(kWords.begin(), kWords.end());
  for (const CarriedColumn& column : trace->carried) {
    if (!column.name.empty()) known.push_back(column.name);
  }
  throw InputError("--by", "found '" + printable(name) +
                               "', expected gpus, length, worst or a column of the log that corun "
                               "does not use; " +
                               did_you_mean(name, known));
}

std::vector<GroupOfJobs> groups_of_jobs(const ReplayResult& result, const JobGrouping& grouping) {
  if (result.replications.empty()) return {};
  if (grouping.kind == Kind::kWorst) return worst_and_others(result);
  const std::size_t policies = result.replications.front().runs.size();
  std::vector<GroupOfJobs> groups;
  std::vector<std::vector<RunningMean>> over;  // group x policy
  std::map<std::string, std::size_t> place;
  for (const Replication& r : result.replications) {
    const Trace& trace = *r.trace;
    const Grouped grouped = grouped_by(trace, grouping);
    std::vector<std::size_t> here;  // of this replication's groups
    for (const std::string& name : grouped.names) {
      const auto [at, fresh] = place.emplace(name, groups.size());
      if (fresh) {
        groups.push_back({name, 0, 0, {}});
        over.emplace_back(policies);
      }
      here.push_back(at->second);
    }
    if (&r == &result.replications.front()) {
      double all = 0;
      for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
        GroupOfJobs& group = groups[here[grouped.of[j]]];
        ++group.jobs;
        group.work_share += gpu_seconds(trace.jobs[j].spec);
        all += gpu_seconds(trace.jobs[j].spec);
      }
      for (GroupOfJobs& group : groups) group.work_share /= all;
    }
    for (std::size_t p = 0; p < policies; ++p) {
      std::vector<RunningMean> means(grouped.names.size());
      const std::vector<JobRecord>& jobs = r.runs[p].record.jobs;
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        if (jobs[j].end == JobEnd::kFinished) means[grouped.of[j]].add_if_known(jct_s(jobs[j]));
      }
      for (std::size_t g = 0; g < means.size(); ++g) {
        over[here[g]][p].add_if_known(means[g].value());
      }
    }
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const RunningMean& mean : over[g]) groups[g].jct_s.push_back(mean.value());
  }
  return groups;
}

std::string groups_table(const Experiment& experiment, const ReplayResult& result,
                         const ReplayView& view, const JobGrouping& grouping) {
  const std::vector<GroupOfJobs> groups = groups_of_jobs(result, grouping);
  double longest = 0;
  for (const GroupOfJobs& group : groups) {
    for (const double jct : group.jct_s) longest = std::fmax(longest, jct);
  }
  const TimeUnit unit = time_unit(longest);
  const std::vector<PolicyInstance>& policies = experiment.policies();
  const auto has_ratio = [&](std::size_t p) { return view.baseline && p != *view.baseline; };
  std::vector<std::vector<std::string>> rows{{grouping.name, "jobs", "work %"}};
  for (std::size_t p = 0; p < policies.size(); ++p) {
    rows.front().push_back(fmt::format("{} {}", policies[p].label, unit.name));
    if (has_ratio(p)) rows.front().push_back("ratio");
  }
  for (const GroupOfJobs& group : groups) {
    if (rows.size() > kMostShown) break;
    std::vector<std::string>& row = rows.emplace_back();
    row = {printable(group.name, 40), std::to_string(group.jobs),
           fmt::format("{:.1f}", 100 * group.work_share)};
    for (std::size_t p = 0; p < group.jct_s.size(); ++p) {
      const double jct = group.jct_s[p];
      row.push_back(std::isnan(jct) ? "-" : fmt::format("{:.3g}", jct / unit.seconds));
      if (!has_ratio(p)) continue;
      const double ratio = jct / group.jct_s[*view.baseline];
      row.push_back(std::isfinite(ratio) ? fmt::format("{:.2f}", ratio) : "-");
    }
  }
  const std::string to =
      view.baseline ? "; ratio to " + policies[*view.baseline].label : std::string();
  std::string text =
      grouping.kind == Kind::kWorst
          ? fmt::format("\nmean JCT of the tenth of each policy's jobs that takes longest{}\n", to)
          : fmt::format("\nmean JCT of jobs by {}{}\n", printable(grouping.name), to);
  text += aligned(std::move(rows));
  if (groups.size() > kMostShown) {
    text +=
        fmt::format("and {} groups with less work: --format json\n", groups.size() - kMostShown);
  }
  return text;
}

Json groups_json(const Experiment& experiment, const ReplayResult& result,
                 const JobGrouping& grouping) {
  Json out{{"by", grouping.name}, {"groups", Json::array()}};
  for (const GroupOfJobs& group : groups_of_jobs(result, grouping)) {
    Json item{{"group", group.name}, {"jobs", group.jobs}, {"work_share", group.work_share}};
    item["jct_s"] = Json::object();
    for (std::size_t p = 0; p < group.jct_s.size(); ++p) {
      item["jct_s"][experiment.policies()[p].label] = json_number(group.jct_s[p]);
    }
    out["groups"].push_back(std::move(item));
  }
  return out;
}

}  // namespace corun::inline runner
