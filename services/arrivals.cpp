#include "services/arrivals.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sim/error.hpp"
#include "sim/rng.hpp"

namespace corun::inline services {

LoadRequests::LoadRequests(RequestLoad load, Spacing spacing, std::uint64_t seed,
                           std::uint64_t entity)
    : load_(std::move(load)), spacing_(spacing), rng_(seed, Stream::kRequests, entity) {
  left_ = spacing_ == Spacing::kEven ? 0.5 : rng_.exponential(1);
}

std::size_t LoadRequests::next(std::span<Time> out) {
  std::size_t written = 0;
  const auto steps = load_.per_s.steps();
  while (written < out.size() && step_ < steps.size() && steps[step_].begin < load_.end) {
    const Step& step = steps[step_];
    const double length_s = to_seconds(std::min(load_.per_s.end_of(step_), load_.end) - step.begin);
    const double at_s = since_step_s_ + left_ / step.value;  // infinite or NaN without a rate
    if (at_s < length_s) {
      // Rounding may reach the end of the load, where no request arrives.
      out[written++] = std::min(step.begin + from_seconds(at_s), load_.end - Duration{1});
      since_step_s_ = at_s;
      left_ = spacing_ == Spacing::kEven ? 1 : rng_.exponential(1);
    } else {
      left_ = std::max(0.0, left_ - (length_s - since_step_s_) * step.value);
      since_step_s_ = 0;
      ++step_;
    }
  }
  return written;
}

TraceRequests::TraceRequests(std::vector<Time> arrivals, double rate_factor)
    : arrivals_(std::move(arrivals)) {
  if (!(rate_factor >= 1e-6 && rate_factor <= 1e6)) {
    throw InputError("rate factor of a request trace",
                     "found " + std::to_string(rate_factor) + ", expected 1e-6 to 1e6; correct it");
  }
  if (!std::ranges::is_sorted(arrivals_) || (!arrivals_.empty() && arrivals_.front() < Time{0})) {
    throw InputError("a request trace goes back in time or begins before 0 s; sort it by time");
  }
  if (rate_factor == 1) return;
  for (Time& t : arrivals_) {
    t = from_nanoseconds(static_cast<double>(t.count()) / rate_factor);
  }
}

std::size_t TraceRequests::next(std::span<Time> out) {
  const std::size_t count = std::min(out.size(), arrivals_.size() - at_);
  std::copy_n(arrivals_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
  at_ += count;
  return count;
}

RequestLoad load_of(std::span<const Time> arrivals, Duration window) {
  if (window <= Duration::zero()) {
    throw InputError("window of a load", "found 0 s or less, expected a time above 0; correct it");
  }
  const Time last = arrivals.empty() ? Time{0} : arrivals.back();
  constexpr std::int64_t kMostWindows = 50'000'000;
  if (last / window >= kMostWindows) {
    throw InputError("window of a load", "it gives more than 5e7 windows; take a longer one");
  }
  std::vector<Step> steps;
  std::size_t at = 0;
  for (std::int64_t i = 0; i <= last / window; ++i) {
    std::size_t count = 0;
    for (; at < arrivals.size() && arrivals[at] < (i + 1) * window; ++at) ++count;
    steps.push_back({i * window, static_cast<double>(count) / to_seconds(window)});
  }
  const Time end = static_cast<std::int64_t>(steps.size()) * window;
  return {StepFunction(std::move(steps)), end};
}

}  // namespace corun::inline services
