#include "sim/engine/run_recorder.hpp"

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

void RunRecorder::hand_over() {
  for (EpisodeRecord& episode : episodes_) {
    if (sink_ != nullptr) {
      sink_->episode(episode);
      spare_lists_.push_back(std::move(episode.jobs));
    } else {
      record_.episodes.push_back(std::move(episode));
    }
  }
  episodes_.clear();
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
