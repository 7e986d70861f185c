#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "services/load.hpp"
#include "sim/rng.hpp"

/// When requests arrive.
namespace corun::inline services {

/// Arrivals in order of time, in pieces, so that memory does not grow with their number.
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  /// Writes the next arrivals to the front of `out`, ascending, and returns their number: less than
  /// out.size() only after the last one.
  virtual std::size_t next(std::span<Time> out) = 0;
};

enum class Spacing {
  kPoisson,  ///< a Poisson process with the load's rate
  kEven,     ///< request i arrives when the load has added up to i + 1/2 requests
};

/// Requests of a load. The draws depend on (seed, entity) alone; `entity` tells services apart.
class LoadRequests : public RequestSource {
 public:
  LoadRequests(RequestLoad load, Spacing spacing, std::uint64_t seed, std::uint64_t entity = 0);
  std::size_t next(std::span<Time> out) override;

 private:
  RequestLoad load_;
  Spacing spacing_;
  Rng rng_;
  std::size_t step_ = 0;
  double since_step_s_ = 0;  ///< of the last arrival, from the begin of the step on
  double left_ = 0;          ///< requests by which the load has to add up until the next arrival
};

/// Requests of a trace.
class TraceRequests : public RequestSource {
 public:
  /// `arrivals` ascend from 0 on (InputError otherwise). All times are divided by `rate_factor`, above 0 and
  /// finite: 2 makes the same requests come twice as fast.
  explicit TraceRequests(std::vector<Time> arrivals, double rate_factor = 1);
  std::size_t next(std::span<Time> out) override;
  /// The last arrival; 0 if there is none.
  Time last() const { return arrivals_.empty() ? Time{0} : arrivals_.back(); }

 private:
  std::vector<Time> arrivals_;
  std::size_t at_ = 0;
};

/// The load of a trace, as its number of requests in windows of equal length: what the approximation needs of it.
/// InputError for a window of 0 s or less, and if there would be more than 5e7 windows.
RequestLoad load_of(std::span<const Time> arrivals, Duration window);

}  // namespace corun::inline services
