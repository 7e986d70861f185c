#include "policies/shares/mersenne_twister.hpp"

#include <algorithm>
#include <bit>

namespace corun::inline policies {

MersenneTwister::MersenneTwister(std::uint32_t seed) {
  // Seeding by an array of words, here of one: first from a constant, then mixed with the array, then once more.
  state_[0] = 19650218;
  for (std::uint32_t i = 1; i < kWords; ++i) {
    const std::uint32_t last = state_[i - 1];
    state_[i] = 1812433253U * (last ^ last >> 30U) + i;
  }
  std::size_t at = 1;
  const auto mix = [&](std::uint32_t factor, std::uint32_t add) {
    const std::uint32_t last = state_[at - 1];
    state_[at] = (state_[at] ^ (last ^ last >> 30U) * factor) + add;
    if (++at < kWords) return;
    state_[0] = state_[kWords - 1];
    at = 1;
  };
  for (std::size_t n = 0; n < kWords; ++n) mix(1664525, seed);
  for (std::size_t n = 1; n < kWords; ++n) mix(1566083941, 0U - static_cast<std::uint32_t>(at));
  state_[0] = 0x80000000U;
}

void MersenneTwister::twist() {
  constexpr std::size_t kShift = 397;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint32_t joined =
        (state_[i] & 0x80000000U) | (state_[(i + 1) % kWords] & 0x7fffffffU);
    state_[i] = state_[(i + kShift) % kWords] ^ joined >> 1U ^ (joined & 1U ? 0x9908b0dfU : 0U);
  }
  used_ = 0;
}

std::uint32_t MersenneTwister::next() {
  if (used_ == kWords) twist();
  std::uint32_t y = state_[used_++];
  y ^= y >> 11U;
  y ^= y << 7U & 0x9d2c5680U;
  y ^= y << 15U & 0xefc60000U;
  return y ^ y >> 18U;
}

std::uint32_t MersenneTwister::below(std::uint32_t n) {
  const auto bits = static_cast<unsigned>(std::bit_width(n));
  for (;;) {
    const std::uint32_t drawn = next() >> (32U - bits);
    if (drawn < n) return drawn;
  }
}

}  // namespace corun::inline policies
