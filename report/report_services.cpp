#include "report/report_services.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "support/statistics/mean_interval.hpp"

namespace corun::inline report {

namespace {

using hdf5::TableReader;

constexpr std::size_t kMostServices = 20;  ///< with figures over time
constexpr std::size_t kMostPoints = 400;   ///< of a service over time
constexpr std::size_t kMostSharers = 10;   ///< of a service

/// A time in which a job was on a GPU with a replica.
struct SharedTime {
  std::size_t job = 0;
  double start_s = 0;
  double end_s = 0;

  double within(double from_s, double to_s) const {
    return std::max(0.0, std::min(end_s, to_s) - std::max(start_s, from_s));
  }
};

/// The services of the first run, which all runs share.
struct Services {
  std::vector<std::string> names;
  std::vector<double> goal_s;
  std::vector<double> goal_share;

  std::optional<std::size_t> of_name(const std::string& name) const {
    const auto at = std::ranges::find(names, name);
    if (at == names.end()) return std::nullopt;
    return static_cast<std::size_t>(at - names.begin());
  }
  /// Of the replica NAME#0, NAME#1 ...
  std::optional<std::size_t> of_replica(const std::string& job) const {
    const std::size_t mark = job.rfind('#');
    return mark == std::string::npos ? std::nullopt : of_name(job.substr(0, mark));
  }
};

Services services_in(const TableReader& table, const RunRows& run) {
  return {table.texts("service", run.rows), table.reals("goal_s", run.rows),
          table.reals("goal_share", run.rows)};
}

Json interval_of(const std::vector<double>& values) {
  const Interval interval = mean_interval(values);
  return Json::array({short_json(interval.mean), short_json(interval.lo), short_json(interval.hi)});
}

/// [policy][service, then all] of the share of requests within the goal, over replications.
Json within_json(const ReportRuns& runs, const TableReader& table, const Services& services) {
  const std::size_t n = services.names.size();
  std::vector<std::vector<std::vector<double>>> shares(runs.policies,
                                                       std::vector<std::vector<double>>(n + 1));
  for (const RunRows& run : runs.source.runs(table, runs.policies)) {
    const auto within = table.reals("within", run.rows);
    const auto requests = table.integers("requests", run.rows);
    if (within.size() != n) throw runs.source.damaged();
    double all = 0;
    double good = 0;
    for (std::size_t s = 0; s < n; ++s) {
      shares[run.policy][s].push_back(within[s]);
      all += static_cast<double>(requests[s]);
      good += within[s] * static_cast<double>(requests[s]);
    }
    shares[run.policy][n].push_back(all > 0 ? good / all : 1);
  }
  Json out = Json::array();
  for (const auto& of_policy : shares) {
    Json row = Json::array();
    for (const auto& values : of_policy) row.push_back(interval_of(values));
    out.push_back(std::move(row));
  }
  return out;
}

/// By service: what was on a GPU with its replicas in the first replication under a policy.
std::vector<std::vector<SharedTime>> shared_times(const ReportRuns& runs, std::size_t policy,
                                                  const std::vector<std::string>& jobs,
                                                  const Services& services) {
  std::vector<std::vector<SharedTime>> shared(services.names.size());
  if (!runs.source.has("co_runs")) return shared;
  const TableReader table(runs.source.file(), "co_runs");
  for (const RunRows& run : runs.source.runs(table, runs.policies)) {
    if (run.policy != policy || run.replication != 0) continue;
    const auto job_a = table.integers("job_a", run.rows);
    const auto job_b = table.integers("job_b", run.rows);
    const auto start = table.reals("start_s", run.rows);
    const auto end = table.reals("end_s", run.rows);
    for (std::size_t i = 0; i < job_a.size(); ++i) {
      const std::size_t a = runs.source.index(job_a[i], jobs.size());
      const std::size_t b = runs.source.index(job_b[i], jobs.size());
      for (const auto& [replica, job] : {std::pair{a, b}, {b, a}}) {
        if (const auto s = services.of_replica(jobs[replica])) {
          shared[*s].push_back({job, start[i], end[i]});
        }
      }
    }
  }
  return shared;
}

/// The jobs that shared longest: [name, seconds].
Json sharers_json(const std::vector<SharedTime>& shared, const std::vector<std::string>& jobs) {
  std::map<std::size_t, double> seconds;
  for (const SharedTime& one : shared) seconds[one.job] += one.end_s - one.start_s;
  std::vector<std::pair<std::size_t, double>> order(seconds.begin(), seconds.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.second > b.second; });
  Json out = Json::array();
  for (std::size_t i = 0; i < std::min(order.size(), kMostSharers); ++i) {
    out.push_back(Json::array({short_name(jobs[order[i].first]), short_json(order[i].second)}));
  }
  return {{"jobs", order.size()}, {"longest", std::move(out)}};
}

/// A service over time: intervals of the file, or means over so many of them; of latency the largest.
class ServiceOverTime {
 public:
  void add(double start_s, double end_s, double load, double replicas, double latency_s) {
    start_.push_back(start_s);
    end_.push_back(end_s);
    load_.push_back(load);
    replicas_.push_back(replicas);
    latency_.push_back(latency_s);
  }
  bool summed_up() const { return start_.size() > kMostPoints; }

  Json json(const std::vector<SharedTime>& shared) const {
    const std::size_t n = start_.size();
    if (n == 0) return nullptr;
    const std::size_t each = (n + kMostPoints - 1) / kMostPoints;
    std::vector<double> end, load, replicas, latency, sharing;
    for (std::size_t from = 0; from < n; from += each) {
      const std::size_t to = std::min(n, from + each);
      const double length = end_[to - 1] - start_[from];
      double requests = 0, replica_s = 0, most = 0, shared_s = 0;
      for (std::size_t i = from; i < to; ++i) {
        requests += load_[i] * (end_[i] - start_[i]);
        replica_s += replicas_[i] * (end_[i] - start_[i]);
        most = std::max(most, latency_[i]);
      }
      for (const SharedTime& one : shared) shared_s += one.within(start_[from], end_[to - 1]);
      end.push_back(end_[to - 1]);
      load.push_back(requests / length);
      replicas.push_back(replica_s / length);
      latency.push_back(most);
      sharing.push_back(shared_s / length);
    }
    return {{"start", short_json(start_.front())},
            {"end", short_json(end)},
            {"load", short_json(load)},
            {"latency", short_json(latency)},
            {"replicas", short_json(replicas)},
            {"sharing", short_json(sharing)}};
  }

 private:
  std::vector<double> start_, end_, load_, replicas_, latency_;
};

}  // namespace

void add_services(const ReportRuns& runs, Json& out, std::vector<std::string>& reductions) {
  if (!runs.source.has("services") || !runs.source.has("service_intervals")) return;
  const TableReader totals(runs.source.file(), "services");
  const std::vector<RunRows> of_runs = runs.source.runs(totals, runs.policies);
  if (of_runs.empty()) return;
  const Services services = services_in(totals, of_runs.front());
  const std::size_t shown = std::min(services.names.size(), kMostServices);

  Json names = Json::array();
  for (const std::string& name : services.names) names.push_back(short_name(name));
  Json over_time(Json::array_t(runs.policies, Json(nullptr)));
  Json sharers(Json::array_t(runs.policies, Json(nullptr)));
  const TableReader intervals(runs.source.file(), "service_intervals");
  bool summed_up = false;
  for (const RunRows& run : runs.source.runs(intervals, runs.policies)) {
    if (run.replication != 0) continue;
    std::vector<ServiceOverTime> series(services.names.size());
    const auto service = intervals.texts("service", run.rows);
    const auto start = intervals.reals("start_s", run.rows);
    const auto end = intervals.reals("end_s", run.rows);
    const auto load = intervals.reals("load_per_s", run.rows);
    const auto replicas = intervals.reals("replicas", run.rows);
    const auto latency = intervals.reals("latency_s", run.rows);
    for (std::size_t i = 0; i < service.size(); ++i) {
      const auto s = services.of_name(service[i]);
      if (!s || !(end[i] > start[i])) throw runs.source.damaged();
      series[*s].add(start[i], end[i], load[i], replicas[i], latency[i]);
    }
    std::vector<std::string> jobs;
    for (const RunRows& of_jobs : runs.runs) {
      if (of_jobs.policy == run.policy && of_jobs.replication == 0) {
        jobs = runs.table.texts("job", of_jobs.rows);
      }
    }
    const auto shared = shared_times(runs, run.policy, jobs, services);
    over_time[run.policy] = Json::array();
    sharers[run.policy] = Json::array();
    for (std::size_t s = 0; s < shown; ++s) {
      summed_up = summed_up || series[s].summed_up();
      over_time[run.policy].push_back(series[s].json(shared[s]));
      sharers[run.policy].push_back(sharers_json(shared[s], jobs));
    }
  }
  out["services"] = {{"names", std::move(names)},
                     {"goal_s", short_json(services.goal_s)},
                     {"goal_share", short_json(services.goal_share)},
                     {"within", within_json(runs, totals, services)},
                     {"over_time", std::move(over_time)},
                     {"sharers", std::move(sharers)}};
  if (shown < services.names.size()) {
    reductions.push_back(
        fmt::format("Services over time are the first {} of {}.", shown, services.names.size()));
  }
  if (summed_up) {
    reductions.push_back(fmt::format(
        "Services over time have {} points at most: means over minutes, of latency the largest.",
        kMostPoints));
  }
}

}  // namespace corun::inline report
