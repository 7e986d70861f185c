#include "models/elastic/step_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace corun::inline models {

namespace {

std::vector<int> smallest_rotation(std::span<const int> on_nodes) {
  std::vector<int> turned(on_nodes.begin(), on_nodes.end());
  std::vector<int> smallest = turned;
  for (std::size_t turn = 1; turn < turned.size(); ++turn) {
    std::ranges::rotate(turned, turned.begin() + 1);
    smallest = std::min(smallest, turned);
  }
  return smallest;
}

StepTime mix(const StepTime& a, const StepTime& b, double share) {
  return {a.step_s + share * (b.step_s - a.step_s), a.sync_s + share * (b.sync_s - a.sync_s)};
}

}  // namespace

StepTimes::StepTimes(const ProgramOnType& measured) {
  std::map<std::tuple<int, int, double>, std::pair<StepTime, int>> means;
  for (const MeasuredStep& step : measured.placements) {
    const StepTime time{step.step_s, step.sync_s};
    placements_[smallest_rotation(step.on_nodes)].push_back({step.local_batch, time});
    auto& [sum, count] = means[{step.nodes, step.gpus, step.local_batch}];
    sum.step_s += time.step_s;
    sum.sync_s += time.sync_s;
    ++count;
  }
  for (auto& [placement, samples] : placements_) {
    std::ranges::stable_sort(samples, {}, &Sample::local_batch);
  }
  const auto add = [&](int nodes, int gpus, double local_batch, const StepTime& time) {
    points_.push_back({static_cast<double>(nodes), static_cast<double>(gpus), local_batch});
    times_.push_back(time);
    most_nodes_ = std::max(most_nodes_, nodes);
    most_gpus_ = std::max(most_gpus_, gpus);
  };
  for (const auto& [at, mean] : means) {
    const auto& [nodes, gpus, local_batch] = at;
    add(nodes, gpus, local_batch,
        {mean.first.step_s / mean.second, mean.first.sync_s / mean.second});
  }
  for (const MeasuredStep& step : measured.others) {
    add(step.nodes, step.gpus, step.local_batch, {step.step_s, step.sync_s});
  }
  if (points_.empty()) throw std::invalid_argument("no measured steps");
  try {
    all_.emplace(points_);
  } catch (const std::invalid_argument&) {  // all on a plane, as when one node was measured
    all_.reset();
  }
}

StepTime StepTimes::at(std::span<const int> on_nodes, double local_batch) const {
  const auto known = placements_.find(smallest_rotation(on_nodes));
  if (known != placements_.end()) {
    const std::vector<Sample>& samples = known->second;
    const auto above = std::ranges::lower_bound(samples, local_batch, {}, &Sample::local_batch);
    if (above == samples.end()) return samples.back().time;
    if (above == samples.begin() || above->local_batch == local_batch) return above->time;
    const Sample& below = *(above - 1);
    const double width = above->local_batch - below.local_batch;
    return mix(below.time, above->time, (local_batch - below.local_batch) / width);
  }
  int gpus = 0;
  for (const int count : on_nodes) gpus += count;
  return between(static_cast<int>(on_nodes.size()), gpus, local_batch);
}

StepTime StepTimes::between(int nodes, int gpus, double local_batch) const {
  const Triangulation::Point at{static_cast<double>(std::min(nodes, most_nodes_)),
                                static_cast<double>(std::min(gpus, most_gpus_)), local_batch};
  if (all_) {
    if (const auto weights = all_->at(at)) {
      StepTime time;
      for (const Triangulation::Weight& w : *weights) {
        time.step_s += w.weight * times_[w.point].step_s;
        time.sync_s += w.weight * times_[w.point].sync_s;
      }
      return time;
    }
  }
  std::array<double, 3> range{};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto [least, greatest] =
        std::ranges::minmax_element(points_, {}, [d](const auto& p) { return p[d]; });
    range[d] = std::max((*greatest)[d] - (*least)[d], 1e-9);
  }
  std::size_t nearest = 0;
  double nearest_square = std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < points_.size(); ++p) {
    double square = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const double distance = (points_[p][d] - at[d]) / range[d];
      square += distance * distance;
    }
    if (square >= nearest_square) continue;
    nearest = p;
    nearest_square = square;
  }
  return times_[nearest];
}

}  // namespace corun::inline models
