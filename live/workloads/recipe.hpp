#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// The built-in workloads. All of them are the same loop with other numbers; the table in recipe.cpp has the
/// numbers.
namespace corun::live {

/// One step does, in this order: matrix products, convolutions, element-wise updates, random reads, small
/// kernels with host work after each, and the wait for input. A part whose count is 0 is left out. A step
/// ends when the GPU has done all of it, as in a training loop that reads its loss.
struct Recipe {
  std::string_view name;
  std::string_view stands_for;  ///< the class of jobs, in words
  double memory_mib = 0;        ///< held from start to end: weights, gradients, moments
  int matrix = 0;               ///< side of the square matrices of 32-bit floats
  int products = 0;             ///< C = A B, each 2 matrix^3 operations
  int image = 0;                ///< side of the square images of 64 channels
  int convolutions = 0;         ///< of such an image by 64 filters of 3 x 3
  double update_mib = 0;        ///< memory that element-wise updates pass over, cyclically
  int lookups = 0;              ///< random reads from the memory held
  int small_kernels = 0;        ///< each of one block; the host waits for each
  double host_us = 0;           ///< host work after each small kernel [us]
  int stall_every = 0;          ///< steps between two waits for input; 0: none
  double stall_ms = 0;          ///< length of such a wait, in which the GPU is idle [ms]
  std::int64_t steps = 1;       ///< default of --steps: about ten seconds on a V100
};

/// Changes that a user may make to a recipe.
struct Dials {
  double intensity = 1;              ///< factor on the counts of a step; waits stay as they are
  std::optional<double> memory_mib;  ///< in place of Recipe::memory_mib
};
inline constexpr double kIntensityMin = 0.01;
inline constexpr double kIntensityMax = 100;
inline constexpr double kMemoryMinMib = 16;
inline constexpr double kMemoryMaxMib = 1e6;

/// The table, in its printed order.
std::span<const Recipe> workload_recipes();

/// Throws InputError for an unknown name.
const Recipe& find_recipe(std::string_view name);

/// The recipe with the dials set. Counts above 0 stay above 0.
Recipe with_dials(Recipe recipe, const Dials& dials);

}  // namespace corun::live
