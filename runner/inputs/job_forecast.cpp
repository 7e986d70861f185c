#include "runner/inputs/job_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "knowledge/knowledge_catalog.hpp"
#include "models/knowledge/knowledge_base.hpp"
#include "runner/inputs/queue_file.hpp"

namespace corun::inline runner {

namespace {

constexpr std::int64_t kMostForecastBatch = 1 << 20;

PredictorJob job_of(const JobQuestion& question, std::int64_t batch, const GpuSpec& gpu) {
  PredictorJob job;
  job.graph = question.graph;
  set_graph(job.figures, *question.graph, static_cast<double>(batch), question.training);
  set_gpu(job.figures, gpu);
  return job;
}

Prediction predict_one(const Predictor& predictor, const PredictorJob& job) {
  return predictor.predict({&job, 1}).front();
}

/// Whether a batch fits; doubling, then halving the gap, as memory grows with the batch.
std::int64_t largest_fitting_batch(const Predictor& memory, const JobQuestion& question,
                                   const GpuSpec& gpu) {
  const auto fits = [&](std::int64_t batch) {
    const PredictorJob job = job_of(question, batch, gpu);
    const Prediction p = predict_one(memory, job);
    return !std::isnan(p.median) && !memory.runs_out(job, p, gpu.memory_mib);
  };
  if (!(gpu.memory_mib > 0) || !fits(1)) return 0;
  std::int64_t good = 1, bad = 2;
  while (bad <= kMostForecastBatch && fits(bad)) {
    good = bad;
    bad *= 2;
  }
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace

JobForecast forecast(const JobPredictors& predictors, const PredictorJob& job, const GpuSpec& gpu) {
  JobForecast out;
  out.gpu = &gpu;
  const Predictor& memory = predictors.of(Target::kMemory);
  out.memory_mib = predict_one(memory, job);
  out.step_ms = predict_one(predictors.of(Target::kTime), job);
  out.utilisation_pct = predict_one(predictors.of(Target::kUtilisation), job);
  if (gpu.memory_mib > 0 && !std::isnan(out.memory_mib.median)) {
    out.fits = !memory.runs_out(job, out.memory_mib, gpu.memory_mib);
  }
  return out;
}

JobForecast forecast(const JobPredictors& predictors, const JobQuestion& question,
                     const GpuSpec& gpu) {
  JobForecast out = forecast(predictors, job_of(question, question.batch, gpu), gpu);
  out.largest_batch = largest_fitting_batch(predictors.of(Target::kMemory), question, gpu);
  return out;
}

Profile profile_of(const JobForecast& forecast) {
  Profile profile;
  if (!std::isnan(forecast.utilisation_pct.median)) {
    profile.gpu_util_pct = forecast.utilisation_pct.median;
  }
  if (!std::isnan(forecast.memory_mib.median)) {
    profile.mem_used_mib = forecast.memory_mib.median;
    if (forecast.gpu->memory_mib > 0) {
      profile.mem_alloc_pct =
          std::min(100.0, 100 * forecast.memory_mib.median / forecast.gpu->memory_mib);
    }
  }
  return profile;
}

std::vector<SharingAdvice> advise_sharing(const JobForecast& forecast, const std::string& queue,
                                          const std::string& kb) {
  const KnowledgeFile knowledge = open_knowledge(kb, "--kb");
  const Trace trace = read_queue(queue);
  const Clusters& clusters = knowledge.kb.clustering();
  const Profile own = profile_of(forecast);
  const int cluster = assign_cluster(clusters, own).cluster;
  const auto mean = [](const Statistic& statistic, double otherwise) {
    return statistic.count() > 0 ? statistic.mean() : otherwise;
  };
  std::vector<SharingAdvice> advice;
  for (const TraceJob& job : trace.jobs) {
    const Profile& profile = job.spec.profile;
    const int other = assign_cluster(clusters, profile).cluster;
    SharingAdvice a;
    a.job = job.name;
    a.isd_of_model = mean(knowledge.kb.isd(cluster, other), knowledge.kb.overall_isd());
    a.isd_of_job = mean(knowledge.kb.isd(other, cluster), knowledge.kb.overall_isd());
    a.ps = mean(knowledge.kb.ps(cluster, other), knowledge.kb.overall_ps());
    if (forecast.gpu->memory_mib > 0 && !std::isnan(forecast.memory_mib.hi)) {
      a.fits =
          forecast.memory_mib.hi + profile.mem_used_mib.value_or(0) <= forecast.gpu->memory_mib;
    }
    advice.push_back(std::move(a));
  }
  std::ranges::stable_sort(advice, {}, [](const SharingAdvice& a) {
    return std::tuple(!a.fits, a.isd_of_model + a.isd_of_job);
  });
  return advice;
}

}  // namespace corun::inline runner
