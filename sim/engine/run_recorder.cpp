#include "sim/engine/run_recorder.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/error.hpp"

namespace corun::inline sim {

RunRecorder::RunRecorder(std::size_t jobs, int gpu_count, RunSink* sink) : sink_(sink) {
  record_.gpu_count = gpu_count;
  if (sink_ == nullptr) record_.jobs.resize(jobs);
}

void RunRecorder::add(JobId job, const JobRecord& record) {
  if (sink_ != nullptr) {
    sink_->job(job, record);
  } else {
    record_.jobs[index(job)] = record;
  }
}

void RunRecorder::add(EpisodeRecord episode, std::vector<GpuId> gpus) {
  episode.gpu = std::ranges::min(gpus);
  gangs_.push_back({episodes_.size(), std::move(gpus)});
  episodes_.push_back(std::move(episode));
}

void RunRecorder::hand_over() {
  auto gang = gangs_.begin();
  for (std::size_t e = 0; e < episodes_.size(); ++e) {
    EpisodeRecord& episode = episodes_[e];
    std::span<const GpuId> gpus(&episode.gpu, 1);
    const bool of_gang = gang != gangs_.end() && gang->at == e;
    if (of_gang) gpus = (gang++)->gpus;
    if (sink_ != nullptr) {
      sink_->episodes(episode, gpus);
      spare_lists_.push_back(std::move(episode.jobs));
    } else if (of_gang) {
      keep(episode, gpus);
    } else {
      check_room(1);
      record_.episodes.push_back(std::move(episode));
    }
  }
  episodes_.clear();
  gangs_.clear();
  record_.probes.insert(record_.probes.end(), probes_.begin(), probes_.end());
  probes_.clear();
}

void RunRecorder::keep(EpisodeRecord episode, std::span<const GpuId> gang) {
  check_room(gang.size());
  const GpuId primary = episode.gpu;
  for (const GpuId g : gang) {
    episode.gpu = g;
    episode.primary = g == primary;
    record_.episodes.push_back(episode);
  }
}

void RunRecorder::check_room(std::size_t more) const {
  if (record_.episodes.size() + more <= kMostEpisodes) return;
  throw InputError(
      "more than 20,000,000 rows of /episodes in one run: each run of a gang has one for each of "
      "its "
      "GPUs; leave --output away, or replay fewer jobs");
}

std::vector<JobId> RunRecorder::empty_list() {
  if (spare_lists_.empty()) return {};
  std::vector<JobId> list = std::move(spare_lists_.back());
  spare_lists_.pop_back();
  list.clear();
  return list;
}

RunRecord RunRecorder::take() {
  hand_over();
  return std::move(record_);
}

}  // namespace corun::inline sim
