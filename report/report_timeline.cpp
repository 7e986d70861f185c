#include "report/report_timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "report/packed_column.hpp"
#include "sim/base/nan.hpp"
#include "sim/records/event_log.hpp"

namespace corun::inline report {

namespace {

using hdf5::TableReader;

/// What a job did on a GPU, and how that ended: numbers of web/src/data.js.
enum class Doing : std::uint8_t { kRun, kProbe, kProfiling };
enum class End : std::uint8_t { kFinished, kPreempted, kOutOfMemory, kGivenUp, kOpen, kStage };

struct Bar {
  double start = 0;  ///< [s]
  double end = 0;
  std::uint32_t job = 0;
  std::uint8_t kind = 0;
};

std::uint8_t kind_of(Doing doing, End end) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(doing) | static_cast<unsigned>(end) << 2);
}

/// The bars of a policy by lane: a lane is a GPU and a place on it, and its bars do not overlap.
using Lanes = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Bar>>;

std::size_t count_of(const Lanes& lanes) {
  std::size_t n = 0;
  for (const auto& [lane, bars] : lanes) n += bars.size();
  return n;
}

struct GpuList {
  std::vector<std::string> types;  ///< by GPU
  std::vector<std::int64_t> node;
  std::vector<std::int64_t> index;
  std::vector<std::string>
      owners;  ///< virtual cluster by GPU, empty: none; no text: no GPU has one

  std::size_t size() const { return types.size(); }
};

/// From /gpus; of an older file, from what /usage and /runs tell.
GpuList read_gpus(const ReportRuns& runs) {
  // More GPUs than any cluster has: a file that says so is damaged.
  constexpr std::size_t kMost = 10'000'000;
  GpuList cluster;
  if (runs.source.has("gpus")) {
    const TableReader table(runs.source.file(), "gpus");
    cluster.types = table.texts("type");
    cluster.node = table.integers("node");
    cluster.index = table.integers("gpu_of_node");
    if (table.has_column("virtual_cluster")) cluster.owners = table.texts("virtual_cluster");
    if (std::ranges::all_of(cluster.owners, &std::string::empty)) cluster.owners.clear();
    return cluster;
  }
  const TableReader usage(runs.source.file(), "usage");
  if (usage.rows() == 0) throw runs.source.damaged();
  const std::size_t gpus = runs.source.index(usage.integers("gpus", {0, 1}).front(), kMost);
  cluster.types.resize(gpus);
  cluster.node.assign(gpus, 0);
  cluster.index.resize(gpus);
  for (std::size_t g = 0; g < gpus; ++g) cluster.index[g] = static_cast<std::int64_t>(g);
  if (runs.runs.empty()) return cluster;
  const auto gpu = runs.table.integers("gpu", runs.runs.front().rows);
  const auto type = runs.table.texts("gpu_type", runs.runs.front().rows);
  for (std::size_t i = 0; i < gpu.size(); ++i) {
    if (gpu[i] >= 0) cluster.types[runs.source.index(gpu[i], gpus)] = type[i];
  }
  return cluster;
}

/// Puts intervals of a GPU into the lowest place that is free, as they begin.
class Places {
 public:
  std::uint32_t take(std::uint32_t gpu) {
    std::vector<bool>& used = used_[gpu];
    std::size_t slot = 0;
    while (slot < used.size() && used[slot]) ++slot;
    if (slot == used.size()) used.push_back(false);
    used[slot] = true;
    return static_cast<std::uint32_t>(slot);
  }
  void leave(std::uint32_t gpu, std::uint32_t slot) { used_[gpu][slot] = false; }

 private:
  std::map<std::uint32_t, std::vector<bool>> used_;
};

/// The bars of a run from its events; nothing if the file holds only some of these.
std::optional<Lanes> lanes_of_events(const ReportRuns& runs, const TableReader& events,
                                     const RunRows& run, std::size_t gpus, std::size_t jobs,
                                     bool cut) {
  const auto time = events.reals("time_s", run.rows);
  const auto kind = events.integers("kind", run.rows);
  const auto job = events.integers("job", run.rows);
  const auto gpu = events.integers("gpu", run.rows);
  struct Open {
    double start;
    std::uint32_t slot;
    Doing doing;
  };
  Lanes lanes;
  Places places;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Open> open;  // (GPU, job)
  std::vector<bool> ended(jobs, false);
  double last = 0;
  const auto close = [&](auto at, double when, End end) {
    const auto& [key, begun] = *at;
    lanes[{key.first, begun.slot}].push_back(
        {begun.start, when, key.second, kind_of(begun.doing, end)});
    places.leave(key.first, begun.slot);
    open.erase(at);
  };
  for (std::size_t i = 0; i < time.size(); ++i) {
    if (!std::isfinite(time[i]) || time[i] < last) throw runs.source.damaged();
    last = time[i];
    const auto what = static_cast<LogKind>(runs.source.index(kind[i], kLogKinds));
    const auto j = static_cast<std::uint32_t>(runs.source.index(job[i], jobs));
    if (what == LogKind::kFinish || what == LogKind::kFail) ended[j] = true;
    if (gpu[i] == -1) continue;
    const auto g = static_cast<std::uint32_t>(runs.source.index(gpu[i], gpus));
    const auto at = open.find({g, j});
    const auto begin = [&](Doing doing) {
      if (at != open.end()) throw runs.source.damaged();
      open.emplace(std::pair{g, j}, Open{time[i], places.take(g), doing});
    };
    const auto finish = [&](End end) {
      if (at != open.end()) close(at, time[i], end);
    };
    switch (what) {
      case LogKind::kArrive:
        break;
      case LogKind::kProfile:
        begin(Doing::kProfiling);
        break;
      case LogKind::kStart:
        begin(Doing::kRun);
        break;
      case LogKind::kProbe:
        begin(Doing::kProbe);
        break;
      case LogKind::kProfiled:
      case LogKind::kProbed:
        finish(End::kStage);
        break;
      case LogKind::kFinish:
        finish(End::kFinished);
        break;
      case LogKind::kOom:
        finish(End::kOutOfMemory);
        break;
      case LogKind::kFail:
        finish(End::kGivenUp);
        break;
      case LogKind::kPhase:
        break;
      case LogKind::kPreempt:
      case LogKind::kResize:
        finish(End::kPreempted);
        break;
    }
  }
  while (!open.empty()) close(open.begin(), last, End::kOpen);
  if (cut && std::find(ended.begin(), ended.end(), false) != ended.end()) return std::nullopt;
  return lanes;
}

/// The last attempt of each job on its first GPU, where the file has no events.
Lanes lanes_of_runs(const ReportRuns& runs, const RunRows& run, std::size_t gpus) {
  const auto start = runs.table.reals("last_start_s", run.rows);
  const auto finish = runs.table.reals("finish_s", run.rows);
  const auto gpu = runs.table.integers("gpu", run.rows);
  const auto finished = runs.table.flags("finished", run.rows);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (gpu[i] >= 0 && std::isfinite(start[i]) && std::isfinite(finish[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return start[a] < start[b]; });
  std::map<std::uint32_t, std::vector<double>> free_from;
  Lanes lanes;
  for (const std::size_t i : order) {
    const auto g = static_cast<std::uint32_t>(runs.source.index(gpu[i], gpus));
    std::vector<double>& slots = free_from[g];
    std::size_t slot = 0;
    while (slot < slots.size() && slots[slot] > start[i]) ++slot;
    if (slot == slots.size()) slots.push_back(0);
    slots[slot] = finish[i];
    lanes[{g, static_cast<std::uint32_t>(slot)}].push_back(
        {start[i], finish[i], static_cast<std::uint32_t>(i),
         kind_of(Doing::kRun, finished[i] != 0 ? End::kFinished : End::kGivenUp)});
  }
  return lanes;
}

/// A number of the span's 2^32 parts.
std::uint32_t tick_of(double time, double from, double to) {
  const double share = (time - from) / (to - from) * 4294967296.0;
  return static_cast<std::uint32_t>(std::clamp(std::round(share), 0.0, 4294967295.0));
}

class Timeline {
 public:
  Timeline(const ReportRuns& runs, GpuList cluster)
      : runs_(runs), cluster_(std::move(cluster)), lanes_(runs.policies) {
    jobs_ = runs.runs.empty() ? 0 : runs.runs.front().rows.count;
    read();
    for (const auto& lanes : lanes_) {
      if (!lanes) continue;
      for (const auto& [lane, bars] : *lanes) {
        for (const Bar& bar : bars) widen(bar.start, bar.end);
      }
    }
    const TableReader episodes(runs.source.file(), "episodes");
    for (const RunRows& run : runs.source.runs(episodes, runs.policies)) {
      if (run.replication != replication_) continue;
      const auto start = episodes.reals("start_s", run.rows);
      const auto end = episodes.reals("end_s", run.rows);
      for (std::size_t i = 0; i < start.size(); ++i) {
        if (std::isfinite(start[i]) && std::isfinite(end[i])) widen(start[i], end[i]);
      }
      episodes_.emplace(run.policy, run.rows);
    }
    if (!(from_ < to_)) {
      from_ = 0;
      to_ = 1;
    }
  }

  Json json(std::vector<std::string>& reductions) {
    std::size_t left = runs_.limits.timeline_bytes;
    bool any_bars = false;
    std::size_t shades = 0;
    Json policies(Json::array_t(runs_.policies, Json(nullptr)));
    // Figures of jobs: submission, cluster.
    const std::size_t of_jobs = jobs_ * 10 * 4 / 3;
    for (std::size_t p = 0; p < runs_.policies; ++p) {
      if (runs_.first_of(p) == nullptr) continue;
      const std::size_t bytes =
          lanes_[p] ? (count_of(*lanes_[p]) * 13 + jobs_ * 4) * 4 / 3 + (any_bars ? 0 : of_jobs)
                    : left + 1;
      if (bytes <= left) {
        left -= bytes;
        any_bars = true;
        policies[p] = bars_json(p, *lanes_[p]);
      } else if (episodes_.contains(p)) {
        ++shades;
        policies[p] = density_json(p);
      }
    }
    if (shades > 0) {
      reductions.push_back(
          fmt::format("The timeline shows {} of {} policies as shades of how busy GPUs are: their "
                      "jobs are too many "
                      "for single bars.",
                      shades, runs_.policies));
    }
    if (from_runs_) {
      reductions.emplace_back(
          "The results file has no events: the timeline has each job's last attempt on its first "
          "GPU.");
    }
    Json out;
    out["span"] = Json::array({from_, to_});
    out["gpus"] = gpus_json();
    add_jobs(out, any_bars, reductions);
    out["policies"] = std::move(policies);
    return out;
  }

  Json types_json() {
    Json out = Json::array();
    for (const auto& [type, number] : type_numbers()) {
      out.push_back({{"type", type},
                     {"count", std::count(cluster_.types.begin(), cluster_.types.end(), type)}});
    }
    return out;
  }

 private:
  void widen(double start, double end) {
    if (from_ >= to_) {
      from_ = start;
      to_ = end;
    }
    from_ = std::min(from_, start);
    to_ = std::max(to_, end);
  }

  void read() {
    if (runs_.runs.empty()) return;
    replication_ = runs_.runs.front().replication;
    std::optional<TableReader> events;
    if (runs_.source.has("events")) events.emplace(runs_.source.file(), "events");
    if (events && events->rows() > 0) {
      const bool cut = hdf5::read_integer_attribute(events->id(), "left_out") > 0;
      for (const RunRows& run : runs_.source.runs(*events, runs_.policies)) {
        if (run.replication != replication_) continue;
        lanes_[run.policy] = lanes_of_events(runs_, *events, run, cluster_.size(), jobs_, cut);
      }
      return;
    }
    for (std::size_t p = 0; p < runs_.policies; ++p) {
      const RunRows* run = runs_.first_of(p);
      if (run == nullptr || run->rows.count != jobs_) continue;
      from_runs_ = true;
      lanes_[p] = lanes_of_runs(runs_, *run, cluster_.size());
    }
  }

  Json bars_json(std::size_t policy, const Lanes& lanes) const {
    std::vector<std::uint32_t> start;
    std::vector<std::uint32_t> end;
    std::vector<std::uint32_t> job;
    std::vector<std::uint8_t> kind;
    Json gpu = Json::array();
    Json slot = Json::array();
    Json first = Json::array({0});
    for (const auto& [lane, bars] : lanes) {
      gpu.push_back(lane.first);
      slot.push_back(lane.second);
      for (const Bar& bar : bars) {
        start.push_back(tick_of(bar.start, from_, to_));
        end.push_back(tick_of(bar.end, from_, to_));
        job.push_back(bar.job);
        kind.push_back(bar.kind);
      }
      first.push_back(start.size());
    }
    const RunRows& run = *runs_.first_of(policy);
    const auto values = runs_.table.reals("isd", run.rows);
    const std::vector<float> isd(values.begin(), values.end());
    return {{"mode", "bars"},
            {"lane_gpu", std::move(gpu)},
            {"lane_slot", std::move(slot)},
            {"lane_first", std::move(first)},
            {"start", packed_column<std::uint32_t>(start)},
            {"end", packed_column<std::uint32_t>(end)},
            {"job", packed_column<std::uint32_t>(job)},
            {"kind", packed_column<std::uint8_t>(kind)},
            {"isd", packed_column<float>(isd)}};
  }

  Json density_json(std::size_t policy) const {
    constexpr std::size_t kMostRows = 200;
    constexpr std::size_t kMostShades = 1'500'000;
    const std::size_t gpus = cluster_.size();
    const std::size_t per_row = std::max<std::size_t>(1, (gpus + kMostRows - 1) / kMostRows);
    const std::size_t rows = (gpus + per_row - 1) / per_row;
    const std::size_t bins =
        std::min<std::size_t>(2000, kMostShades / std::max<std::size_t>(1, rows * runs_.policies));
    std::vector<double> busy(rows * bins, 0);
    const TableReader episodes(runs_.source.file(), "episodes");
    const hdf5::RowRange range = episodes_.at(policy);
    const auto start = episodes.reals("start_s", range);
    const auto end = episodes.reals("end_s", range);
    const auto gpu = episodes.integers("gpu", range);
    const double width = (to_ - from_) / static_cast<double>(bins);
    for (std::size_t i = 0; i < start.size(); ++i) {
      if (!std::isfinite(start[i]) || !std::isfinite(end[i])) throw runs_.source.damaged();
      const std::size_t row = runs_.source.index(gpu[i], gpus) / per_row;
      const double a = (start[i] - from_) / width;
      const double b = (end[i] - from_) / width;
      for (auto bin = static_cast<std::size_t>(a); bin < bins && static_cast<double>(bin) < b;
           ++bin) {
        const auto at = static_cast<double>(bin);
        busy[row * bins + bin] += std::min(b, at + 1) - std::max(a, at);
      }
    }
    std::vector<std::uint8_t> shares;
    Json groups = Json::array();
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t last = std::min(gpus, (row + 1) * per_row) - 1;
      groups.push_back(Json::array({row * per_row, last}));
      const auto count = static_cast<double>(last - row * per_row + 1);
      for (std::size_t bin = 0; bin < bins; ++bin) {
        const double share = busy[row * bins + bin] / count;
        shares.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(share, 0.0, 1.0) * 255)));
      }
    }
    return {{"mode", "density"},
            {"bins", bins},
            {"rows", std::move(groups)},
            {"busy", packed_column<std::uint8_t>(shares)}};
  }

  std::map<std::string, std::size_t> type_numbers() const {
    std::map<std::string, std::size_t> numbers;
    for (const std::string& type : cluster_.types) numbers.emplace(type, 0);
    std::size_t n = 0;
    for (auto& [type, number] : numbers) number = n++;
    return numbers;
  }

  Json gpus_json() const {
    const auto numbers = type_numbers();
    Json type = Json::array();
    for (const std::string& name : cluster_.types) type.push_back(numbers.at(name));
    Json owners = nullptr;
    if (!cluster_.owners.empty()) {
      owners = Json::array();
      for (const std::string& owner : cluster_.owners) owners.push_back(short_name(owner));
    }
    return {{"node", cluster_.node},
            {"index", cluster_.index},
            {"type", std::move(type)},
            {"owner", std::move(owners)}};
  }

  /// The names of the jobs; null if they are longer than the limit.
  Json names_json(const RunRows& run) const {
    constexpr std::size_t kBlock = 4096;  // a column of texts is as wide as its longest one
    Json names = Json::array();
    std::size_t bytes = 0;
    for (std::size_t first = 0; first < run.rows.count; first += kBlock) {
      const hdf5::RowRange block{run.rows.first + first, std::min(kBlock, run.rows.count - first)};
      for (const std::string& name : runs_.table.texts("job", block)) {
        names.push_back(short_name(name));
        bytes += names.back().get_ref<const std::string&>().size() + 3;
      }
      if (bytes > runs_.limits.name_bytes) return nullptr;
    }
    return names;
  }

  /// Names, clusters and submissions of the jobs, if there are bars to name.
  void add_jobs(Json& out, bool wanted, std::vector<std::string>& reductions) const {
    out["names"] = nullptr;
    out["clusters"] = nullptr;
    out["submit"] = nullptr;
    if (!wanted) return;
    const RunRows& run = runs_.runs.front();
    Json names = names_json(run);
    if (names.is_null()) {
      reductions.emplace_back(
          "The timeline names jobs by their number: all names would be too long.");
    }
    out["names"] = std::move(names);
    const auto submit = runs_.table.reals("submit_s", run.rows);
    out["submit"] = packed_column<double>(submit);
    if (!runs_.table.has_column("cluster")) return;
    std::vector<std::int16_t> clusters;
    for (const std::int64_t cluster : runs_.table.integers("cluster", run.rows)) {
      clusters.push_back(
          static_cast<std::int16_t>(std::clamp<std::int64_t>(cluster, -1, INT16_MAX)));
    }
    out["clusters"] = packed_column<std::int16_t>(clusters);
  }

  const ReportRuns& runs_;
  GpuList cluster_;
  std::vector<std::optional<Lanes>> lanes_;  ///< by policy
  std::map<std::size_t, hdf5::RowRange> episodes_;
  std::size_t replication_ = 0;
  std::size_t jobs_ = 0;
  bool from_runs_ = false;
  double from_ = 0;  ///< span of all policies [s]; from_ >= to_: none yet
  double to_ = 0;
};

}  // namespace

void add_timeline(const ReportRuns& runs, Json& out, std::vector<std::string>& reductions) {
  GpuList cluster = read_gpus(runs);
  out["gpus"] = cluster.size();
  Timeline timeline(runs, std::move(cluster));
  out["timeline"] = timeline.json(reductions);
  out["gpu_types"] = timeline.types_json();
}

}  // namespace corun::inline report
