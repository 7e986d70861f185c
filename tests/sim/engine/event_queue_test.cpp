#include "sim/engine/event_queue.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::event_queue_test {
namespace {

using namespace std::chrono_literals;

std::vector<std::uint32_t> drain(EventQueue& queue) {
  std::vector<std::uint32_t> subjects;
  while (!queue.empty()) subjects.push_back(queue.pop().subject);
  return subjects;
}

TEST(EventQueue, TimeThenKindThenOrderOfScheduling) {
  EventQueue queue;
  queue.schedule(2s, EventKind::kTimer, 0);
  queue.schedule(2s, EventKind::kCompletion, 1);
  queue.schedule(1s, EventKind::kTimer, 2);
  queue.schedule(2s, EventKind::kArrival, 3);
  queue.schedule(2s, EventKind::kFailure, 4);
  queue.schedule(2s, EventKind::kCompletion, 5);
  queue.schedule(1s, EventKind::kTimer, 6);
  EXPECT_EQ(queue.size(), 7U);
  EXPECT_EQ(drain(queue), (std::vector<std::uint32_t>{2, 6, 1, 5, 4, 3, 0}));
}

TEST(EventQueue, EverythingAtOneInstantInOrderOfScheduling) {
  EventQueue queue;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    queue.schedule(5s, EventKind::kCompletion, i);
    expected.push_back(i);
  }
  EXPECT_EQ(drain(queue), expected);
}

TEST(EventQueue, MoveGivesANewTimeAndTheLastPlaceAmongEquals) {
  EventQueue queue;
  const auto a = queue.schedule(1s, EventKind::kCompletion, 0);
  queue.schedule(2s, EventKind::kCompletion, 1);
  const auto c = queue.schedule(3s, EventKind::kCompletion, 2);
  queue.move(a, 2s);  // behind 1, which was scheduled before
  queue.move(c, 2s);  // behind both
  EXPECT_EQ(queue.top().subject, 1U);
  EXPECT_EQ(drain(queue), (std::vector<std::uint32_t>{1, 0, 2}));
}

TEST(EventQueue, MoveToTheSameTimeAlsoGoesToTheEnd) {
  EventQueue queue;
  const auto a = queue.schedule(1s, EventKind::kCompletion, 0);
  queue.schedule(1s, EventKind::kCompletion, 1);
  queue.move(a, 1s);
  EXPECT_EQ(drain(queue), (std::vector<std::uint32_t>{1, 0}));
}

TEST(EventQueue, CancelledEventsNeverCome) {
  EventQueue queue;
  const auto a = queue.schedule(1s, EventKind::kCompletion, 0);
  queue.schedule(2s, EventKind::kCompletion, 1);
  const auto c = queue.schedule(3s, EventKind::kCompletion, 2);
  queue.cancel(a);
  queue.cancel(c);
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(drain(queue), (std::vector<std::uint32_t>{1}));
}

TEST(EventQueue, PopGivesTheWholeEvent) {
  EventQueue queue;
  queue.schedule(7s, EventKind::kFailure, 42);
  const Event e = queue.pop();
  EXPECT_EQ(e.at, 7s);
  EXPECT_EQ(e.kind, EventKind::kFailure);
  EXPECT_EQ(e.subject, 42U);
  EXPECT_TRUE(queue.empty());
}

/// Against a sorted map, with many equal times and reused handles.
TEST(EventQueue, RandomOperationsAgreeWithASortedReference) {
  using Key = std::tuple<Time, EventKind, std::uint64_t>;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, Stream::kTest);
    EventQueue queue;
    std::map<Key, std::uint32_t> reference;
    std::map<std::uint32_t, std::pair<EventQueue::Handle, Key>> pending;  // by subject
    std::uint64_t sequence = 0;
    std::uint32_t subject = 0;
    for (int step = 0; step < 4000; ++step) {
      const std::uint32_t what = rng.below(10);
      const Time time{rng.below(50)};
      if (what < 4 || pending.empty()) {
        const auto kind = static_cast<EventKind>(rng.below(4));
        const Key key{time, kind, sequence++};
        pending[subject] = {queue.schedule(time, kind, subject), key};
        reference[key] = subject++;
      } else if (what < 6) {
        auto& [handle, key] =
            std::next(pending.begin(), rng.below(static_cast<std::uint32_t>(pending.size())))
                ->second;
        const std::uint32_t whose = reference.at(key);
        reference.erase(key);
        key = {time, std::get<1>(key), sequence++};
        reference[key] = whose;
        queue.move(handle, time);
      } else if (what < 7) {
        const auto at =
            std::next(pending.begin(), rng.below(static_cast<std::uint32_t>(pending.size())));
        queue.cancel(at->second.first);
        reference.erase(at->second.second);
        pending.erase(at);
      } else {
        ASSERT_EQ(queue.top().subject, reference.begin()->second);
        const Event e = queue.pop();
        ASSERT_EQ(e.subject, reference.begin()->second);
        ASSERT_EQ(e.at, std::get<0>(reference.begin()->first));
        ASSERT_EQ(e.kind, std::get<1>(reference.begin()->first));
        reference.erase(reference.begin());
        pending.erase(e.subject);
      }
      ASSERT_EQ(queue.size(), reference.size());
    }
    for (const auto& [key, whose] : reference) ASSERT_EQ(queue.pop().subject, whose);
    EXPECT_TRUE(queue.empty());
  }
}

}  // namespace
}  // namespace corun::event_queue_test
