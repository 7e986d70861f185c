#include "results/timeline/results_events.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "results/hdf5_table.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline results {

using namespace hdf5;

namespace {

/// The first row that is not before (policy, replication) in a table that is sorted by these.
std::size_t lower_bound(const TableReader& table, std::int64_t policy, std::int64_t replication) {
  std::size_t first = 0;
  std::size_t last = table.rows();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    const std::pair key{table.integers("policy", {middle, 1}).front(),
                        table.integers("replication", {middle, 1}).front()};
    if (key < std::pair{policy, replication}) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

RowRange rows_of_run(const TableReader& table, std::size_t policy, std::int64_t replication) {
  const auto p = static_cast<std::int64_t>(policy);
  const std::size_t first = lower_bound(table, p, replication);
  return {first, lower_bound(table, p, replication + 1) - first};
}

Time time_of(double seconds, const ResultsEvents& events) {
  if (!(seconds >= 0 && seconds * 1e9 < 9.2e18)) events.refuse("a time is out of range");
  return from_seconds(seconds);
}

}  // namespace

ResultsEvents::ResultsEvents(const std::string& path, const RunChoice& choice)
    : path_(printable(path)) {
  const std::lock_guard lock(hdf5_mutex());
  silence_hdf5();
  try {
    read(path, choice);
  } catch (const InputError&) {
    throw;
  } catch (const std::runtime_error& e) {
    std::string why = e.what();
    why = why.substr(0, why.find(" of the results"));  // the rest concerns writing
    throw InputError(path_, "cannot be read as the results of corun replay (" + why + ")");
  }
}

void ResultsEvents::read(const std::string& path, const RunChoice& choice) {
  const Handle file = open_file(path);
  const Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, "open the root");
  const std::string kind = read_text_attribute(root, "kind");
  if (kind != "corun results") {
    throw InputError(path_, "is of the kind '" + printable(kind) +
                                "', which has no events; give the results of corun replay or of "
                                "corun live run");
  }
  if (!has_table(file, "events") || !has_table(file, "gpus") || !has_table(file, "over_time")) {
    throw InputError(path_, "has no table /events: an older corun wrote it; make it again");
  }
  policies_ = TableReader(file, "policies").texts("label");
  if (policies_.empty()) refuse("there is no policy");
  if (!choice.policy.empty()) {
    const auto at = std::ranges::find(policies_, choice.policy);
    if (at == policies_.end()) {
      const std::vector<std::string_view> known(policies_.begin(), policies_.end());
      throw InputError("--policy", fmt::format("no policy '{}' in {}: {}", printable(choice.policy),
                                               path_, did_you_mean(choice.policy, known)));
    }
    policy_ = static_cast<std::size_t>(at - policies_.begin());
  }
  facts_ = {{"policy", policies_[policy_]},
            {"replication", std::to_string(choice.replication)},
            {"results", std::filesystem::path(path).filename().string()},
            {"corun", read_text_attribute(root, "corun_version")},
            {"commit", read_text_attribute(root, "commit")}};
  read_gpus(file);
  read_names(file, choice.replication);
  read_events(file, choice.replication);
  read_utilization(file, choice.replication);
}

void ResultsEvents::read_gpus(hid_t file) {
  constexpr std::int64_t kMost = 10'000'000;  // more than a cluster has
  const TableReader table(file, "gpus");
  const auto node = table.integers("node");
  const auto gpu_of_node = table.integers("gpu_of_node");
  auto type = table.texts("type");
  for (std::size_t g = 0; g < table.rows(); ++g) {
    if (node[g] < 0 || node[g] >= kMost || gpu_of_node[g] < 0) refuse("/gpus is damaged");
    gpus_.push_back({static_cast<std::size_t>(node[g]), static_cast<std::size_t>(gpu_of_node[g]),
                     std::move(type[g])});
  }
}

void ResultsEvents::read_names(hid_t file, std::int64_t replication) {
  // The file has names of one width, the longest one's; in memory each has its own.
  constexpr std::size_t kBlock = 4096;
  const TableReader table(file, "runs");
  const RowRange run = rows_of_run(table, policy_, replication);
  for (std::size_t row = 0; row < run.count; row += kBlock) {
    const RowRange block{run.first + row, std::min(kBlock, run.count - row)};
    for (const std::string& name : table.texts("job", block)) {
      names_ += name;
      name_ends_.push_back(names_.size());
    }
  }
}

void ResultsEvents::read_events(hid_t file, std::int64_t replication) {
  const TableReader table(file, "events");
  left_out_ = read_integer_attribute(table.id(), "left_out");
  const RowRange run = rows_of_run(table, policy_, replication);
  if (table.rows() == 0) {
    throw InputError(path_,
                     "has no events: measure.details was false, or it was interrupted before the "
                     "first replication ended; run it again with --set measure.details=true");
  }
  if (run.count == 0) {
    const std::int64_t there = table.integers("replication", {0, 1}).front();
    throw InputError(
        "--replication",
        fmt::format("{} has the events of replication {} alone; corun replay --replications 1 "
                    "--seed N writes those of another: replication r has the seed of the file + r",
                    path_, there));
  }
  kind_.reserve(run.count);
  for (const double t : table.reals("time_s", run)) time_.push_back(time_of(t, *this));
  if (!std::ranges::is_sorted(time_)) refuse("time goes back");
  for (const std::int64_t k : table.integers("kind", run)) {
    if (k < 0 || k >= static_cast<std::int64_t>(kLogKinds)) refuse("a kind has no name");
    kind_.push_back(static_cast<LogKind>(k));
  }
  for (const std::int64_t j : table.integers("job", run)) {
    if (j < 0 || static_cast<std::size_t>(j) >= jobs()) refuse("a job is not in /runs");
    job_.push_back(JobId{static_cast<std::uint32_t>(j)});
  }
  gpu_ = table.integers("gpu", run);
  for (const std::int64_t g : gpu_) {
    if (g < -1 || g >= static_cast<std::int64_t>(gpus_.size())) refuse("a GPU is not in /gpus");
  }
}

void ResultsEvents::read_utilization(hid_t file, std::int64_t replication) {
  const TableReader table(file, "over_time");
  const RowRange run = rows_of_run(table, policy_, replication);
  const auto start = table.reals("start_s", run);
  const auto end = table.reals("end_s", run);
  const auto value = table.reals("gpu_util", run);
  bool known = false;
  for (std::size_t s = 0; s < start.size(); ++s) {
    known = known || std::isfinite(value[s]);
    utilization_.push_back({time_of(start[s], *this), value[s]});
  }
  // After the last slice there is no use.
  if (known) utilization_.push_back({time_of(end.back(), *this), 0});
  if (!known) utilization_.clear();
}

void ResultsEvents::for_each(const std::function<void(const LogEntry&)>& take) const {
  LogEntry entry;
  for (std::size_t row = 0; row < time_.size();) {
    entry.at = time_[row];
    entry.kind = kind_[row];
    entry.job = job_[row];
    entry.gpus.clear();
    // A gang has a row per GPU.
    for (; row < time_.size() && time_[row] == entry.at && kind_[row] == entry.kind &&
           job_[row] == entry.job;
         ++row) {
      if (gpu_[row] >= 0) entry.gpus.push_back(GpuId{static_cast<std::uint32_t>(gpu_[row])});
    }
    take(entry);
  }
}

std::string_view ResultsEvents::name(JobId job) const {
  const std::size_t j = index(job);
  const std::size_t start = j == 0 ? 0 : name_ends_[j - 1];
  return std::string_view(names_).substr(start, name_ends_[j] - start);
}

void ResultsEvents::refuse(const std::string& why) const {
  throw InputError(path_, "its tables do not fit each other (" + why +
                              "); was it changed by another program? make it again");
}

}  // namespace corun::inline results
