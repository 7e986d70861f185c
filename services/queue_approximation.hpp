#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "services/arrivals.hpp"
#include "services/service_queue.hpp"
#include "services/step_function.hpp"

/// Latency over long spans, for which every request need not be simulated.
///
/// The span is cut where the load or the stretch changes. Where a level lasts long enough, its requests experience what
/// those of a queue do that has been served at this level for ever: by a formula, or by a simulation of a sample. Between
/// levels, and where the load exceeds what the replicas can serve, the queue changes over time: such pieces are simulated
/// request by request, or, if these are too many, approximated by a fluid: requests come and leave at their mean rates,
/// and a request waits for the backlog before it. The result says how many requests each method stands for.
namespace corun::inline services {

enum class Method : std::uint8_t {
  kFormula,    ///< the stationary law of queue_formulas.hpp or batch_formula.hpp
  kSample,     ///< a simulated sample of the stationary queue
  kSimulated,  ///< every request, by the event simulation
  kFluid,      ///< the backlog of a fluid
};
inline constexpr std::size_t kMethods = 4;
std::string_view name_of(Method method);

struct ApproximationOptions {
  std::uint64_t seed = 1;    ///< of samples and simulated pieces
  std::uint64_t entity = 0;  ///< tells services apart
  StepFunction stretch{1.0};
  /// Requests that are simulated one by one at most, in pieces that change over time.
  std::uint64_t most_simulated = 5'000'000;
  /// Requests of a sample at most; a level is sampled with no more requests than it has itself, or 10^5.
  std::uint64_t most_sampled = 20'000'000;
  bool use_formulas = true;  ///< false: samples instead
};

struct ApproximatedQueue {
  QueueResult result;  ///< latency.count() is the expected number of requests, rounded
  std::array<std::uint64_t, kMethods> requests{};  ///< by Method
};

/// The stationary queue at one load, as a result of `requests` requests.
struct StationaryQueue {
  Method method = Method::kFormula;
  QueueResult result;
};

/// The highest utilisation (load over capacity_per_s()) that counts as stationary.
inline constexpr double kMostStationary = 0.97;

/// Whether a formula gives the stationary queue: Poisson arrivals, and no batches (queue_formulas.hpp), or batches that
/// wait for no fill where batch_law_holds() (batch_formula.hpp).
bool has_formula(const ServiceQueue& queue, double per_s, Spacing spacing);

/// Latencies of a queue that has been served for ever at `per_s`, above 0 and at most kMostStationary of
/// capacity_per_s(): by a formula, or a simulated sample of 10^5 to most_sampled requests, more the nearer the load is to
/// capacity. Up to 0.9 of capacity the mean of a sample has a standard error of about 2 % or less.
StationaryQueue stationary_queue(const ServiceQueue& queue, double per_s, Spacing spacing,
                                 const ApproximationOptions& options);

/// The requests of a load from 0 to its end. Where some level has no formula and the load has no more requests
/// than most_simulated, all are simulated. InputError as by check(), and for a stretch of 0.
ApproximatedQueue approximate_queue(const ServiceQueue& queue, const RequestLoad& load,
                                    Spacing spacing, const ApproximationOptions& options);

}  // namespace corun::inline services
