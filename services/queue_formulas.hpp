#pragma once

#include <functional>
#include <vector>

/// Latency of a queue with Poisson arrivals that has been served for ever, without batches.
namespace corun::inline services {

/// P(latency > t), and its mean [s].
struct LatencyLaw {
  std::function<double(double t_s)> exceeds;
  double mean_s = 0;
};

/// The probabilities of 0 to n - 1, n >= 1, under a Poisson law; accurate where they are above 1e-300.
std::vector<double> poisson_probabilities(double mean, std::size_t n);

/// M/M/k: exponential service. A request waits with Erlang's C probability, then exponentially with rate
/// k / mean_service_s - per_s; its service follows. Exact. per_s * mean_service_s < k.
LatencyLaw exponential_servers(double per_s, double mean_service_s, int k);

/// The highest utilisation and the most servers for which constant_servers() is meant: a tenth of a second. Time and memory
/// grow as k n^2 and n^2 with n = k + 12 / (1 - utilisation).
inline constexpr double kMostUtilisedConstant = 0.97;
inline constexpr int kMostConstantServers = 100;

/// M/D/k: constant service. Exact but for the end of the distribution of the number in the system, cut off at about
/// 1e-10. That number at times one service apart is a Markov chain (Crommelin 1932): all in service at the first time
/// have left at the second. The wait follows from it (Franx, "A simple solution for the M/D/c waiting time
/// distribution", Operations Research Letters 29, 2001): for (m - 1) D <= x < m D,
///   P(W <= x) = sum over j < m k of Q(m k - 1 - j) Poisson(j; lambda (m D - x)),
/// with Q(i) the probability that at most i requests wait. per_s * service_s <= kMostUtilisedConstant * k and
/// k <= kMostConstantServers.
LatencyLaw constant_servers(double per_s, double service_s, int k);

/// The stationary distribution of a Markov chain with these transition probabilities (n x n, row-major; rows add up
/// to 1) that goes down by `most_down` states at most, by the elimination of Grassmann, Taksar and Heyman (1985), which
/// subtracts nothing. Time n^2 most_down.
std::vector<double> stationary_distribution(std::vector<double> transitions, std::size_t n,
                                            std::size_t most_down);

}  // namespace corun::inline services
