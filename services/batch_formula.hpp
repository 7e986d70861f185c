#pragma once

#include <cstdint>

#include "services/latency_record.hpp"
#include "services/service_queue.hpp"

/// Latency of a queue whose replicas take what waits, up to the largest batch, as soon as they are idle
/// (Batching::longest_wait 0), with Poisson arrivals, served for ever.
///
/// One replica. When it becomes idle, n requests wait: a Markov chain. It takes b = min(n, largest) of them (with n = 0, the
/// next one that comes), and during their service others come: n' = n - b + A(b), with A(b) Poisson for constant and
/// geometric for exponential service of mean S(b) (Bailey, "On queueing processes with bulk service", JRSS B 16, 1954,
/// with times that depend on the batch). A request that finds m others waiting, in a service that lasts x longer, is
/// served with those at the places of its batch: it waits for x, for the whole batches before its own, and is served in
/// a batch that those who come meanwhile fill up. The latency follows by sums over m, x and the size of its batch. Exact,
/// but for the step of these sums, for the size of batches while a batch that is not full is served and more than a
/// batch waits, and for the cut of the chain at about 1e-7.
///
/// k replicas. While all are busy, one becomes idle after S(b) / k: exponentially distributed for exponential service, exact
/// if S does not depend on b; taken as constant for constant service, as if the replicas became idle in even turns.
/// While some are idle requests do not wait, and as many come as in M/M/k with the service time of one request. The more S
/// depends on b, the worse: with S(16) = 4.75 S(1) the mean is 15 % too high at a utilisation of 0.7. For constant service
/// turns are not even: with two to eight replicas the mean is up to 22 % too low.
namespace corun::inline services {

struct BatchLaw {
  LatencyRecord latency;   ///< of the asked number of requests
  double utilisation = 0;  ///< busy share of the replicas
  double mean_batch = 1;   ///< requests
};

/// Whether batch_law() is within 5 % of the mean and 10 % of the 99th percentile of the simulation for utilisations of 0.1 to
/// 0.9, batches of 1 to 16 and 1 to 8 replicas: with one replica, or with exponential service whose mean is at most 1.5 times as
/// long for the largest batch as for one request (tests/services/queue_approximation_test.cpp).
/// False, too, where the chain would have more than 2,500 states: large batches close to capacity.
bool batch_law_holds(const ServiceQueue& queue, double per_s);

/// 0 < per_s <= 0.97 capacity_per_s(queue); queue.batching.longest_wait is not read.
BatchLaw batch_law(const ServiceQueue& queue, double per_s, std::uint64_t requests);

}  // namespace corun::inline services
