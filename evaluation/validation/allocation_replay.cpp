#include "evaluation/validation/allocation_replay.hpp"

#include <algorithm>

namespace corun::inline evaluation {

std::vector<double> round_starts(const RoundWorkload& workload, const RoundRun& run, double round_s,
                                 RunDraw draw) {
  const std::vector<int> starts = starts_by_round(run);
  std::vector<double> begins;
  double end = 0;
  for (std::size_t k = 0; k < run.rounds.size(); ++k) {
    double arrival = 0;
    for (const Placed& placed : run.rounds[k]) {
      arrival = std::max(arrival, workload.jobs[placed.job].arrival_s);
    }
    begins.push_back(k == 0 ? arrival + draw.first_delay_s : std::max(end, arrival));
    end = begins.back() + draw.next_round_s(round_s, starts[k]);
  }
  begins.push_back(end);
  return begins;
}

AllocationReplay replay_allocations(const RoundWorkload& workload, const RoundRun& run,
                                    const RunParameters& p, const RunDraw& draw, double limit) {
  const std::vector<double> begins = round_starts(workload, run, p.round_s, draw);
  std::vector<std::vector<bool>> starts(run.jobs.size());
  for (std::size_t k = 0; k < run.rounds.size(); ++k) {
    for (const Placed& placed : run.rounds[k]) {
      starts[placed.job].push_back(!continues(run, k, placed));
    }
  }
  AllocationReplay replay;
  for (std::size_t j = 0; j < run.jobs.size(); ++j) {
    ExecutingJob job(workload, j, p, draw.job_factor[j], limit);
    const std::vector<std::size_t>& rounds = run.rounds_of[j];
    std::optional<double> end;
    std::size_t used = 0;
    while (!end && used < rounds.size()) {
      const std::size_t k = rounds[used];
      end = job.run_round(begins[k + 1] - begins[k], starts[j][used]);
      if (end) end = begins[k] + *end;
      ++used;
    }
    const double last_end = begins[rounds.back() + 1];
    for (double begin = last_end; !end; begin += p.round_s, ++used) {
      end = job.run_round(p.round_s, false);
      if (end) end = begin + *end;
    }
    const double finish = std::clamp(*end, begins[rounds.back()], last_end);
    const double arrival = workload.jobs[j].arrival_s;
    replay.own_finish_s.push_back(*end);
    replay.finish_s.push_back(std::max(finish + draw.end_shift_s[j], arrival + 1));
    replay.rounds_ratio.push_back(static_cast<double>(used) / static_cast<double>(rounds.size()));
  }
  return replay;
}

}  // namespace corun::inline evaluation
