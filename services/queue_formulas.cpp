#include "services/queue_formulas.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "sim/base/math.hpp"

namespace corun::inline services {
std::vector<double> poisson_probabilities(double mean, std::size_t n) {
  std::vector<double> p(n);
  // From the mode on both sides, so that a mean of thousands does not underflow at 0. The factor is found last.
  const auto mode = std::min(static_cast<std::size_t>(mean), n - 1);
  p[mode] = 1;
  for (std::size_t i = mode; i > 0; --i) p[i - 1] = p[i] * static_cast<double>(i) / mean;
  for (std::size_t i = mode + 1; i < n; ++i) p[i] = p[i - 1] * mean / static_cast<double>(i);
  if (mean == 0) {
    std::ranges::fill(p, 0.0);
    p[0] = 1;
    return p;
  }
  double log_mode = -mean + static_cast<double>(mode) * math::log(mean);
  for (std::size_t i = 2; i <= mode; ++i) log_mode -= math::log(static_cast<double>(i));
  const double factor = math::exp(log_mode);
  for (double& value : p) value *= factor;
  return p;
}

LatencyLaw exponential_servers(double per_s, double mean_service_s, int k) {
  // Erlang's B formula by its recursion in the number of servers, which neither overflows nor subtracts; then C.
  const double offered = per_s * mean_service_s;
  double blocked = 1;
  for (int n = 1; n <= k; ++n) blocked = offered * blocked / (n + offered * blocked);
  const double idle = 1 - offered / k;
  const double waits = blocked / (idle + (1 - idle) * blocked);
  const double mu = 1 / mean_service_s;
  const double theta = k * mu - per_s;
  const auto exceeds = [=](double t_s) {
    if (t_s <= 0) return 1.0;
    const double service = math::exp(-mu * t_s);
    // Wait and service together, if it waits: a sum of two exponentials.
    const double both = std::fabs(theta - mu) < 1e-6 * mu
                            ? (1 + mu * t_s) * service
                            : (theta * service - mu * math::exp(-theta * t_s)) / (theta - mu);
    return (1 - waits) * service + waits * both;
  };
  return {exceeds, mean_service_s + waits / theta};
}

std::vector<double> stationary_distribution(std::vector<double> transitions, std::size_t n,
                                            std::size_t most_down) {
  const auto at = [&](std::size_t from, std::size_t to) -> double& {
    return transitions[from * n + to];
  };
  for (std::size_t last = n; last-- > 1;) {
    const std::size_t lowest = last > most_down ? last - most_down : 0;
    double leaves = 0;
    for (std::size_t to = lowest; to < last; ++to) leaves += at(last, to);
    for (std::size_t from = 0; from < last; ++from) {
      if (at(from, last) == 0) continue;
      const double through = at(from, last) /= leaves;
      for (std::size_t to = lowest; to < last; ++to) at(from, to) += through * at(last, to);
    }
  }
  std::vector<double> share(n, 0);
  share[0] = 1;
  double sum = 1;
  for (std::size_t to = 1; to < n; ++to) {
    for (std::size_t from = 0; from < to; ++from) share[to] += share[from] * at(from, to);
    sum += share[to];
  }
  for (double& value : share) value /= sum;
  return share;
}

LatencyLaw constant_servers(double per_s, double service_s, int k) {
  const double arrivals = per_s * service_s;  // in one service
  const auto servers = static_cast<std::size_t>(k);
  // Beyond, fewer than 1e-10: the tail falls by e^-2 in 1 / (1 - utilisation) requests.
  const auto n =
      servers + 60 + static_cast<std::size_t>(4 * std::sqrt(arrivals) + 12 / (1 - arrivals / k));
  const std::vector<double> come = poisson_probabilities(arrivals, n);
  std::vector<double> transitions(n * n, 0);
  for (std::size_t from = 0; from < n; ++from) {
    const std::size_t left = from > servers ? from - servers : 0;
    double row = 0;
    for (std::size_t to = left; to + 1 < n; ++to)
      row += transitions[from * n + to] = come[to - left];
    transitions[from * n + n - 1] = std::max(0.0, 1 - row);
  }
  const std::vector<double> present = stationary_distribution(std::move(transitions), n, servers);
  std::vector<double> at_most(n - servers);  // requests wait
  double sum = 0;
  double waiting = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += present[i];
    if (i < servers) continue;
    at_most[i - servers] = sum;
    waiting += present[i] * static_cast<double>(i - servers);
  }
  const auto exceeds = [=, at_most = std::move(at_most)](double t_s) {
    if (t_s < service_s) return 1.0;
    const double x = t_s - service_s;
    const double services = std::floor(x / service_s) + 1;
    const auto terms = static_cast<std::size_t>(services) * servers;
    const std::vector<double> p = poisson_probabilities(per_s * (services * service_s - x), terms);
    double within = 0;
    for (std::size_t j = 0; j < terms; ++j) {
      within += p[j] * at_most[std::min(terms - 1 - j, at_most.size() - 1)];
    }
    return std::clamp(1 - within, 0.0, 1.0);
  };
  return {exceeds, service_s + waiting / per_s};
}

}  // namespace corun::inline services
