#include "services/queue_approximation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "services/batch_formula.hpp"
#include "services/queue_formulas.hpp"
#include "services/queue_simulation.hpp"
#include "sim/base/math.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"

namespace corun::inline services {
namespace {

/// Relaxation times that a level must last to count as stationary, and those after which its start is forgotten.
constexpr double kLongEnough = 30;
constexpr double kForgotten = 5;

/// The same service under co-runners that stretch its times.
ServiceQueue stretched(const ServiceQueue& queue, double stretch) {
  std::vector<MeasuredBatch> times(queue.times.measured().begin(), queue.times.measured().end());
  for (MeasuredBatch& time : times) time.mean_s *= stretch;
  return {ServiceTimes(std::move(times)), queue.variation, queue.batching, queue.replicas};
}

/// A law as a record of `requests` requests: each bin gets its probability.
LatencyRecord recorded(const LatencyLaw& law, std::uint64_t requests) {
  constexpr std::size_t kLastBin = 14'000;  // above 200 years
  LatencyRecord record;
  std::uint64_t added = 0;
  for (std::size_t bin = 0; added < requests && bin < kLastBin; ++bin) {
    const Duration begin = LatencyRecord::begin_of(bin);
    const Duration end = LatencyRecord::begin_of(bin + 1);
    const double within = 1 - law.exceeds(to_seconds(end));
    const auto until =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(requests) * within));
    if (until <= added) continue;
    record.add(begin + (end - begin) / 2, until - added);
    added = until;
  }
  record.correct_mean(law.mean_s);
  return record;
}

/// The service of a full batch.
LatencyLaw full_batch(const ServiceQueue& queue) {
  const double mean_s = queue.times.mean_s(queue.batching.largest);
  if (queue.variation == ServiceVariation::kConstant) {
    return {[mean_s](double t_s) { return t_s < mean_s ? 1.0 : 0.0; }, mean_s};
  }
  return {[mean_s](double t_s) { return math::exp(-t_s / mean_s); }, mean_s};
}

/// A span of constant load and stretch.
struct Level {
  Time begin{0};
  Time end{0};
  double per_s = 0;
  double stretch = 1;

  double length_s() const { return to_seconds(end - begin); }
};

std::vector<Level> levels_of(const RequestLoad& load, const StepFunction& stretch) {
  std::vector<Level> levels;
  std::size_t i = 0;
  std::size_t j = 0;
  for (Time now{0}; now < load.end;) {
    const Time end = std::min({load.per_s.end_of(i), stretch.end_of(j), load.end});
    levels.push_back({now, end, load.per_s.steps()[i].value, stretch.steps()[j].value});
    if (load.per_s.end_of(i) == end) ++i;
    if (stretch.end_of(j) == end) ++j;
    now = end;
  }
  return levels;
}

class Approximation {
 public:
  Approximation(const ServiceQueue& queue, Spacing spacing, const ApproximationOptions& options)
      : queue_(queue), spacing_(spacing), options_(options) {
    approximated_.result.replicas = queue.replicas;
  }

  ApproximatedQueue run(const std::vector<Level>& levels) {
    double all = 0;
    bool formulas = true;
    for (const Level& level : levels) {
      const double requests = level.per_s * level.length_s();
      requests_at_[{level.per_s, level.stretch}] += requests;
      all += requests;
      const double capacity = capacity_per_s(queue_, level.stretch);
      formulas = formulas && (level.per_s >= kMostStationary * capacity ||
                              has_formula(queue_, level.per_s * level.stretch, spacing_));
    }
    if (!formulas && all <= static_cast<double>(options_.most_simulated)) {
      changing_ = levels;
      flush();
      return std::move(approximated_);
    }
    double backlog = 0;  // requests, of the fluid
    bool changing = false;
    for (const Level& level : levels) {
      const double capacity = capacity_per_s(queue_, level.stretch);
      const double relax_s = relaxation_s(level);
      // How long the level takes to forget what was before it.
      const double drain_s = backlog > 0 ? backlog / std::max(1e-300, capacity - level.per_s) : 0;
      const double settle_s = changing ? drain_s + kForgotten * relax_s : 0;
      if (level.per_s <= kMostStationary * capacity &&
          settle_s + kLongEnough * relax_s <= level.length_s()) {
        const Time settled = level.begin + from_seconds(settle_s);
        if (changing) changing_.push_back({level.begin, settled, level.per_s, level.stretch});
        flush();
        stationary({settled, level.end, level.per_s, level.stretch}, level.per_s);
        before_ = level;
        has_before_ = true;
        backlog = 0;
        changing = false;
      } else {
        changing_.push_back(level);
        backlog = std::max(0.0, backlog + (level.per_s - capacity) * level.length_s());
        changing = true;
      }
    }
    flush();
    return std::move(approximated_);
  }

 private:
  /// The relaxation time of the number of batches present, as in M/M/1 with the service rate of all replicas (Cohen,
  /// "The Single Server Queue", 1982): 1 / (rate (1 - sqrt(utilisation))^2), and one service and one wait of a batch.
  double relaxation_s(const Level& level) const {
    const double capacity = capacity_per_s(queue_, level.stretch);
    const double batch_s = queue_.times.mean_s(queue_.batching.largest) * level.stretch;
    const double utilised = std::min(level.per_s / capacity, 0.9999);
    const double distance = 1 - std::sqrt(utilised);
    double formed_s = (queue_.batching.largest - 1) / std::max(level.per_s, 1e-9);
    if (queue_.batching.longest_wait != kNever) {
      formed_s = std::min(formed_s, to_seconds(queue_.batching.longest_wait));
    }
    return batch_s / queue_.replicas / (distance * distance) + batch_s + formed_s;
  }

  std::uint64_t expected(const Level& level) {
    expected_ += level.per_s * level.length_s();
    const auto until = static_cast<std::uint64_t>(std::llround(expected_));
    return until - std::exchange(told_, until);
  }

  void count(Method method, std::uint64_t requests) {
    approximated_.requests[static_cast<std::size_t>(method)] += requests;
  }

  /// The requests of a level, with the latencies of a stationary queue at the rate `per_s`.
  void stationary(const Level& level, double per_s) {
    const std::uint64_t requests = expected(level);
    if (level.per_s == 0) {
      approximated_.result.span += level.end - level.begin;
      return;
    }
    auto found = known_.find({per_s, level.stretch});
    if (found == known_.end()) {
      ApproximationOptions options = options_;
      const double at_level = requests_at_[{per_s, level.stretch}];
      options.most_sampled = std::min(options.most_sampled, static_cast<std::uint64_t>(at_level));
      StationaryQueue stationary =
          stationary_queue(stretched(queue_, level.stretch), per_s, spacing_, options);
      found = known_.emplace(std::pair{per_s, level.stretch}, std::move(stationary)).first;
    }
    approximated_.result.add_scaled(found->second.result, level.end - level.begin, requests);
    count(found->second.method, requests);
  }

  void flush() {
    double requests = 0;
    for (const Level& level : changing_) requests += level.per_s * level.length_s();
    if (requests <= static_cast<double>(options_.most_simulated - simulated_)) {
      simulate();
    } else {
      flow();
    }
    changing_.clear();
  }

  /// Simulates the changing levels, after as much of the level before them as is remembered.
  void simulate() {
    if (changing_.empty()) return;
    double before_s = 0;
    if (has_before_)
      before_s = std::min(before_.length_s(), 4 * kForgotten * relaxation_s(before_));
    const Duration shift = from_seconds(before_s);
    const Time begin = changing_.front().begin;
    std::vector<Step> rates;
    std::vector<Step> stretches;
    if (shift > Duration::zero()) {
      rates.push_back({Time{0}, before_.per_s});
      stretches.push_back({Time{0}, before_.stretch});
    }
    for (const Level& level : changing_) {
      rates.push_back({level.begin - begin + shift, level.per_s});
      stretches.push_back({level.begin - begin + shift, level.stretch});
      expected(level);
    }
    const Time end = changing_.back().end - begin + shift;
    const std::array<std::uint32_t, 3> names{static_cast<std::uint32_t>(options_.entity),
                                             static_cast<std::uint32_t>(options_.entity >> 32),
                                             ++pieces_};
    const std::uint64_t entity = hash_entity(names);
    LoadRequests source({StepFunction(std::move(rates)), end}, spacing_, options_.seed, entity);
    QueueSimulation simulation{.seed = options_.seed, .entity = entity};
    simulation.stretch = StepFunction(std::move(stretches));
    simulation.from = shift;
    simulation.until = end;
    const QueueResult result = simulate_queue(queue_, source, simulation);
    approximated_.result.add(result);
    simulated_ += std::min(result.latency.count(), options_.most_simulated - simulated_);
    count(Method::kSimulated, result.latency.count());
  }

  /// The fluid: in a slice of a level its requests wait for the mean backlog there, then are served in full batches
  /// (half a batch's forming is left out: there is a backlog); without a backlog, as in the stationary queue at most
  /// kMostStationary of capacity.
  void flow() {
    constexpr int kSlices = 64;
    double backlog = 0;
    for (const Level& level : changing_) {
      const double capacity = capacity_per_s(queue_, level.stretch);
      auto known = full_.find(level.stretch);
      if (known == full_.end()) {
        const LatencyLaw law = full_batch(stretched(queue_, level.stretch));
        known = full_.emplace(level.stretch, recorded(law, 1'000'000)).first;
      }
      const LatencyRecord& service = known->second;
      for (int slice = 0; slice < kSlices; ++slice) {
        const Duration length = level.end - level.begin;
        Level part = level;
        part.begin = level.begin + length / kSlices * slice;
        part.end = slice + 1 == kSlices ? level.end : level.begin + length / kSlices * (slice + 1);
        const double before = backlog;
        backlog = std::max(0.0, backlog + (level.per_s - capacity) * part.length_s());
        if (before + backlog == 0 || level.per_s == 0) {
          stationary(part, std::min(level.per_s, kMostStationary * capacity));
          continue;
        }
        const std::uint64_t requests = expected(part);
        const Duration wait = from_seconds((before + backlog) / 2 / capacity);
        QueueResult& result = approximated_.result;
        result.latency.add_scaled(service, requests, wait);
        result.span += part.end - part.begin;
        result.busy += GpuTime(from_seconds(part.length_s() * queue_.replicas));
        result.batches += requests / static_cast<std::uint64_t>(queue_.batching.largest);
        count(Method::kFluid, requests);
      }
    }
  }

  const ServiceQueue& queue_;
  const Spacing spacing_;
  const ApproximationOptions& options_;
  ApproximatedQueue approximated_;
  std::map<std::pair<double, double>, StationaryQueue> known_;  ///< by load and stretch
  std::map<std::pair<double, double>, double> requests_at_;     ///< the same
  std::map<double, LatencyRecord> full_;  ///< services of full batches, by stretch
  std::vector<Level> changing_;  ///< levels in which the queue changes over time, not yet added
  Level before_;                 ///< the last stationary level
  bool has_before_ = false;
  double expected_ = 0;          ///< requests of all levels so far
  std::uint64_t told_ = 0;       ///< of them, given out by expected()
  std::uint64_t simulated_ = 0;  ///< requests
  std::uint32_t pieces_ = 0;     ///< simulated
};

}  // namespace

std::string_view name_of(Method method) {
  switch (method) {
    case Method::kFormula:
      return "formula";
    case Method::kSample:
      return "sample";
    case Method::kSimulated:
      return "simulation";
    case Method::kFluid:
      return "fluid";
  }
  return "";
}

bool has_formula(const ServiceQueue& queue, double per_s, Spacing spacing) {
  if (spacing != Spacing::kPoisson) return false;
  if (queue.batching.largest == 1) {
    return queue.variation == ServiceVariation::kExponential ||
           queue.replicas <= kMostConstantServers;
  }
  return queue.batching.longest_wait == Duration::zero() && batch_law_holds(queue, per_s);
}

StationaryQueue stationary_queue(const ServiceQueue& queue, double per_s, Spacing spacing,
                                 const ApproximationOptions& options) {
  check(queue);
  StationaryQueue stationary;
  const double service_s = queue.times.mean_s(queue.batching.largest);
  const double utilised = per_s / capacity_per_s(queue);
  if (options.use_formulas && has_formula(queue, per_s, spacing)) {
    constexpr std::uint64_t kRequests = 10'000'000;
    QueueResult& result = stationary.result;
    result.span = from_seconds(kRequests / per_s);
    result.replicas = queue.replicas;
    double busy = utilised;
    result.batches = kRequests;
    if (queue.batching.largest > 1) {
      BatchLaw law = batch_law(queue, per_s, kRequests);
      result.latency = std::move(law.latency);
      result.batches = static_cast<std::uint64_t>(std::llround(kRequests / law.mean_batch));
      busy = law.utilisation;
    } else {
      result.latency = recorded(queue.variation == ServiceVariation::kExponential
                                    ? exponential_servers(per_s, service_s, queue.replicas)
                                    : constant_servers(per_s, service_s, queue.replicas),
                                kRequests);
    }
    result.busy = from_seconds(busy * queue.replicas * kRequests / per_s);
    return stationary;
  }
  // The variance of the mean of n latencies of M/M/1 is about 7 / (1 - utilisation)^2 / n of the squared mean (Whitt,
  // "Planning queueing simulations for comparing systems", 1989), in heavy traffic in proportion to the sum of the
  // squared coefficients of variation of arrivals and services, 2. Here batches are served: of their arrivals the
  // coefficient is 1 / batch. This n gives a standard error of 1.5 %.
  const double batch = queue.batching.largest;
  const double variation = 1 / batch + (queue.variation == ServiceVariation::kExponential ? 1 : 0);
  const double idle = std::max(1 - utilised, 0.01);
  const double requests = std::clamp(16'000 * batch * variation / (idle * idle), 1e5,
                                     std::max(1e5, static_cast<double>(options.most_sampled)));
  const double span_s = requests / per_s;
  const RequestLoad load = constant_load(per_s, from_seconds(span_s * 1.05));
  LoadRequests source(load, spacing, options.seed, options.entity);
  QueueSimulation simulation{.seed = options.seed, .entity = options.entity};
  simulation.from = from_seconds(span_s * 0.05);
  simulation.until = load.end;
  stationary.method = Method::kSample;
  stationary.result = simulate_queue(queue, source, simulation);
  return stationary;
}

ApproximatedQueue approximate_queue(const ServiceQueue& queue, const RequestLoad& load,
                                    Spacing spacing, const ApproximationOptions& options) {
  check(queue);
  for (const Step& step : options.stretch.steps()) {
    if (step.value > 0) continue;
    throw InputError("stretch by co-runners", "found 0, expected a factor above 0; correct it");
  }
  return Approximation(queue, spacing, options).run(levels_of(load, options.stretch));
}

}  // namespace corun::inline services
