#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <queue>
#include <set>
#include <tuple>
#include <vector>

#include <benchmark/benchmark.h>

#include "sim/engine/event_queue.hpp"
#include "sim/rng.hpp"

/// The event queue against containers of the standard library, in one run, on the same draws.
///
///   hold:  pop the earliest event, schedule it again at now + Exp(mean). The number of pending events
///          never changes (Jones, "An empirical comparison of priority-queue and event-set
///          implementations", CACM 1986).
///   rekey: like hold, and each time one other pending event gets a new time, as completions do when their
///          co-runners change. std::priority_queue cannot do that: it keeps the old entry and drops it when
///          it comes to the top; std::set erases and inserts.
///
/// Every queue orders by (time, kind, sequence) and carries the same 32-byte Event.
namespace {

using corun::Duration;
using corun::Event;
using corun::EventKind;
using corun::EventQueue;
using corun::Time;

constexpr double kMeanNs = 1e12;

/// Draws made in advance, so that no queue is charged for them; read cyclically.
class Draws {
 public:
  Draws() : increments_(kSize), picks_(kSize) {
    corun::Rng rng(1, corun::Stream::kTest);
    for (auto& d : increments_) d = Duration{std::llround(rng.exponential(kMeanNs))};
    for (auto& p : picks_) p = rng.next();
  }
  Duration increment() { return increments_[at_++ % kSize]; }
  /// Uniform in {0, ..., n - 1}.
  std::uint32_t pick(std::uint32_t n) {
    return static_cast<std::uint32_t>((std::uint64_t{picks_[at_++ % kSize]} * n) >> 32);
  }
  void rewind() { at_ = 0; }

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 16;
  std::vector<Duration> increments_;
  std::vector<std::uint32_t> picks_;
  std::size_t at_ = 0;
};

Draws& draws() {
  static Draws all;
  all.rewind();
  return all;
}

bool before(const Event& a, const Event& b) {
  return std::tie(a.at, a.kind, a.sequence) < std::tie(b.at, b.kind, b.sequence);
}
struct Before {
  bool operator()(const Event& a, const Event& b) const { return before(a, b); }
};
struct After {
  bool operator()(const Event& a, const Event& b) const { return before(b, a); }
};

// The compared queues: schedule(at, subject), pop() and, if supported, move(subject, at). Every subject has
// exactly one pending event.

class OfCorun {
 public:
  explicit OfCorun(std::uint32_t subjects) : handles_(subjects) {}
  void schedule(Time at, std::uint32_t subject) {
    handles_[subject] = queue_.schedule(at, EventKind::kCompletion, subject);
  }
  Event pop() { return queue_.pop(); }
  void move(std::uint32_t subject, Time at) { queue_.move(handles_[subject], at); }

 private:
  EventQueue queue_;
  std::vector<EventQueue::Handle> handles_;
};

/// std::priority_queue for events that are never moved.
class OfPriorityQueue {
 public:
  explicit OfPriorityQueue(std::uint32_t) {}
  void schedule(Time at, std::uint32_t subject) {
    queue_.push({at, EventKind::kCompletion, sequence_++, subject});
  }
  Event pop() {
    const Event event = queue_.top();
    queue_.pop();
    return event;
  }

 private:
  std::priority_queue<Event, std::vector<Event>, After> queue_;
  std::uint64_t sequence_ = 0;
};

/// Lazy deletion: an entry counts only if it is its subject's latest.
class OfLazyPriorityQueue {
 public:
  explicit OfLazyPriorityQueue(std::uint32_t subjects) : latest_(subjects) {}
  void schedule(Time at, std::uint32_t subject) {
    latest_[subject] = sequence_;
    queue_.push({at, EventKind::kCompletion, sequence_++, subject});
  }
  Event pop() {
    for (;;) {
      const Event event = queue_.top();
      queue_.pop();
      if (latest_[event.subject] == event.sequence) return event;
    }
  }
  void move(std::uint32_t subject, Time at) { schedule(at, subject); }

 private:
  std::priority_queue<Event, std::vector<Event>, After> queue_;
  std::vector<std::uint64_t> latest_;
  std::uint64_t sequence_ = 0;
};

class OfSet {
 public:
  explicit OfSet(std::uint32_t subjects) : places_(subjects) {}
  void schedule(Time at, std::uint32_t subject) {
    places_[subject] = queue_.insert({at, EventKind::kCompletion, sequence_++, subject}).first;
  }
  Event pop() {
    const Event event = *queue_.begin();
    queue_.erase(queue_.begin());
    return event;
  }
  void move(std::uint32_t subject, Time at) {
    queue_.erase(places_[subject]);
    schedule(at, subject);
  }

 private:
  std::set<Event, Before> queue_;
  std::vector<std::set<Event, Before>::iterator> places_;
  std::uint64_t sequence_ = 0;
};

template <typename Queue>
Queue filled(std::uint32_t pending, Draws& draw) {
  Queue queue(pending);
  for (std::uint32_t subject = 0; subject < pending; ++subject) {
    queue.schedule(draw.increment(), subject);
  }
  return queue;
}

template <typename Queue>
Event hold_once(Queue& queue, Draws& draw) {
  const Event event = queue.pop();
  queue.schedule(event.at + draw.increment(), event.subject);
  return event;
}

template <typename Queue>
Event rekey_once(Queue& queue, Draws& draw, std::uint32_t pending) {
  const Event event = hold_once(queue, draw);
  const std::uint32_t other = draw.pick(pending);
  queue.move(other, event.at + draw.increment());
  return event;
}

/// Steps until the initial order has no effect, limited for the largest queue.
std::uint32_t warm_up(std::uint32_t pending) {
  return std::min(4 * pending, std::uint32_t{1000000});
}

template <typename Queue>
void hold(benchmark::State& state) {
  const auto pending = static_cast<std::uint32_t>(state.range(0));
  Draws& draw = draws();
  Queue queue = filled<Queue>(pending, draw);
  for (std::uint32_t i = 0; i < warm_up(pending); ++i) hold_once(queue, draw);
  for (auto _ : state) benchmark::DoNotOptimize(hold_once(queue, draw));
  state.SetItemsProcessed(state.iterations());
}

template <typename Queue>
void rekey(benchmark::State& state) {
  const auto pending = static_cast<std::uint32_t>(state.range(0));
  Draws& draw = draws();
  Queue queue = filled<Queue>(pending, draw);
  for (std::uint32_t i = 0; i < warm_up(pending); ++i) rekey_once(queue, draw, pending);
  for (auto _ : state) benchmark::DoNotOptimize(rekey_once(queue, draw, pending));
  state.SetItemsProcessed(state.iterations());
}

/// Whether two queues pop the same events in the same order: a precondition of the comparison.
template <typename A, typename B, typename Step>
bool same_order(Step step) {
  constexpr std::uint32_t kPending = 1000;
  Draws draw_a;
  Draws draw_b;
  A a = filled<A>(kPending, draw_a);
  B b = filled<B>(kPending, draw_b);
  for (int i = 0; i < 20000; ++i) {
    const Event x = step(a, draw_a, kPending);
    const Event y = step(b, draw_b, kPending);
    if (x.at != y.at || x.subject != y.subject) return false;
  }
  return true;
}

bool all_agree() {
  const auto step_hold = [](auto& q, Draws& d, std::uint32_t) { return hold_once(q, d); };
  const auto step_rekey = [](auto& q, Draws& d, std::uint32_t n) { return rekey_once(q, d, n); };
  return same_order<OfCorun, OfPriorityQueue>(step_hold) && same_order<OfCorun, OfSet>(step_hold) &&
         same_order<OfCorun, OfLazyPriorityQueue>(step_rekey) &&
         same_order<OfCorun, OfSet>(step_rekey);
}

/// A fixed number of steps: filling a million events again for each estimate would take longer.
void sizes(benchmark::internal::Benchmark* b) {
  b->ArgName("pending")->RangeMultiplier(10)->Range(100, 1000000)->Iterations(300000);
}

BENCHMARK(hold<OfCorun>)->Name("hold/corun")->Apply(sizes);
BENCHMARK(hold<OfPriorityQueue>)->Name("hold/priority_queue")->Apply(sizes);
BENCHMARK(rekey<OfCorun>)->Name("rekey/corun")->Apply(sizes);
BENCHMARK(rekey<OfLazyPriorityQueue>)->Name("rekey/priority_queue_lazy")->Apply(sizes);
BENCHMARK(rekey<OfSet>)->Name("rekey/set")->Apply(sizes);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (!all_agree()) {
    std::fprintf(stderr, "event_queue_bench: the queues do not pop the same events\n");
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
