#include "policies/elastic/pollux_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "sim/rng.hpp"

/// Pollux' genetic search: its limits, and small clusters beside all matrices.
namespace corun {
namespace {

using Gpus = std::vector<std::uint16_t>;
using Rows = std::vector<Gpus>;

/// A job whose speedup is gpus^exponent, less `between` of it across nodes.
PolluxJob job(std::uint64_t key, double exponent, double between = 0.2) {
  PolluxJob made;
  made.key = key;
  made.most_gpus = 64;
  made.speedup = [exponent, between](GpuSpread on) {
    return std::pow(on.gpus, exponent) * (on.nodes > 1 ? 1 - between : 1);
  };
  return made;
}

GpuSpread spread_of(const Gpus& row) {
  GpuSpread spread{.nodes = 0, .gpus = 0};
  for (const std::uint16_t gpus : row) {
    spread.nodes += gpus > 0 ? 1 : 0;
    spread.gpus += gpus;
  }
  return spread;
}

double fitness_of(const std::vector<PolluxJob>& jobs, const Rows& rows, double p, double least) {
  double sum = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const GpuSpread on = spread_of(rows[j]);
    double speedup = on.gpus == 0 ? 0 : jobs[j].speedup(on);
    const Gpus held = jobs[j].held.empty() ? Gpus(rows[j].size(), 0) : jobs[j].held;
    if (rows[j] != held) speedup *= jobs[j].restart_factor;
    sum += std::pow(std::max(speedup, least), p);
  }
  return std::pow(sum / static_cast<double>(jobs.size()), 1 / p);
}

void expect_permitted(const std::vector<PolluxJob>& jobs, const Gpus& gpus, const Rows& rows,
                      bool apart) {
  ASSERT_EQ(rows.size(), jobs.size());
  for (std::size_t j = 0; j < jobs.size(); ++j)
    EXPECT_LE(spread_of(rows[j]).gpus, jobs[j].most_gpus);
  for (std::size_t node = 0; node < gpus.size(); ++node) {
    std::uint32_t used = 0;
    int spanning = 0;
    for (const Gpus& row : rows) {
      used += row[node];
      spanning += row[node] > 0 && spread_of(row).nodes > 1 ? 1 : 0;
    }
    EXPECT_LE(used, gpus[node]) << node;
    if (apart) {
      EXPECT_LE(spanning, 1) << node;
    }
  }
}

TEST(PolluxSearch, KeepsTheLimitsOfNodesAndJobs) {
  for (const bool apart : {true, false}) {
    PolluxOptions options{.generations = 30, .avoid_interference = apart};
    PolluxSearch search(options, 3);
    Rng rng(5, Stream::kTest, 1);
    const Gpus gpus{4, 4, 2, 8, 0, 1};
    std::vector<PolluxJob> jobs;
    std::uint64_t next = 0;
    for (int pass = 0; pass < 8; ++pass) {
      // Jobs come and go, and hold what the last pass gave them.
      std::erase_if(jobs, [&](const PolluxJob&) { return rng.below(4) == 0; });
      for (std::uint32_t n = rng.below(5); n > 0; --n) {
        jobs.push_back(job(next++, 0.4 + 0.6 * rng.uniform()));
        jobs.back().most_gpus = 1 + rng.below(12);
        jobs.back().restart_factor = rng.uniform();
      }
      const Rows rows = search.allocate(jobs, gpus);
      expect_permitted(jobs, gpus, rows, apart);
      if (!jobs.empty()) {
        EXPECT_NEAR(search.fitness(), fitness_of(jobs, rows, -1, 1e-6), 1e-9);
      }
      for (std::size_t j = 0; j < jobs.size(); ++j) jobs[j].held = rows[j];
    }
  }
}

/// The fitness of the best matrix of all.
double best_of_all(const std::vector<PolluxJob>& jobs, const Gpus& gpus, double p) {
  Rows rows(jobs.size(), Gpus(gpus.size(), 0));
  double best = 0;
  const std::size_t cells = jobs.size() * gpus.size();
  while (true) {
    bool permitted = true;
    for (std::size_t n = 0; n < gpus.size(); ++n) {
      int used = 0;
      int spanning = 0;
      for (const Gpus& row : rows) {
        used += row[n];
        spanning += row[n] > 0 && spread_of(row).nodes > 1 ? 1 : 0;
      }
      permitted = permitted && used <= gpus[n] && spanning <= 1;
    }
    for (std::size_t j = 0; j < jobs.size(); ++j)
      permitted = permitted && spread_of(rows[j]).gpus <= jobs[j].most_gpus;
    if (permitted) best = std::max(best, fitness_of(jobs, rows, p, 1e-6));
    std::size_t cell = 0;
    for (; cell < cells; ++cell) {
      std::uint16_t& at = rows[cell / gpus.size()][cell % gpus.size()];
      if (at < gpus[cell % gpus.size()]) {
        ++at;
        break;
      }
      at = 0;
    }
    if (cell == cells) return best;
  }
}

TEST(PolluxSearch, FindsTheBestMatrixOfSmallClusters) {
  Rng rng(9, Stream::kTest, 2);
  for (int trial = 0; trial < 12; ++trial) {
    const Gpus gpus{2, 3};
    const double p = trial % 2 == 0 ? -1 : 1;
    std::vector<PolluxJob> jobs;
    for (std::uint64_t j = 0; j < 3; ++j) {
      jobs.push_back(job(j, 0.3 + 0.7 * rng.uniform(), 0.3 * rng.uniform()));
      jobs.back().restart_factor = 0.5 + 0.5 * rng.uniform();
      jobs.back().most_gpus = 1 + rng.below(5);
    }
    if (trial % 3 == 0) jobs[1].held = {2, 0};
    PolluxSearch search({.p = p}, static_cast<std::uint64_t>(trial));
    const Rows rows = search.allocate(jobs, gpus);
    EXPECT_NEAR(fitness_of(jobs, rows, p, 1e-6), best_of_all(jobs, gpus, p), 1e-9) << trial;
  }
}

TEST(PolluxSearch, AJobKeepsItsGpusIfAChangeCostsMoreThanItGains) {
  const Gpus gpus{4, 4};
  std::vector<PolluxJob> jobs{job(1, 1.0)};
  jobs[0].held = {0, 2};
  jobs[0].restart_factor = 0.4;  // 4 GPUs: 0.4 * 4 < 2
  jobs[0].most_gpus = 4;
  EXPECT_EQ(PolluxSearch({}, 1).allocate(jobs, gpus)[0], (Gpus{0, 2}));
  jobs[0].restart_factor = 0.6;
  EXPECT_EQ(spread_of(PolluxSearch({}, 1).allocate(jobs, gpus)[0]).gpus, 4U);
}

TEST(PolluxSearch, AsManyJobsRunAsThereAreGpus) {
  const Gpus gpus{4, 4};
  std::vector<PolluxJob> jobs;
  for (std::uint64_t j = 0; j < 20; ++j) jobs.push_back(job(j, 0.9));
  PolluxSearch search({}, 1);
  const Rows rows = search.allocate(jobs, gpus);
  EXPECT_EQ(std::ranges::count_if(rows, [](auto& row) { return spread_of(row).gpus > 0; }), 8);
}

TEST(PolluxSearch, OneSeedOneAnswer) {
  const Gpus gpus(8, 4);
  std::vector<PolluxJob> jobs;
  for (std::uint64_t j = 0; j < 12; ++j)
    jobs.push_back(job(j, 0.5 + 0.04 * static_cast<double>(j)));
  PolluxSearch one({.generations = 20}, 11);
  PolluxSearch again({.generations = 20}, 11);
  PolluxSearch other({.generations = 20}, 12);
  const Rows first = one.allocate(jobs, gpus);
  EXPECT_EQ(first, again.allocate(jobs, gpus));
  EXPECT_NE(first, other.allocate(jobs, gpus));
  EXPECT_EQ(one.allocate(jobs, gpus), again.allocate(jobs, gpus));  // also from pass to pass
}

TEST(PolluxSearch, NothingToDo) {
  PolluxSearch search({}, 1);
  EXPECT_TRUE(search.allocate({}, Gpus{4}).empty());
  EXPECT_EQ(search.allocate(std::vector<PolluxJob>{job(1, 1)}, {}).size(), 1U);
}

}  // namespace
}  // namespace corun
