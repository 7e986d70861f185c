#include "services/batch_formula.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "services/queue_formulas.hpp"
#include "sim/base/math.hpp"

namespace corun::inline services {
namespace {

/// Values in bins of LatencyRecord, with weights that need not be whole numbers.
class WeightedLatencies {
 public:
  void add(double latency_s, double weight) {
    const std::size_t bin = LatencyRecord::bin_of(from_seconds(latency_s));
    if (bin >= weights_.size()) weights_.resize(bin + 1, 0);
    weights_[bin] += weight;
    total_ += weight;
    sum_ += weight * latency_s;
  }

  LatencyRecord record(std::uint64_t requests) const {
    LatencyRecord record;
    double seen = 0;
    std::uint64_t added = 0;
    for (std::size_t bin = 0; bin < weights_.size(); ++bin) {
      seen += weights_[bin];
      const bool last = bin + 1 == weights_.size();
      const auto until =
          last ? requests
               : std::min(requests, static_cast<std::uint64_t>(std::llround(
                                        seen / total_ * static_cast<double>(requests))));
      if (until <= added) continue;
      const Duration begin = LatencyRecord::begin_of(bin);
      record.add(begin + (LatencyRecord::begin_of(bin + 1) - begin) / 2, until - added);
      added = until;
    }
    record.correct_mean(sum_ / total_);
    return record;
  }

 private:
  std::vector<double> weights_;
  double total_ = 0;
  double sum_ = 0;
};

/// States of the chain: the number waiting falls by e^-16 within the last term (heavy traffic: coefficients of variation
/// of batches' arrivals and services).
double states_of(const ServiceQueue& queue, double per_s) {
  const double idle = 1 - per_s / capacity_per_s(queue);
  const double batch = queue.batching.largest;
  const double variation = 1 / batch + (queue.variation == ServiceVariation::kExponential ? 1 : 0);
  const double longest_turn = per_s * queue.times.mean_s(queue.batching.largest) / queue.replicas;
  return 60 + 4 * batch + 4 * std::sqrt(longest_turn) + 16 * batch * variation / (2 * idle);
}

class BatchChain {
 public:
  BatchChain(const ServiceQueue& queue, double per_s)
      : queue_(queue),
        per_s_(per_s),
        largest_(static_cast<std::size_t>(queue.batching.largest)),
        exponential_(queue.variation == ServiceVariation::kExponential) {}

  BatchLaw law(std::uint64_t requests) {
    solve();
    // Requests, batches and their work of one turn, from a replica that becomes idle to the next.
    const double mu = 1 / service_s(1);
    double until_busy_s = 1 / per_s_;
    for (int busy = 1; busy < queue_.replicas; ++busy) {
      until_busy_s = (1 + busy * mu * until_busy_s) / per_s_;
    }
    const double come_idle = per_s_ * until_busy_s;
    double come = 0;
    double batches = 0;
    double work_s = 0;
    for (std::size_t n = 0; n < waiting_.size(); ++n) {
      const std::size_t batch = batch_of(n);
      const double started = n == 0 ? come_idle : 1;
      come += waiting_[n] * ((n == 0 ? come_idle : 0) + per_s_ * turn_s(batch));
      batches += waiting_[n] * started;
      work_s += waiting_[n] * started * service_s(batch);
    }
    served(0, 1, waiting_[0] * come_idle);
    exponential_ ? exponential_waits() : constant_waits();
    return {latencies_.record(requests), per_s_ * work_s / come / queue_.replicas, come / batches};
  }

 private:
  double service_s(std::size_t batch) const { return queue_.times.mean_s(static_cast<int>(batch)); }
  double turn_s(std::size_t batch) const { return service_s(batch) / queue_.replicas; }
  std::size_t batch_of(std::size_t n) const { return std::clamp<std::size_t>(n, 1, largest_); }

  /// waiting_: how often n requests wait when a replica becomes idle.
  void solve() {
    const auto n = static_cast<std::size_t>(states_of(queue_, per_s_));
    std::vector<std::vector<double>> come(largest_ + 1);
    for (std::size_t b = 1; b <= largest_; ++b) {
      const double mean = per_s_ * turn_s(b);
      if (!exponential_) {
        come[b] = poisson_probabilities(mean, n);
        continue;
      }
      come[b].resize(n);
      double p = 1 / (1 + mean);
      for (double& value : come[b]) {
        value = p;
        p *= mean / (1 + mean);
      }
    }
    std::vector<double> transitions(n * n, 0);
    for (std::size_t from = 0; from < n; ++from) {
      const std::size_t b = batch_of(from);
      const std::size_t left = from > b ? from - b : 0;
      double row = 0;
      for (std::size_t to = left; to + 1 < n; ++to) {
        row += transitions[from * n + to] = come[b][to - left];
      }
      transitions[from * n + n - 1] = std::max(0.0, 1 - row);
    }
    waiting_ = stationary_distribution(std::move(transitions), n, largest_);
  }

  /// Requests that wait for `wait_s`, are served in a batch of this size, and have this weight.
  void served(double wait_s, std::size_t batch, double weight) {
    const double mean_s = service_s(batch);
    if (!exponential_) {
      latencies_.add(wait_s + mean_s, weight);
      return;
    }
    // Cells of a quarter of the mean, each at its conditional mean.
    constexpr double kCell = 0.25;
    constexpr int kCells = 56;
    const double cell = math::exp(-kCell);
    const double inside = 1 - kCell * cell / (1 - cell);  // of a cell, from its begin
    double above = weight;
    for (int i = 0; i < kCells; ++i) {
      latencies_.add(wait_s + mean_s * (i * kCell + inside), above * (1 - cell));
      above *= cell;
    }
    latencies_.add(wait_s + mean_s * (kCells * kCell + 1), above);
  }

  /// Requests at these places of a batch that starts after `wait_s`: others fill it up.
  void filled(double wait_s, const double* weight_of_place, double factor) {
    const std::vector<double> come = poisson_probabilities(per_s_ * wait_s, largest_);
    double full = 0;
    std::vector<double> of_size(largest_ + 1, 0);
    for (std::size_t place = 1; place <= largest_; ++place) {
      const double weight = weight_of_place[place] * factor;
      if (weight == 0) continue;
      double partial = 0;
      for (std::size_t size = place; size < largest_; ++size) {
        of_size[size] += weight * come[size - place];
        partial += come[size - place];
      }
      full += weight * std::max(0.0, 1 - partial);
    }
    of_size[largest_] = full;
    for (std::size_t size = 1; size <= largest_; ++size) {
      if (of_size[size] > 0) served(wait_s, size, of_size[size]);
    }
  }

  /// Exponential turns: the l-th request of a turn comes with probability r^l, whatever is left of the turn, which is
  /// exponential again.
  void exponential_waits() {
    const std::size_t most_turns = waiting_.size() / largest_ + 40;
    const std::size_t places = largest_ + 1;
    std::vector<double> first(places * places, 0);  // of batch in service and place: next turn
    std::vector<double> later((most_turns + 1) * places, 0);  // of turns and place
    for (std::size_t n = 0; n < waiting_.size(); ++n) {
      const std::size_t b = batch_of(n);
      const std::size_t left = n > b ? n - b : 0;
      const double mean = per_s_ * turn_s(b);
      double weight = waiting_[n];
      for (std::size_t l = 1;; ++l) {
        weight *= mean / (1 + mean);
        if (weight < 1e-12) break;
        const std::size_t turns = (left + l + largest_ - 1) / largest_;
        if (turns > most_turns) break;
        const std::size_t place = left + l - (turns - 1) * largest_;
        (turns == 1 ? first[b * places + place] : later[turns * places + place]) += weight;
      }
    }
    for (std::size_t b = 1; b <= largest_; ++b) erlang(1, turn_s(b), &first[b * places]);
    for (std::size_t turns = 2; turns <= most_turns; ++turns) {
      erlang(turns, turn_s(largest_), &later[turns * places]);
    }
  }

  /// Waits of so many exponential turns.
  void erlang(std::size_t turns, double mean_s, const double* weight_of_place) {
    if (std::all_of(weight_of_place, weight_of_place + largest_ + 1,
                    [](double w) { return w < 1e-11; })) {
      return;
    }
    constexpr int kPoints = 96;
    const auto shape = static_cast<double>(turns);
    const double least = std::max(0.0, shape - 6 * std::sqrt(shape));
    const double step = (shape + 8 * std::sqrt(shape) + 6 - least) / kPoints;
    std::vector<double> density(kPoints);
    double sum = 0;
    double centre = 0;
    for (int i = 0; i < kPoints; ++i) {
      const double x = least + (i + 0.5) * step;
      density[static_cast<std::size_t>(i)] =
          math::exp((shape - 1) * math::log(x / shape) - (x - shape));
      sum += density[static_cast<std::size_t>(i)];
      centre += density[static_cast<std::size_t>(i)] * x;
    }
    const double scale = shape * sum / centre;  // so that the mean is that of the law
    for (int i = 0; i < kPoints; ++i) {
      const double x = (least + (i + 0.5) * step) * scale;
      filled(x * mean_s, weight_of_place, density[static_cast<std::size_t>(i)] / sum);
    }
  }

  /// Constant turns: of the requests that come when x is left of a turn of length g, the l-th has the Poisson
  /// probability of l - 1 in g - x.
  void constant_waits() {
    constexpr int kPoints = 48;
    const std::size_t most_turns = waiting_.size() / largest_ + 40;
    const std::size_t places = largest_ + 1;
    std::vector<double> weights;
    for (std::size_t b = 1; b <= largest_; ++b) {
      const double length_s = turn_s(b);
      for (int i = 0; i < kPoints; ++i) {
        const double left_s = (i + 0.5) / kPoints * length_s;
        const std::vector<double> before = poisson_probabilities(
            per_s_ * (length_s - left_s),
            static_cast<std::size_t>(per_s_ * length_s + 12 * std::sqrt(per_s_ * length_s) + 20));
        const double come = per_s_ * length_s / kPoints;
        weights.assign((most_turns + 1) * places, 0);
        const std::size_t last = b == largest_ ? waiting_.size() - 1 : b;
        for (std::size_t n = b == 1 ? 0 : b; n <= last; ++n) {
          const std::size_t left = n > b ? n - b : 0;
          if (waiting_[n] < 1e-13) continue;
          for (std::size_t l = 1; l <= before.size(); ++l) {
            const std::size_t turns = (left + l + largest_ - 1) / largest_;
            if (turns > most_turns) break;
            weights[turns * places + left + l - (turns - 1) * largest_] +=
                waiting_[n] * before[l - 1] * come;
          }
        }
        for (std::size_t turns = 1; turns <= most_turns; ++turns) {
          const double* of_place = &weights[turns * places];
          if (std::all_of(of_place, of_place + places, [](double w) { return w < 1e-12; }))
            continue;
          const double whole_s = static_cast<double>(turns - 1) * turn_s(largest_);
          filled(left_s + whole_s, of_place, 1);
        }
      }
    }
  }

  const ServiceQueue& queue_;
  const double per_s_;
  const std::size_t largest_;
  const bool exponential_;
  std::vector<double> waiting_;
  WeightedLatencies latencies_;
};

}  // namespace

bool batch_law_holds(const ServiceQueue& queue, double per_s) {
  constexpr double kMostStates = 2500;
  constexpr double kMostSpread = 1.5;
  if (!(states_of(queue, per_s) <= kMostStates)) return false;
  if (queue.replicas == 1) return true;
  return queue.variation == ServiceVariation::kExponential &&
         queue.times.mean_s(queue.batching.largest) <= kMostSpread * queue.times.mean_s(1);
}

BatchLaw batch_law(const ServiceQueue& queue, double per_s, std::uint64_t requests) {
  return BatchChain(queue, per_s).law(requests);
}

}  // namespace corun::inline services
