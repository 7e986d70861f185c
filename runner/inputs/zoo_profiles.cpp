#include "runner/inputs/zoo_profiles.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "predictors/tables/zoo_jobs.hpp"
#include "runner/inputs/job_forecast.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {

std::size_t predict_zoo_profiles(Trace& trace, const GpuSpec& type) {
  JobPredictors predictors;
  for (std::size_t t = 0; t < kTargets; ++t) {
    predictors.by_target.at(t) = built_in_predictor(static_cast<Target>(t));
  }
  ZooJobs zoo;
  std::map<std::pair<std::string, double>, Profile> known;
  std::size_t jobs = 0;
  for (TraceJob& job : trace.jobs) {
    if (job.zoo_run == nullptr) continue;
    ++jobs;
    const ZooRun& run = *job.zoo_run;
    const auto [at, is_new] = known.try_emplace({run.model, run.batch});
    if (is_new) {
      PredictorJob described = zoo.job(run.model, run.batch, 0, true);
      if (!described.graph) {
        throw InputError(run.place, "column 'zoo' is '" + printable(run.model) +
                                        "', expected a model of the zoo; corun list zoo shows all");
      }
      set_gpu(described.figures, type);
      at->second = profile_of(forecast(predictors, described, type));
    }
    Profile& profile = job.spec.profile;
    const Profile& predicted = at->second;
    if (!profile.gpu_util_pct) profile.gpu_util_pct = predicted.gpu_util_pct;
    if (!profile.mem_alloc_pct) profile.mem_alloc_pct = predicted.mem_alloc_pct;
    if (!profile.mem_used_mib) profile.mem_used_mib = predicted.mem_used_mib;
  }
  return jobs;
}

}  // namespace corun::inline runner
