#include "predictors/graph/caching_allocator.hpp"

#include <algorithm>
#include <cmath>

namespace corun::inline predictors {

namespace {

constexpr double kMebi = 1048576;
constexpr double kUnit = 512;
constexpr double kSmallRequest = kMebi;
constexpr double kSmallSegment = 2 * kMebi;
constexpr double kMiddleRequest = 10 * kMebi;
constexpr double kMiddleSegment = 20 * kMebi;

double rounded_up(double bytes, double unit) { return std::ceil(bytes / unit) * unit; }

}  // namespace

std::size_t CachingAllocator::add_block(const Block& block) {
  if (unused_.empty()) {
    blocks_.push_back(block);
    return blocks_.size() - 1;
  }
  const std::size_t at = unused_.back();
  unused_.pop_back();
  blocks_[at] = block;
  return at;
}

CachingAllocator::Handle CachingAllocator::allocate(double bytes) {
  const double size = std::max(kUnit, rounded_up(bytes, kUnit));
  const bool large = size > kSmallRequest;
  auto found = free_blocks_.lower_bound({large, size, 0});
  std::size_t at = kNone;
  if (found != free_blocks_.end() && std::get<0>(*found) == large) {
    at = std::get<2>(*found);
    free_blocks_.erase(found);
  } else {
    const double segment = !large                  ? kSmallSegment
                           : size < kMiddleRequest ? kMiddleSegment
                                                   : rounded_up(size, kSmallSegment);
    reserved_ += segment;
    at = add_block({segment, kNone, kNone, false, large});
  }
  const double rest = blocks_[at].size - size;
  if (rest >= kUnit && (!large || rest > kMebi)) {
    const std::size_t behind = blocks_[at].next;
    const std::size_t piece = add_block({rest, at, behind, true, large});
    if (behind != kNone) blocks_[behind].previous = piece;
    blocks_[at].next = piece;
    blocks_[at].size = size;
    free_blocks_.insert({large, rest, piece});
  }
  blocks_[at].free = false;
  live_ += blocks_[at].size;
  peak_live_ = std::max(peak_live_, live_);
  return at;
}

void CachingAllocator::free(Handle handle) {
  std::size_t at = handle;
  live_ -= blocks_[at].size;
  const auto take = [&](std::size_t neighbour) {
    free_blocks_.erase({blocks_[neighbour].large, blocks_[neighbour].size, neighbour});
  };
  if (const std::size_t next = blocks_[at].next; next != kNone && blocks_[next].free) {
    take(next);
    blocks_[at].size += blocks_[next].size;
    blocks_[at].next = blocks_[next].next;
    if (blocks_[at].next != kNone) blocks_[blocks_[at].next].previous = at;
    unused_.push_back(next);
  }
  if (const std::size_t previous = blocks_[at].previous;
      previous != kNone && blocks_[previous].free) {
    take(previous);
    blocks_[previous].size += blocks_[at].size;
    blocks_[previous].next = blocks_[at].next;
    if (blocks_[previous].next != kNone) blocks_[blocks_[previous].next].previous = previous;
    unused_.push_back(at);
    at = previous;
  }
  blocks_[at].free = true;
  free_blocks_.insert({blocks_[at].large, blocks_[at].size, at});
}

}  // namespace corun::inline predictors
