#include "models/interference/remembered_predictions.hpp"

#include <bit>
#include <mutex>

namespace corun::inline models {

RememberedPredictions::Job RememberedPredictions::job_of(const PairJob& job) {
  Job out{job.workload, {}};
  out.second.reserve(job.features.size());
  for (const double x : job.features) out.second.push_back(std::bit_cast<std::uint64_t>(x));
  return out;
}

std::vector<std::uint32_t> RememberedPredictions::numbers_of(std::span<const Job> jobs) const {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(jobs.size());
  for (const Job& job : jobs) {
    const auto at = numbers_.find(job);
    // Jobs of unknown workload are all different, and nobody asks for them again.
    const bool known = at != numbers_.end() && job.first != kUnknownWorkload;
    numbers.push_back(known ? at->second : kNone);
  }
  return numbers;
}

void RememberedPredictions::remember(std::span<const Job> jobs, std::span<const PairQuery> pairs,
                                     std::span<const SpeedPrediction> predicted) {
  const std::unique_lock lock(mutex_);
  const auto number = [&](const Job& job) {
    if (job.first == kUnknownWorkload) return kNone;
    if (const auto at = numbers_.find(job); at != numbers_.end()) return at->second;
    if (numbers_.size() >= kJobsMax) return kNone;
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    numbers_.emplace(job, next);
    return next;
  };
  for (std::size_t q = 0; q < pairs.size() && pairs_.size() < kPairsMax; ++q) {
    const std::uint32_t of = number(jobs[pairs[q].of]);
    const std::uint32_t beside = number(jobs[pairs[q].beside]);
    if (of != kNone && beside != kNone) pairs_.emplace(pair_of(of, beside), predicted[q]);
  }
}

std::vector<SpeedPrediction> RememberedPredictions::predict(const InterferenceModel& model,
                                                            std::span<const PairJob> jobs,
                                                            std::span<const PairQuery> pairs) {
  for (const PairQuery& pair : pairs) {
    if (pair.of >= jobs.size() || pair.beside >= jobs.size()) return model.predict(jobs, pairs);
  }
  std::vector<Job> keys;
  keys.reserve(jobs.size());
  for (const PairJob& job : jobs) keys.push_back(job_of(job));
  std::vector<SpeedPrediction> out(pairs.size());
  std::vector<PairQuery> missing;
  std::vector<std::size_t> places;  // of the missing pairs in `out`
  bool full = false;
  {
    const std::shared_lock lock(mutex_);
    full = pairs_.size() >= kPairsMax;
    const std::vector<std::uint32_t> numbers = numbers_of(keys);
    for (std::size_t q = 0; q < pairs.size(); ++q) {
      const std::uint32_t of = numbers[pairs[q].of];
      const std::uint32_t beside = numbers[pairs[q].beside];
      const auto at =
          of != kNone && beside != kNone ? pairs_.find(pair_of(of, beside)) : pairs_.end();
      if (at != pairs_.end()) {
        out[q] = at->second;
      } else {
        missing.push_back(pairs[q]);
        places.push_back(q);
      }
    }
  }
  if (missing.empty()) return out;
  const std::vector<SpeedPrediction> predicted = model.predict(jobs, missing);
  for (std::size_t m = 0; m < missing.size(); ++m) out[places[m]] = predicted[m];
  if (!full) remember(keys, missing, predicted);
  return out;
}

std::size_t RememberedPredictions::size() const {
  const std::shared_lock lock(mutex_);
  return pairs_.size();
}

}  // namespace corun::inline models
