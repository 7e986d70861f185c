#include "sim/engine/run_recorder.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

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
    const bool of_gang = gang != gangs_.end() && gang->at == e;
    if (sink_ != nullptr) {
      if (of_gang) {
        sink_->episodes(episode, gang->gpus);
      } else {
        sink_->episode(episode);
      }
      spare_lists_.push_back(std::move(episode.jobs));
    } else if (of_gang) {
      const GpuId primary = episode.gpu;
      for (const GpuId g : gang->gpus) {
        episode.gpu = g;
        episode.primary = g == primary;
        record_.episodes.push_back(episode);
      }
    } else {
      record_.episodes.push_back(std::move(episode));
    }
    if (of_gang) ++gang;
  }
  episodes_.clear();
  gangs_.clear();
  record_.probes.insert(record_.probes.end(), probes_.begin(), probes_.end());
  probes_.clear();
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
