#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// The built-in workloads: what each of them does in one step. All of them are the same loop with other
/// numbers, and the table in recipe.cpp holds the numbers.
namespace corun::live {

/// One step does, in this order: matrix products, convolutions, element-wise updates, random reads, small
/// kernels with the host's own work between them, and the wait for input. A part whose count is 0 is left
/// out. A step ends when the GPU has done all of it, as a training loop that reads its loss does.
struct Recipe {
  std::string_view name;
  std::string_view stands_for;  ///< the class of jobs, in words
  double memory_mib = 0;        ///< held from start to end: weights, gradients, moments
  int matrix = 0;               ///< side of the square matrices of 32-bit floats
  int products = 0;             ///< C = A B, each 2 matrix^3 operations
  int image = 0;                ///< side of the square images of 64 channels
  int convolutions = 0;         ///< of such an image by 64 filters of 3 x 3
  double update_mib = 0;  ///< of the memory held that element-wise updates go over, round and round
  int lookups = 0;        ///< random reads from the memory held
  int small_kernels = 0;  ///< each of one block, and waited for
  double host_us = 0;     ///< the host's own work after each small kernel [us]
  int stall_every = 0;    ///< steps between two waits for input; 0: none
  double stall_ms = 0;    ///< length of such a wait, in which the GPU has nothing to do [ms]
  std::int64_t steps = 1;  ///< default of --steps: some ten seconds on a V100, to be calibrated
};

/// What a user may turn; what is not given is as the table has it.
struct Dials {
  double intensity = 1;              ///< factor on the counts of a step; waits stay as they are
  std::optional<double> memory_mib;  ///< in place of Recipe::memory_mib
};
inline constexpr double kIntensityMin = 0.01;
inline constexpr double kIntensityMax = 100;
inline constexpr double kMemoryMinMib = 16;
inline constexpr double kMemoryMaxMib = 1e6;

/// The table, in the order in which it is shown.
std::span<const Recipe> workload_recipes();

/// InputError that names the known ones.
const Recipe& find_recipe(std::string_view name);

/// The recipe with the dials set. Counts above 0 stay above 0.
Recipe with_dials(Recipe recipe, const Dials& dials);

}  // namespace corun::live
