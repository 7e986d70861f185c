#include "results/timeline/run_state.hpp"

#include <optional>

#include <fmt/format.h>

namespace corun::inline results {

namespace {

/// More GPUs than a cluster has.
constexpr std::size_t kMostGpus = 10'000'000;

}  // namespace

bool comes(LogKind kind) {
  return kind == LogKind::kStart || kind == LogKind::kProbe || kind == LogKind::kProfile;
}

std::string RunState::follow(const LogEntry& entry) {
  taken_.clear();
  if (index(entry.job) >= places_.size()) places_.resize(index(entry.job) + 1);
  Place& place = places_[index(entry.job)];
  const auto cannot = [&](std::string_view where) {
    return fmt::format("a job cannot {} that {}", name_of(entry.kind), where);
  };
  if (entry.kind == LogKind::kArrive) {
    if (place != Place::kUnknown) return cannot("arrived before");
    if (!entry.gpus.empty()) return "a job arrives on a GPU, expected none";
    place = Place::kWaiting;
    ++waiting_;
    return "";
  }
  if (place == Place::kUnknown) return cannot("did not arrive before");
  if (place == Place::kGone) return cannot("has ended");
  if (entry.kind == LogKind::kPhase) {
    return place == Place::kRunning ? "" : cannot("is on no GPU");
  }
  if (comes(entry.kind)) {
    if (place == Place::kRunning) return cannot("is on a GPU");
    if (entry.gpus.empty()) return "a job starts without a GPU";
    place = Place::kRunning;
    --waiting_;
    ++running_;
  } else {
    const bool ends = entry.kind == LogKind::kFinish || entry.kind == LogKind::kFail;
    // A live job may fail before it is on a GPU.
    const bool waits = place == Place::kWaiting;
    if (waits && (entry.kind != LogKind::kFail || !entry.gpus.empty())) {
      return cannot("is on no GPU");
    }
    if (!waits && entry.gpus.empty()) return "a job leaves its GPUs, expected which";
    --(waits ? waiting_ : running_);
    if (!ends) ++waiting_;
    place = ends ? Place::kGone : Place::kWaiting;
  }
  for (const GpuId gpu : entry.gpus) {
    if (std::string why = move(gpu, entry.job, comes(entry.kind)); !why.empty()) return why;
  }
  return "";
}

std::string RunState::move(GpuId gpu, JobId job, bool comes) {
  if (index(gpu) >= kMostGpus) {
    return fmt::format("gpu is {}, expected a number below {}", index(gpu), kMostGpus);
  }
  GpuLanes& lanes = gpus_[gpu];
  const std::optional<std::uint32_t> lane = comes ? lanes.come(job) : lanes.leave(job);
  if (!lane) {
    return fmt::format("the job {} GPU {}", comes ? "is already on" : "is not on", index(gpu));
  }
  taken_.push_back(*lane);
  const std::size_t jobs = lanes.residents().size();
  if (comes) {
    busy_ += jobs == 1 ? 1 : 0;
    shared_ += jobs == 2 ? 1 : 0;
  } else {
    busy_ -= jobs == 0 ? 1 : 0;
    shared_ -= jobs == 1 ? 1 : 0;
  }
  return "";
}

}  // namespace corun::inline results
