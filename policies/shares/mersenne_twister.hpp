#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

/// The generator MT19937 (Matsumoto and Nishimura, ACM TOMACS 8, 1998) with the seeding by a whole number, the
/// drawing of whole numbers and the shuffle of Python's module `random`: a simulator in Python that is given the same seed
/// draws the same. Everything else in this program draws from sim/rng.hpp.
namespace corun::inline policies {

class MersenneTwister {
 public:
  /// As random.Random(seed).
  explicit MersenneTwister(std::uint32_t seed);

  /// 32 random bits.
  std::uint32_t next();
  /// Below `n`, which is above 0; as randrange(n) and choice() of n things.
  std::uint32_t below(std::uint32_t n);
  /// As shuffle().
  template <typename T>
  void shuffle(std::span<T> things) {
    for (std::size_t i = things.size(); i-- > 1;) {
      std::swap(things[i], things[below(static_cast<std::uint32_t>(i + 1))]);
    }
  }

 private:
  static constexpr std::size_t kWords = 624;

  void twist();

  std::array<std::uint32_t, kWords> state_{};
  std::size_t used_ = kWords;
};

}  // namespace corun::inline policies
