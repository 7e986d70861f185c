#include "traces/generated/synthetic_trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "sim/base/math.hpp"
#include "sim/base/summary.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "traces/csv_reader.hpp"
#include "traces/trace_statistics.hpp"

namespace corun::inline traces {
namespace {

constexpr double kDay = 86400;
constexpr double kPeak = 15.0 / 24;

struct GangShare {
  int gpus;
  double share;
};
constexpr std::array<GangShare, 5> kGangs{{{1, 0.7}, {2, 0.1}, {4, 0.08}, {8, 0.1}, {16, 0.02}}};
constexpr double kMedian = 600;
constexpr double kSigma = 2;
constexpr double kLongest = 30 * kDay;

/// cos(2 pi x), within 4 units of the last place of 1, by Taylor's series up to the power 22 of an angle of at most
/// a quarter turn.
double cosine_of_turns(double x) {
  const double from_whole = std::abs(x - std::nearbyint(x));  // 0 to 1/2: the cosine is even
  const bool obtuse = from_whole > 0.25;
  const double angle = 2 * std::numbers::pi * (obtuse ? 0.5 - from_whole : from_whole);
  double sum = 1;
  for (int power = 22; power > 0; power -= 2) sum = 1 - sum * angle * angle / (power * (power - 1));
  return obtuse ? -sum : sum;
}

/// Steps of the quantile functions: exact ones would store all run times of a long trace twice.
constexpr std::size_t kQuantiles = 1001;

/// Run times by gang size, as logarithms of quantiles.
class RunTimes {
 public:
  explicit RunTimes(const Trace& like) {
    std::map<int, std::vector<double>> by_gang;
    for (const TraceJob& job : like.jobs) {
      by_gang[job.spec.gpus].push_back(math::log(to_seconds(job.spec.work)));
    }
    for (auto& [gpus, logs] : by_gang) {
      std::ranges::sort(logs);
      std::vector<double>& kept = quantiles_[gpus];
      if (logs.size() <= kQuantiles) {
        kept = std::move(logs);
        continue;
      }
      for (std::size_t i = 0; i < kQuantiles; ++i) {
        kept.push_back(quantile(logs, static_cast<double>(i) / (kQuantiles - 1)));
      }
    }
  }

  double draw(int gpus, double uniform) const {
    return math::exp(quantile(quantiles_.at(gpus), uniform));
  }

  /// Integral of the quantile function, by the midpoint rule.
  double mean(int gpus) const {
    constexpr int kSteps = 2000;
    double sum = 0;
    for (int i = 0; i < kSteps; ++i) sum += draw(gpus, (i + 0.5) / kSteps);
    return sum / kSteps;
  }

 private:
  std::map<int, std::vector<double>> quantiles_;
};

double to_milliseconds(double seconds) { return std::round(seconds * 1e3) * 1e-3; }

/// The gaps between arrivals.
class Arrivals {
 public:
  Arrivals(const SyntheticOptions& options, double rate)
      : options_(options), rate_(rate), rng_(options.seed, Stream::kArrivals) {}

  double next() {
    switch (options_.pattern) {
      case ArrivalPattern::kPoisson:
        now_ += rng_.exponential(1 / rate_);
        break;
      case ArrivalPattern::kBursty: {
        const double squared = options_.variation * options_.variation;
        now_ += rng_.gamma(1 / squared) * squared / rate_;
        break;
      }
      case ArrivalPattern::kDiurnal:
        do {
          now_ += rng_.exponential(1 / (rate_ * (1 + options_.amplitude)));
        } while (now_ <= kMaxTimeSeconds &&
                 rng_.uniform() * (1 + options_.amplitude) >= relative_rate(now_));
        break;
    }
    return now_;
  }

 private:
  double relative_rate(double t) const {
    return 1 + options_.amplitude * cosine_of_turns(t / kDay - kPeak);
  }

  const SyntheticOptions& options_;
  double rate_;
  Rng rng_;
  double now_ = 0;
};

/// A job without submit time; without a trace to copy it has only gang and run time.
JobSpec draw_default(const SyntheticOptions& options, std::uint64_t job) {
  Rng choice(options.seed, Stream::kJobChoice, job);
  Rng length(options.seed, Stream::kSoloTimes, job);
  JobSpec spec;
  double left = choice.uniform();
  spec.gpus = kGangs.back().gpus;
  for (const GangShare& gang : kGangs) {
    if (left < gang.share) {
      spec.gpus = gang.gpus;
      break;
    }
    left -= gang.share;
  }
  spec.work = from_seconds(
      to_milliseconds(std::clamp(kMedian * math::exp(kSigma * length.normal()), 1.0, kLongest)));
  return spec;
}

/// Mean of a lognormal that is cut at kLongest and at 1 s, numerically.
double default_mean_work() {
  constexpr int kSteps = 20000;
  constexpr double kWidth = 8;  // standard deviations to each side
  double sum = 0;
  double weight = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double z = kWidth * (2 * (i + 0.5) / kSteps - 1);
    const double density = math::exp(-z * z / 2);
    sum += density * std::clamp(kMedian * math::exp(kSigma * z), 1.0, kLongest);
    weight += density;
  }
  return sum / weight;
}

}  // namespace

double expected_gpu_seconds(const SyntheticOptions& options) {
  if (options.like == nullptr) {
    double gpus = 0;
    for (const GangShare& gang : kGangs) gpus += gang.gpus * gang.share;
    return gpus * default_mean_work();
  }
  const RunTimes times(*options.like);
  std::map<int, double> asked;  // GPUs of all jobs of a gang size
  for (const TraceJob& job : options.like->jobs) {
    asked[job.spec.gpus] += job.spec.gpus * (job.spec.gpu_milli * 1e-3);
  }
  double sum = 0;
  for (const auto& [gpus, all] : asked) sum += all * times.mean(gpus);
  return sum / static_cast<double>(options.like->jobs.size());
}

Trace synthetic_trace(const SyntheticOptions& options) {
  const double rate =
      options.rate.value_or(options.load * options.gpus / expected_gpu_seconds(options));
  Trace trace;
  trace.source = "synthetic";
  trace.jobs.reserve(options.jobs);
  std::optional<RunTimes> times;
  if (options.like != nullptr) {
    times.emplace(*options.like);
    trace.source += ", like " + options.like->source;
    trace.virtual_clusters = options.like->virtual_clusters;
    trace.gpu_model_names = options.like->gpu_model_names;
    trace.reference_type = options.like->reference_type;
    for (const MeasuredType& type : options.like->measured_types) {
      trace.measured_types.push_back({type.name});
    }
  }
  Arrivals arrivals(options, rate);
  for (std::uint32_t i = 0; i < options.jobs; ++i) {
    const double submit_s = arrivals.next();
    if (submit_s > kMaxTimeSeconds) {
      throw InputError("", "job " + std::to_string(i) +
                               " would arrive after 4e9 s, expected all before; ask for fewer jobs "
                               "or more of them per hour");
    }
    TraceJob job;
    if (times) {
      Rng choice(options.seed, Stream::kJobChoice, i);
      Rng length(options.seed, Stream::kSoloTimes, i);
      const auto& pool = options.like->jobs;
      const TraceJob& model = pool[choice.below(static_cast<std::uint32_t>(pool.size()))];
      job.spec = model.spec;
      job.spec.steps = 0;  // they belong to the run time of the copied job
      job.spec.epoch.reset();
      job.spec.work =
          std::max(Duration{1'000'000},
                   from_seconds(to_milliseconds(times->draw(job.spec.gpus, length.uniform()))));
      job.key = model.key;
      job.cluster = model.cluster;
      job.uncertainty = model.uncertainty;
      const double longer = to_seconds(job.spec.work) / to_seconds(model.spec.work);
      for (const JobOnType& on : model.on_types) {
        job.on_types.push_back({scaled_solo_s(on.solo_s, longer), on.memory_mib});
      }
    } else {
      job.spec = draw_default(options, i);
    }
    job.name = std::to_string(i + 1);
    job.spec.submit = from_seconds(to_milliseconds(submit_s));
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

}  // namespace corun::inline traces
