#include <algorithm>
#include <cmath>
#include <list>
#include <vector>

#include <gtest/gtest.h>

#include "predictors/graph/caching_allocator.hpp"
#include "sim/rng.hpp"

namespace corun::caching_allocator_random_test {
namespace {

constexpr double kMib = 1048576;

/// The allocator's rules on lists, without indexes.
class PlainAllocator {
 public:
  struct Block {
    double size;
    bool free;
  };
  struct Segment {
    bool large;
    std::list<Block> blocks;
  };

  Block* allocate(double bytes) {
    const double size = std::max(512.0, std::ceil(bytes / 512) * 512);
    const bool large = size > kMib;
    Segment* in = nullptr;
    std::list<Block>::iterator at;
    for (Segment& segment : segments_) {
      if (segment.large != large) continue;
      for (auto block = segment.blocks.begin(); block != segment.blocks.end(); ++block) {
        if (!block->free || block->size < size) continue;
        if (in == nullptr || block->size < at->size) {
          in = &segment;
          at = block;
        }
      }
    }
    if (in == nullptr) {
      const double reserve = !large             ? 2 * kMib
                             : size < 10 * kMib ? 20 * kMib
                                                : std::ceil(size / (2 * kMib)) * 2 * kMib;
      reserved_ += reserve;
      segments_.push_back({large, {{reserve, true}}});
      in = &segments_.back();
      at = in->blocks.begin();
    }
    const double rest = at->size - size;
    if (rest >= 512 && (!large || rest > kMib)) {
      in->blocks.insert(std::next(at), {rest, true});
      at->size = size;
    }
    at->free = false;
    return &*at;
  }

  void free(Block* block) {
    for (Segment& segment : segments_) {
      for (auto at = segment.blocks.begin(); at != segment.blocks.end(); ++at) {
        if (&*at != block) continue;
        at->free = true;
        if (const auto next = std::next(at); next != segment.blocks.end() && next->free) {
          at->size += next->size;
          segment.blocks.erase(next);
        }
        if (at != segment.blocks.begin() && std::prev(at)->free) {
          std::prev(at)->size += at->size;
          segment.blocks.erase(at);
        }
        return;
      }
    }
  }

  double reserved() const { return reserved_; }

 private:
  std::list<Segment> segments_;
  double reserved_ = 0;
};

TEST(CachingAllocatorRandom, EqualsTheRulesOnLists) {
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    Rng rng(trial, Stream::kTest);
    CachingAllocator ours;
    PlainAllocator plain;
    std::vector<std::pair<CachingAllocator::Handle, PlainAllocator::Block*>> held;
    for (int step = 0; step < 300; ++step) {
      if (!held.empty() && rng.uniform() < 0.45) {
        const std::size_t which = rng.below(static_cast<std::uint32_t>(held.size()));
        ours.free(held[which].first);
        plain.free(held[which].second);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
      } else {
        // Sizes that differ, so that the smallest block that fits is one.
        const double bytes = std::exp(rng.uniform() * 19) + 1000 * rng.uniform();
        held.emplace_back(ours.allocate(bytes), plain.allocate(bytes));
      }
      ASSERT_EQ(ours.reserved_bytes(), plain.reserved()) << "trial " << trial << ", step " << step;
      ASSERT_LE(ours.live_bytes(), ours.reserved_bytes());
      ASSERT_LE(ours.live_bytes(), ours.peak_live_bytes());
    }
  }
}

TEST(CachingAllocatorRandom, SegmentsByHand) {
  CachingAllocator a;
  const auto small = a.allocate(1);
  EXPECT_EQ(a.reserved_bytes(), 2 * kMib);
  EXPECT_EQ(a.live_bytes(), 512);
  const auto middle = a.allocate(3 * kMib);
  EXPECT_EQ(a.reserved_bytes(), 22 * kMib);
  const auto large = a.allocate(15.5 * kMib);  // from the rest of the segment of 20 MiB
  EXPECT_EQ(a.reserved_bytes(), 22 * kMib);
  a.allocate(11 * kMib);
  EXPECT_EQ(a.reserved_bytes(), 34 * kMib);
  a.free(middle);
  a.free(large);
  a.allocate(19.5 * kMib);  // the joined segment
  EXPECT_EQ(a.reserved_bytes(), 34 * kMib);
  a.free(small);
}

}  // namespace
}  // namespace corun::caching_allocator_random_test
