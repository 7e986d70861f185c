#include "live/workloads/recipe.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::live {

namespace {

// To add a workload, add a row.
constexpr std::array<Recipe, 10> kRecipes{{
    {.name = "gemm",
     .stands_for = "compute-bound: large matrix products, as of wide dense layers",
     .memory_mib = 1200,
     .matrix = 4096,
     .products = 4,
     .update_mib = 48,
     .steps = 250},
    {.name = "conv",
     .stands_for = "compute-bound: convolutions, as of VGG and ResNet",
     .memory_mib = 2400,
     .image = 128,
     .convolutions = 12,
     .update_mib = 96,
     .steps = 2000},
    {.name = "transformer",
     .stands_for =
         "mixed: middling matrix products and element-wise work in turn, as of a transformer",
     .memory_mib = 3000,
     .matrix = 2048,
     .products = 8,
     .update_mib = 1500,
     .steps = 700},
    {.name = "stream",
     .stands_for = "memory-bound: element-wise updates of all weights, as of an optimiser",
     .memory_mib = 1536,
     .update_mib = 6144,
     .steps = 650},
    {.name = "embedding",
     .stands_for = "memory-bound: random reads from large tables, as of a recommender",
     .memory_mib = 4000,
     .matrix = 512,
     .products = 2,
     .update_mib = 48,
     .lookups = 64 << 20,
     .steps = 1500},
    {.name = "rl",
     .stands_for =
         "launch-bound: small kernels between the host's own steps, as of reinforcement learning",
     .memory_mib = 300,
     .small_kernels = 100,
     .host_us = 60,
     .steps = 1000},
    {.name = "graph",
     .stands_for = "launch-bound: many small matrix products, as of a graph network",
     .memory_mib = 500,
     .matrix = 256,
     .products = 60,
     .update_mib = 12,
     .small_kernels = 20,
     .steps = 10000},
    {.name = "input-stall",
     .stands_for = "starved: bursts of matrix products, then a wait for the next batch",
     .memory_mib = 900,
     .matrix = 2048,
     .products = 6,
     .update_mib = 48,
     .stall_every = 4,
     .stall_ms = 60,
     .steps = 450},
    {.name = "hungry",
     .stands_for = "memory-hungry: holds much memory and works on little of it at a time",
     .memory_mib = 8000,
     .matrix = 1024,
     .products = 8,
     .update_mib = 384,
     .steps = 5000},
    {.name = "infer",
     .stands_for = "a service: the forward pass of a small network, one per request with --serve",
     .memory_mib = 600,
     .matrix = 1024,
     .products = 12,
     .steps = 5000},
}};

int scaled(int count, double factor) {
  if (count == 0) return 0;
  return static_cast<int>(std::clamp(std::round(count * factor), 1.0, 2e9));
}

}  // namespace

std::span<const Recipe> workload_recipes() { return kRecipes; }

const Recipe& find_recipe(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Recipe& recipe : kRecipes) {
    if (recipe.name == name) return recipe;
    known.push_back(recipe.name);
  }
  throw InputError("corun live workload",
                   "no workload '" + printable(name) + "': " + did_you_mean(name, known));
}

Recipe with_dials(Recipe recipe, const Dials& dials) {
  recipe.products = scaled(recipe.products, dials.intensity);
  recipe.convolutions = scaled(recipe.convolutions, dials.intensity);
  recipe.lookups = scaled(recipe.lookups, dials.intensity);
  recipe.small_kernels = scaled(recipe.small_kernels, dials.intensity);
  recipe.update_mib *= dials.intensity;
  recipe.memory_mib = dials.memory_mib.value_or(recipe.memory_mib);
  return recipe;
}

}  // namespace corun::live
