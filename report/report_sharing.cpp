#include "report/report_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/base/nan.hpp"

namespace corun::inline report {

namespace {

using hdf5::TableReader;
using Pair = std::pair<std::size_t, std::size_t>;

/// With more jobs than this the heat map is of profile clusters.
constexpr std::size_t kMostNamedJobs = 48;

/// True and believed values of one figure, in the order of rows.
struct Calibration {
  std::vector<double> truth;
  std::vector<double> belief;

  void add(double true_value, double believed) {
    if (std::isnan(true_value) || std::isnan(believed)) return;
    truth.push_back(true_value);
    belief.push_back(believed);
  }

  /// Means over all values; of more than `most` points, every so many-th.
  Json json(std::size_t most) const {
    double bias = 0;
    double error = 0;
    const std::size_t n = truth.size();
    for (std::size_t i = 0; i < n; ++i) {
      bias += belief[i] - truth[i];
      error += std::abs(belief[i] - truth[i]);
    }
    const double count = static_cast<double>(n);
    Json x = Json::array();
    Json y = Json::array();
    const std::size_t points = std::min(n, most);
    for (std::size_t k = 0; k < points; ++k) {
      const std::size_t i = k * n / points;
      x.push_back(short_json(truth[i]));
      y.push_back(short_json(belief[i]));
    }
    return {{"n", n},
            {"bias", n == 0 ? Json(nullptr) : short_json(bias / count)},
            {"error", n == 0 ? Json(nullptr) : short_json(error / count)},
            {"truth", std::move(x)},
            {"belief", std::move(y)}};
  }
};

/// Means over the co-runs of a job (or cluster) beside another.
struct PairSums {
  std::size_t co_runs = 0;
  double shared_s = 0;
  double isd = 0;
  std::size_t isds = 0;
  double predicted = 0;  ///< of the co-runs whose truth is known
  std::size_t predictions = 0;
  double any_predicted = 0;  ///< of all
  std::size_t any_predictions = 0;

  void add(double seconds, double true_isd, double believed) {
    ++co_runs;
    shared_s += seconds;
    if (!std::isnan(believed)) {
      any_predicted += believed;
      ++any_predictions;
    }
    if (std::isnan(true_isd)) return;
    isd += true_isd;
    ++isds;
    if (std::isnan(believed)) return;
    predicted += believed;
    ++predictions;
  }
};

double mean(double sum, std::size_t n) { return n == 0 ? kNaN : sum / static_cast<double>(n); }

/// One policy's co-runs, or those of all.
struct Set {
  Calibration isd;
  Calibration speed;
  std::map<Pair, std::vector<double>> isds;     ///< cluster of the job, cluster of its co-runner
  std::map<Pair, std::vector<double>> savings;  ///< clusters of the two, the lower first
  std::map<Pair, PairSums> pairs;               ///< of groups
};

/// Quantile of sorted values, interpolated.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto i = static_cast<std::size_t>(at);
  const double rest = at - static_cast<double>(i);
  return i + 1 < sorted.size() ? sorted[i] * (1 - rest) + sorted[i + 1] * rest : sorted[i];
}

Json boxes_json(std::map<Pair, std::vector<double>>& boxes) {
  Json out = Json::array();
  for (auto& [pair, values] : boxes) {
    std::sort(values.begin(), values.end());
    Json row = Json::array({pair.first, pair.second, values.size()});
    for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      row.push_back(short_json(quantile(values, share)));
    }
    out.push_back(std::move(row));
  }
  return out;
}

Json set_json(Set& set, int policy, std::size_t points) {
  Json pairs = Json::array();
  for (const auto& [pair, sums] : set.pairs) {
    const double predicted = sums.predictions > 0 ? mean(sums.predicted, sums.predictions)
                                                  : mean(sums.any_predicted, sums.any_predictions);
    pairs.push_back(Json::array({pair.first, pair.second, sums.co_runs, short_json(sums.shared_s),
                                 short_json(mean(sums.isd, sums.isds)), short_json(predicted)}));
  }
  return {{"policy", policy},
          {"isd", set.isd.json(points)},
          {"speed", set.speed.json(points)},
          {"isd_boxes", boxes_json(set.isds)},
          {"ps_boxes", boxes_json(set.savings)},
          {"pairs", std::move(pairs)}};
}

/// Of each job of a run: its group in the heat map, and its profile cluster; -1: none.
struct JobGroups {
  std::vector<std::int64_t> group;
  std::vector<std::int64_t> cluster;
};

class CoRunFigures {
 public:
  CoRunFigures(const ReportRuns& runs, const TableReader& table) : runs_(runs), table_(table) {
    sets_.resize(runs.policies + 1);
    const RunRows* first = runs.runs.empty() ? nullptr : &runs.runs.front();
    jobs_ = first == nullptr ? 0 : first->rows.count;
    by_job_ = jobs_ <= kMostNamedJobs;
    if (by_job_ && first != nullptr) names_ = runs.table.texts("job", first->rows);
    std::set<std::size_t> replications;
    for (const RunRows& run : runs.source.runs(table, runs.policies)) {
      replications.insert(run.replication);
      add(run);
    }
    replications_ = replications.size();
  }

  Json json(std::int64_t left_out) {
    Json sets = Json::array();
    sets.push_back(set_json(sets_.back(), -1, 0));
    for (std::size_t p = 0; p < runs_.policies; ++p) {
      sets.push_back(set_json(sets_[p], static_cast<int>(p), runs_.limits.points));
    }
    Json names = Json::array();
    if (by_job_) {
      for (const std::string& name : names_) names.push_back(short_name(name));
    } else {
      for (std::size_t k = 0; k < clusters_; ++k) names.push_back(fmt::format("cluster {}", k));
    }
    return {{"clusters", clusters_},
            {"rows", table_.rows()},
            {"left_out", left_out},
            {"replications", replications_},
            {"groups", {{"by", by_job_ ? "job" : "cluster"}, {"names", std::move(names)}}},
            {"sets", std::move(sets)}};
  }

  bool sampled() const {
    return std::any_of(sets_.begin(), sets_.end() - 1, [&](const Set& set) {
      return std::max(set.isd.truth.size(), set.speed.truth.size()) > runs_.limits.points;
    });
  }

 private:
  /// The clusters of the jobs of a replication, which all policies share.
  const std::vector<std::int64_t>& clusters_of(const RunRows& run) {
    const auto [at, fresh] = clusters_by_replication_.try_emplace(run.replication);
    if (!fresh || !runs_.table.has_column("cluster")) return at->second;
    for (const RunRows& other : runs_.runs) {
      if (other.replication != run.replication) continue;
      const auto job = runs_.table.integers("job_index", other.rows);
      const auto cluster = runs_.table.integers("cluster", other.rows);
      at->second.assign(job.size(), -1);
      for (std::size_t i = 0; i < job.size(); ++i) {
        at->second[runs_.source.index(job[i], job.size())] = cluster[i];
        if (cluster[i] >= 0) {
          // A knowledge base has at most as many clusters as profiles.
          constexpr std::size_t kMostClusters = 1000;
          clusters_ = std::max(clusters_, runs_.source.index(cluster[i], kMostClusters) + 1);
        }
      }
      break;
    }
    return at->second;
  }

  void add(const RunRows& run) {
    const auto& clusters = clusters_of(run);
    const auto job_a = table_.integers("job_a", run.rows);
    const auto job_b = table_.integers("job_b", run.rows);
    const auto start = table_.reals("start_s", run.rows);
    const auto end = table_.reals("end_s", run.rows);
    const auto ps = table_.reals("ps", run.rows);
    const std::array<std::vector<double>, 2> isd{table_.reals("isd_a", run.rows),
                                                 table_.reals("isd_b", run.rows)};
    const std::array<std::vector<double>, 2> believed{table_.reals("predicted_isd_a", run.rows),
                                                      table_.reals("predicted_isd_b", run.rows)};
    const std::array<std::vector<double>, 2> speed{table_.reals("speed_a", run.rows),
                                                   table_.reals("speed_b", run.rows)};
    const std::array<std::vector<double>, 2> believed_speed{
        table_.reals("predicted_speed_a", run.rows), table_.reals("predicted_speed_b", run.rows)};
    for (std::size_t i = 0; i < run.rows.count; ++i) {
      const std::array<std::size_t, 2> job{runs_.source.index(job_a[i], jobs_),
                                           runs_.source.index(job_b[i], jobs_)};
      const auto cluster = [&](std::size_t side) {
        return job[side] < clusters.size() ? clusters[job[side]] : -1;
      };
      const auto group = [&](std::size_t side) {
        return by_job_ ? static_cast<std::int64_t>(job[side]) : cluster(side);
      };
      for (Set* set : {&sets_[run.policy], &sets_.back()}) {
        for (std::size_t side = 0; side < 2; ++side) {
          const std::size_t other = 1 - side;
          const double true_isd = isd[side][i];
          set->isd.add(true_isd, believed[side][i]);
          // A job of speed 0 waited to run out of memory: no belief is about that.
          if (speed[side][i] > 0) set->speed.add(speed[side][i], believed_speed[side][i]);
          if (cluster(side) >= 0 && cluster(other) >= 0 && !std::isnan(true_isd)) {
            set->isds[pair(cluster(side), cluster(other))].push_back(true_isd);
          }
          if (group(side) >= 0 && group(other) >= 0) {
            set->pairs[pair(group(side), group(other))].add(end[i] - start[i], true_isd,
                                                            believed[side][i]);
          }
        }
        if (cluster(0) >= 0 && cluster(1) >= 0 && !std::isnan(ps[i])) {
          set->savings[pair(std::min(cluster(0), cluster(1)), std::max(cluster(0), cluster(1)))]
              .push_back(ps[i]);
        }
      }
    }
  }

  static Pair pair(std::int64_t a, std::int64_t b) {
    return {static_cast<std::size_t>(a), static_cast<std::size_t>(b)};
  }

  const ReportRuns& runs_;
  const TableReader& table_;
  std::vector<Set> sets_;  ///< by policy; the last is of all
  std::size_t jobs_ = 0;
  bool by_job_ = false;
  std::vector<std::string> names_;
  std::size_t clusters_ = 0;
  std::size_t replications_ = 0;  ///< with co-runs in the file
  std::map<std::size_t, std::vector<std::int64_t>> clusters_by_replication_;
};

}  // namespace

const RunRows* ReportRuns::first_of(std::size_t policy) const {
  for (const RunRows& run : runs) {
    if (run.policy == policy) return &run;
  }
  return nullptr;
}

void add_sharing(const ReportRuns& runs, Json& out, std::vector<std::string>& reductions) {
  out["sharing"] = nullptr;
  if (!runs.source.has("co_runs")) return;
  const TableReader table(runs.source.file(), "co_runs");
  if (table.rows() == 0) return;
  const std::int64_t left_out = hdf5::read_integer_attribute(table.id(), "left_out");
  CoRunFigures figures(runs, table);
  out["sharing"] = figures.json(left_out);
  if (left_out > 0) {
    reductions.push_back(fmt::format(
        "Sharing: of {} co-runs of pairs the results file keeps {}, the first of each run.",
        static_cast<std::int64_t>(table.rows()) + left_out, table.rows()));
  }
  if (figures.sampled()) {
    reductions.push_back(
        fmt::format("Predicted beside true has up to {} points a policy; its table is of all.",
                    runs.limits.points));
  }
}

}  // namespace corun::inline report
