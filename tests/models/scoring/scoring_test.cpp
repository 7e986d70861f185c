#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/interference/catalog.hpp"
#include "models/model_belief.hpp"
#include "models/scoring/pair_scorer.hpp"
#include "sim/base/math.hpp"
#include "sim/rng.hpp"
#include "sim/time.hpp"
#include "tests/helpers/effort.hpp"
#include "tests/helpers/emulated_gpu.hpp"

namespace corun::scoring_test {
namespace {

// ---- arithmetic ---------------------------------------------------------------------------------

/// The difference between `x` and the true value, in units of the last place of `x`.
double ulps(double x, long double truth) {
  int exponent = 0;
  std::frexp(static_cast<double>(truth), &exponent);
  const long double unit = std::ldexp(1.0L, std::max(exponent - 53, -1074));
  return static_cast<double>(std::fabs(static_cast<long double>(x) - truth) / unit);
}

TEST(ScoringMath, ExpAndLogAreWithinAnUlp) {
  Rng rng(1, Stream::kTest);
  double worst_exp = 0;
  double worst_log = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = i % 2 == 0 ? -745 + 1454 * rng.uniform() : rng.uniform() - 0.5;
    worst_exp = std::max(worst_exp, ulps(math::exp(x), expl(static_cast<long double>(x))));
    const double y = i % 2 == 0 ? std::exp(x / 1.1) : 0.5 + rng.uniform();
    const long double truth = logl(static_cast<long double>(y));
    if (truth != 0) worst_log = std::max(worst_log, ulps(math::log(y), truth));
  }
  EXPECT_LT(worst_exp, 1.0);
  EXPECT_LT(worst_log, 1.0);
}

TEST(ScoringMath, ExpAndLogAtTheEdges) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(math::exp(0.0), 1.0);
  EXPECT_EQ(math::exp(kInfinity), kInfinity);
  EXPECT_EQ(math::exp(-kInfinity), 0.0);
  EXPECT_EQ(math::exp(709.79), kInfinity);
  EXPECT_LT(math::exp(709.78), kInfinity);
  EXPECT_EQ(math::exp(-744.9), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(math::exp(-745.2), 0.0);
  EXPECT_TRUE(std::isnan(math::exp(std::nan(""))));
  EXPECT_EQ(math::log(1.0), 0.0);
  EXPECT_EQ(math::log(0.0), -kInfinity);
  EXPECT_EQ(math::log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(math::log(-1.0)));
  EXPECT_TRUE(std::isnan(math::log(std::nan(""))));
  EXPECT_EQ(math::log(std::numeric_limits<double>::denorm_min()),
            std::log(std::numeric_limits<double>::denorm_min()));
}

// ---- models and jobs ----------------------------------------------------------------------------

/// Jobs with profiles, some of them known by their workload, and measured pairs of them.
SpeedTable table_of(std::size_t jobs, std::size_t rows, std::uint64_t seed) {
  Rng rng(seed, Stream::kTest);
  SpeedTable table;
  table.features = {{"gpu_util_pct", FeatureScale::kLinear},
                    {"mem_alloc_pct", FeatureScale::kLinear},
                    {"mem_time_pct", FeatureScale::kLinear}};
  for (std::size_t j = 0; j < jobs; ++j) {
    table.jobs.push_back(static_cast<WorkloadKey>(j + 1));
    table.values.push_back(j % 5 == 0 ? 12 * rng.uniform() : 100 * rng.uniform());
    table.values.push_back(100 * rng.uniform());
    table.values.push_back(j % 7 == 0 ? std::nan("") : 70 * rng.uniform());
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const auto a = static_cast<std::uint32_t>(jobs * rng.uniform());
    const auto b = static_cast<std::uint32_t>(jobs * rng.uniform());
    table.rows.push_back({a, b, 0.3 + 0.7 * rng.uniform(), 0.3 + 0.7 * rng.uniform()});
  }
  return table;
}

/// A list of jobs to score, with the data that its spans point to.
struct Batch {
  SpeedTable table;
  std::vector<PairJob> kinds;
  std::vector<std::uint32_t> kind_of;
  std::vector<double> solo_s;
};
/// `n` jobs of at most `most_kinds` kinds; some have no estimate.
Batch batch_of(std::size_t n, std::size_t most_kinds) {
  Batch batch;
  const std::size_t kinds = std::min(n, most_kinds);
  batch.table = table_of(kinds, 0, 77);
  for (std::size_t j = 0; j < kinds; ++j) {
    // Models know the first kinds by their workload.
    batch.kinds.push_back(
        {static_cast<WorkloadKey>(j < 10 ? j + 1 : 1000 + j), {batch.table.of(j), 3}});
  }
  Rng rng(5, Stream::kTest, n);
  for (std::size_t i = 0; i < n; ++i) {
    batch.kind_of.push_back(static_cast<std::uint32_t>(i % kinds));
    batch.solo_s.push_back(i % 11 == 3 ? std::nan("") : 60 + 10000 * rng.uniform());
  }
  return batch;
}

std::shared_ptr<const InterferenceModel> model_of(const std::string& name) {
  return find_interference_model(name)->fit(table_of(20, 60, 3), {.effort = test::kLittleEffort});
}

const std::vector<CostRule> kRules{{Objective::kMinSlowdown, 0}, {Objective::kMinSlowdown, 0.7},
                                   {Objective::kBalance, 0},     {Objective::kBalance, 1.5},
                                   {Objective::kMaxPacking, 0},  {Objective::kMaxPacking, 0.2}};

std::string text(const CostRule& rule) {
  return "objective " + std::to_string(static_cast<int>(rule.objective)) + ", risk " +
         std::to_string(rule.risk);
}

/// The expected result: predict() and the cost formula pair by pair, all sorted.
std::vector<CoRunner> expected_co_runners(const InterferenceModel& model, const Batch& batch,
                                          const CostRule& rule, std::size_t k,
                                          std::span<const std::uint32_t> rows,
                                          std::span<const double> prices) {
  const std::size_t n = batch.kind_of.size();
  std::vector<PairQuery> queries;
  for (std::size_t a = 0; a < batch.kinds.size(); ++a) {
    for (std::size_t b = 0; b < batch.kinds.size(); ++b) queries.push_back({a, b});
  }
  const std::vector<SpeedPrediction> speeds = model.predict(batch.kinds, queries);
  const auto belief = [&](std::size_t own, std::size_t co_runner) {
    const SpeedPrediction& p =
        speeds[batch.kind_of[own] * batch.kinds.size() + batch.kind_of[co_runner]];
    return at_most_1({p.speed, p.sd, 1 / p.speed});
  };
  std::vector<CoRunner> out;
  for (const std::size_t i : rows) {
    std::vector<CoRunner> all;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const auto [a, b] = std::minmax(i, j);
      double solo_a = batch.solo_s[a];
      double solo_b = batch.solo_s[b];
      if (std::isnan(solo_a) || std::isnan(solo_b)) solo_a = solo_b = 1;
      const PairBelief pair =
          believed_cost(solo_time(solo_a), solo_time(solo_b), belief(a, b), belief(b, a));
      all.push_back({static_cast<std::uint32_t>(j),
                     objective_cost(rule, pair) - (prices.empty() ? 0 : prices[j])});
    }
    const auto behind = [&](const CoRunner& x) { return (x.position + n - i) % n; };
    std::sort(all.begin(), all.end(), [&](const CoRunner& x, const CoRunner& y) {
      return x.cost != y.cost ? x.cost < y.cost : behind(x) < behind(y);
    });
    out.insert(out.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k));
  }
  return out;
}

/// The device of a test. Checks at the end that nothing is left on it.
class Scoring : public testing::Test {
 protected:
  void SetUp() override { fiber_cuda::device = {}; }
  void TearDown() override {
    EXPECT_EQ(fiber_cuda::device.broken, "");
    EXPECT_EQ(fiber_cuda::device.objects, 0);
    EXPECT_EQ(fiber_cuda::device.held, 0U);
  }
  static std::shared_ptr<Device> emulated(std::string_view wanted = "cuda") {
    return std::make_shared<Device>(wanted, &emulated_gpu());
  }
  static PairScorer scorer(const InterferenceModel& model, const Batch& batch,
                           ScoringOptions options = {}) {
    return {model, batch.kinds, batch.kind_of, batch.solo_s, std::move(options)};
  }
};

// ---- parity -------------------------------------------------------------------------------------

/// From this number of jobs on, tests take only what is fast enough.
constexpr std::size_t kMany = 500;

/// Compares every way to compute: the vector sets, threads, the emulated GPU, the GPU.
struct Way {
  std::string name;
  ScoringOptions options;
};
std::vector<Way> ways(std::size_t jobs) {
  std::vector<Way> all;
  for (const Kernels* kernels : usable_kernels()) {
    all.push_back({kernels->name, {.threads = 1, .kernels = kernels}});
  }
  all.push_back({"3 threads", {.threads = 3}});
  // Fibers are slow: many jobs only once, in tiles.
  const auto fibers = std::make_shared<Device>("cuda", &emulated_gpu());
  if (jobs < 100) all.push_back({"emulated", {.device = fibers}});
  const std::size_t rows = jobs < kMany ? 7 : 123;
  all.push_back({"emulated, in tiles", {.device = fibers, .gpu = {.rows = rows, .streams = 3}}});
  if (probe_devices().cuda_devices > 0) {
    const auto device = choose_device("cuda");
    all.push_back({"cuda", {.device = device}});
    all.push_back({"cuda, tiles of 33 rows, 4 streams",
                   {.device = device, .gpu = {.rows = 33, .streams = 4}}});
  }
  return all;
}

/// One model of each kind of formula, and low-rank, which has no formula and is scored by predict().
constexpr std::array kModels{"contention", "cluster-mean", "gp", "boosted-trees", "low-rank"};

TEST_F(Scoring, FormulasStandBehindTheModelsThatHaveOne) {
  for (const char* name : kModels) {
    const Batch batch = batch_of(3, 3);
    EXPECT_EQ(model_of(name)->formula(batch.kinds, batch.kind_of) != nullptr,
              std::string(name) != "low-rank")
        << name;
  }
}

class ScoringParity : public Scoring, public testing::WithParamInterface<std::size_t> {};

TEST_P(ScoringParity, EveryWayGivesTheBitsOfPredict) {
  const std::size_t n = GetParam();
  for (const char* name : kModels) {
    if (n > kMany && std::string(name) != "contention") continue;
    const auto model = model_of(name);
    // Fewer searches for many jobs and for expensive pairs.
    const bool many = n > 100 || (std::string(name) != "contention" && n > 2);
    // If jobs are few, each has its own kind; if many, some share a kind.
    const Batch batch = batch_of(n, n > kMany ? 64 : 120);
    for (const CostRule& rule : kRules) {
      if (many && rule.objective != Objective::kBalance) continue;
      if (n > kMany && rule.risk > 0) continue;
      for (const std::size_t k : {std::size_t{1}, std::size_t{5}, std::size_t{40}}) {
        if (many && k != 5) continue;
        const std::size_t each = n == 0 ? 0 : std::min(k, n - 1);
        std::vector<std::uint32_t> rows;
        for (std::uint32_t i = 0; i<n; i += n> kMany ? 61 : 1) rows.push_back(i);
        std::vector<double> prices;
        if (k != 40) {
          Rng rng(7, Stream::kWorldNoise, n);
          while (prices.size() < n) prices.push_back(0.2 * rng.uniform() - 0.1);
        }
        const auto expected = each == 0
                                  ? std::vector<CoRunner>{}
                                  : expected_co_runners(*model, batch, rule, each, rows, prices);
        const auto expect_same = [&](const CoRunner& f, const CoRunner& x, std::uint32_t row,
                                     const std::string& way) {
          ASSERT_TRUE(f.position == x.position &&
                      std::bit_cast<std::uint64_t>(f.cost) == std::bit_cast<std::uint64_t>(x.cost))
              << name << ", " << way << ", " << text(rule) << ", n " << n << ", k " << k << ", row "
              << row << ": " << f.position << " at " << f.cost << ", expected " << x.position
              << " at " << x.cost;
        };
        for (const Way& way : ways(n)) {
          const PairScorer all = scorer(*model, batch, way.options);
          const std::vector<CoRunner> found = all.top_co_runners(rule, {.k = k, .prices = prices});
          ASSERT_EQ(found.size(), n * each) << way.name;
          for (std::size_t r = 0; r < rows.size(); ++r) {
            for (std::size_t e = 0; e < each; ++e) {
              expect_same(found[rows[r] * each + e], expected[r * each + e], rows[r], way.name);
            }
          }
          // Some rows, in another order.
          std::vector<std::uint32_t> some;
          for (std::size_t r = rows.size(); r-- > 0;) {
            if (r % 3 == 1) some.push_back(rows[r]);
          }
          const std::vector<CoRunner> of_some =
              all.top_co_runners(rule, {.k = k, .rows = some, .prices = prices});
          ASSERT_EQ(of_some.size(), some.size() * each) << way.name;
          for (std::size_t r = 0; r < of_some.size(); ++r) {
            expect_same(of_some[r], found[some[r / each] * each + r % each], some[r / each],
                        std::string(way.name) + ", some rows");
          }
        }
      }
    }
  }
}
// 260 is no multiple of a warp, of a block of threads, of a tile of the processor (64 and 256) or of a GPU's tile of 7
// rows; 999 are four tiles of the processor, and nine of the GPU on three streams.
INSTANTIATE_TEST_SUITE_P(Sizes, ScoringParity, testing::Values(0, 1, 2, 31, 32, 33, 260, 999));

TEST_F(Scoring, AllPairsAreTheBitsOfPredict) {
  for (const char* name : kModels) {
    const auto model = model_of(name);
    for (const std::size_t n : {0, 1, 33, 130}) {
      const Batch batch = batch_of(n, n < 40 ? n : 37);
      for (const Way& way : ways(n)) {
        const PairScorer::Matrix all = scorer(*model, batch, way.options).all_pairs();
        ASSERT_EQ(all.speed.size(), n * n);
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = i % 5; j < n; j += 5) {
            const SpeedPrediction p =
                model->predict(batch.kinds[batch.kind_of[i]], batch.kinds[batch.kind_of[j]]);
            ASSERT_EQ(all.speed[i * n + j], p.speed) << name << ", " << way.name << " " << i;
            ASSERT_EQ(all.sd[i * n + j], p.sd) << name << ", " << way.name << " " << i;
          }
        }
      }
    }
  }
}

TEST_F(Scoring, BeliefsAnswerForAQueueAsPairByPair) {
  for (const char* name : {"contention", "cluster-mean", "gp", "low-rank"}) {
    const SpeedTable table = table_of(20, 60, 3);
    std::vector<BelievedJob> jobs;
    for (std::size_t j = 0; j < 60; ++j) {
      const std::size_t row = j * 7 % 20;
      BelievedJob job;
      job.workload = j % 3 == 0 ? kUnknownWorkload : table.jobs[row];
      job.features.assign(table.of(row), table.of(row) + 3);
      if (j % 9 != 4) job.estimate = from_seconds(100 + 37.25 * static_cast<double>(j));
      jobs.push_back(std::move(job));
    }
    ScoringOptions scoring;
    scoring.device = emulated();
    const ModelBelief belief(ModelBelief::make_prior(table, *find_interference_model(name),
                                                     {.effort = test::kLittleEffort}, scoring),
                             jobs);
    std::vector<JobId> queue;
    for (std::uint32_t j = 0; j < 60; j += j % 4 == 1 ? 2 : 1) queue.push_back(JobId{j});
    for (const CostRule& rule : kRules) {
      EXPECT_EQ(belief.top_co_runners({.jobs = queue, .k = 7}, rule),
                belief.Belief::top_co_runners({.jobs = queue, .k = 7}, rule))
          << name << ", " << text(rule);
    }
    EXPECT_GT(fiber_cuda::device.launches, 0);
  }
}

TEST_F(Scoring, CostsThatAreNoNumbersComeLastAndEveryListIsFull) {
  const auto model = model_of("contention");
  const Batch batch = batch_of(40, 40);
  std::vector<double> prices(40, 0.0);
  prices[5] = std::nan("");
  for (const Way& way : ways(40)) {
    const auto found = scorer(*model, batch, way.options)
                           .top_co_runners({}, {.k = 39, .rows = {}, .prices = prices});
    for (std::size_t i = 0; i < 40; ++i) {
      std::vector<bool> seen(40);
      for (std::size_t e = 0; e < 39; ++e) seen[found[i * 39 + e].position] = true;
      EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 39) << way.name;
      EXPECT_FALSE(seen[i]);
      if (i != 5) {
        EXPECT_EQ(found[i * 39 + 38].position, 5U) << way.name;
      }
    }
  }
}

TEST_F(Scoring, SpeedsOfSetsAreThoseOfTheModel) {
  for (const char* name : kModels) {
    const auto model = model_of(name);
    const Batch batch = batch_of(20, 20);
    const std::vector<std::uint32_t> members{3, 4, 7, 7, 1, 19, 0, 2, 5};
    const std::vector<std::size_t> first{0, 2, 2, 5, 6, 9};
    for (const Way& way : ways(20)) {
      const auto found = scorer(*model, batch, way.options).co_runner_speeds(members, first);
      ASSERT_EQ(found.size(), members.size());
      for (std::size_t s = 0; s + 1 < first.size(); ++s) {
        std::vector<PairJob> residents;
        for (std::size_t m = first[s]; m < first[s + 1]; ++m) {
          residents.push_back(batch.kinds[batch.kind_of[members[m]]]);
        }
        std::vector<double> expected(residents.size());
        model->speeds(residents, expected);
        for (std::size_t m = 0; m < expected.size(); ++m) {
          EXPECT_EQ(found[first[s] + m], expected[m]) << way.name;
        }
      }
      EXPECT_EQ(found[5], 1.0);  // alone
    }
  }
}

// ---- failing devices ----------------------------------------------------------------------------

std::string refusal(std::string_view wanted) {
  try {
    const Device device(wanted, &emulated_gpu());
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

TEST_F(Scoring, WithoutAUsableGpuCudaIsRefusedWithTheReasonAndAutoGoesOn) {
  const auto refused = [](const char* why) {
    EXPECT_NE(refusal("cuda").find(why), std::string::npos) << refusal("cuda");
    EXPECT_NE(refusal("cuda").find("use --device cpu or auto"), std::string::npos);
    const Device device("auto", &emulated_gpu());
    EXPECT_EQ(device.gpu(), nullptr);
    EXPECT_EQ(device.record(), "cpu");
  };
  fiber_cuda::device.count_status = cudaErrorNoDevice;
  refused("no CUDA-capable device is detected");
  fiber_cuda::device.count_status = cudaErrorInsufficientDriver;
  refused("driver version is insufficient");
  fiber_cuda::device = {};
  fiber_cuda::device.devices = 0;
  refused("no CUDA device");
  fiber_cuda::device = {};
  fiber_cuda::device.launch_status = cudaErrorNoKernelImageForDevice;
  refused("no kernel image is available");
  fiber_cuda::device = {};
  fiber_cuda::device.memory = 0;
  refused("out of memory");
  EXPECT_EQ(Device("cpu", nullptr).record(), "cpu");
  EXPECT_THROW(Device("gpu", nullptr), InputError);
  EXPECT_THROW(Device("cuda", nullptr), DeviceError);
}

/// The result of a batch on a failing `device`; empty: DeviceError.
std::vector<CoRunner> attempt(const InterferenceModel& model, const Batch& batch,
                              const std::shared_ptr<Device>& device) {
  ScoringOptions options;
  options.device = device;
  options.gpu = {.rows = 40, .streams = 2};
  try {
    return PairScorer(model, batch.kinds, batch.kind_of, batch.solo_s, options)
        .top_co_runners({Objective::kBalance, 0.5}, {.k = 3});
  } catch (const DeviceError&) {
    return {};
  }
}

TEST_F(Scoring, OutOfMemoryAtAnyAllocationIsSurvivedOrSaid) {
  const auto model = model_of("contention");
  const Batch batch = batch_of(90, 90);
  const auto right = attempt(*model, batch, nullptr);
  const auto device = emulated();
  fiber_cuda::device = {};
  ASSERT_EQ(attempt(*model, batch, device), right);
  const int allocations = fiber_cuda::device.allocations;
  ASSERT_GT(allocations, 8);
  int survived = 0;
  for (int fails = 0; fails < allocations; ++fails) {
    fiber_cuda::device = {};
    fiber_cuda::device.fail_allocation = fails;
    const auto found = attempt(*model, batch, device);
    EXPECT_TRUE(found.empty() || found == right) << fails;
    survived += found == right ? 1 : 0;
    EXPECT_EQ(fiber_cuda::device.objects, 0) << fails;
    // A permanent failure: an error with cuda, the processor with auto.
    fiber_cuda::device = {};
    fiber_cuda::device.fail_allocation = fails;
    fiber_cuda::device.failures = 1000;
    EXPECT_TRUE(attempt(*model, batch, device).empty()) << fails;
    EXPECT_EQ(fiber_cuda::device.objects, 0) << fails;
  }
  EXPECT_GE(survived, 8);  // a failure of any buffer of a tile: smaller tiles fit
}

TEST_F(Scoring, ADeviceLostAtAnyCallNeverGivesAWrongNumber) {
  const auto model = model_of("contention");
  const Batch batch = batch_of(90, 90);
  const auto right = attempt(*model, batch, nullptr);
  fiber_cuda::device = {};
  const auto wanted = emulated();
  fiber_cuda::device = {};
  ASSERT_EQ(attempt(*model, batch, wanted), right);
  const int calls = fiber_cuda::device.calls;
  int said = 0;
  for (int at = 0; at < calls; ++at) {
    fiber_cuda::device = {};
    fiber_cuda::device.lost_after = at;
    const auto found = attempt(*model, batch, wanted);
    // Lost while memory is freed: all results were complete.
    EXPECT_TRUE(found.empty() || found == right) << at;
    said += found.empty() ? 1 : 0;
    EXPECT_EQ(fiber_cuda::device.objects, 0) << at;
  }
  EXPECT_GT(said, calls / 2);
}

TEST_F(Scoring, AutoGoesOnWithoutADeviceThatWasLost) {
  const auto model = model_of("contention");
  const Batch batch = batch_of(500, 500);
  ScoringOptions options;
  const auto device = emulated("auto");
  options.device = device;
  EXPECT_GE(device->batch_overhead_s(), 0);
  fiber_cuda::device = {};
  fiber_cuda::device.lost_after = 12;
  device->failed(DeviceError("the GPU failed while computing: it fell off the bus"));
  const PairScorer on_auto = scorer(*model, batch, options);
  EXPECT_EQ(on_auto.top_co_runners({}, {.k = 4}),
            scorer(*model, batch).top_co_runners({}, {.k = 4}));
  EXPECT_EQ(fiber_cuda::device.launches, 0);
  EXPECT_EQ(on_auto.ran_on().substr(0, 3), "cpu");
  EXPECT_NE(device->record().find("fell off the bus"), std::string::npos);
  EXPECT_NE(device->note().find("results are the same"), std::string::npos);
}

TEST_F(Scoring, AutoLeavesSmallBatchesToTheProcessor) {
  const auto model = model_of("contention");
  const Batch batch = batch_of(8, 8);
  ScoringOptions options;
  options.device = emulated("auto");
  const double overhead = options.device->batch_overhead_s();
  EXPECT_GT(overhead, 0);
  const int before = fiber_cuda::device.launches;
  const PairScorer few = scorer(*model, batch, options);
  few.top_co_runners({}, {.k = 3});
  // Eight jobs take the processor less than a microsecond, which fibers alone exceed.
  EXPECT_EQ(fiber_cuda::device.launches, before);
  EXPECT_EQ(few.ran_on().substr(0, 3), "cpu");
}

TEST_F(Scoring, KernelsWithABrokenBarrierAreCaught) {
  const auto lame = [] {
    if (threadIdx.x != 3) __syncthreads();
  };
  EXPECT_NE(fiber_cuda::run_grid(dim3(1), dim3(8), 0, lame), "");
}

}  // namespace
}  // namespace corun::scoring_test
