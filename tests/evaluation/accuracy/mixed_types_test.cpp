#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/experiment/experiment.hpp"
#include "runner/inputs/input_cache.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/public_data.hpp"

/// A cluster of V100, P100 and K80 with Gavel's rates, against a small simulator of its own: 200 random
/// traces, gangs over types, jobs that do not run on every type, and pairs at the rates of their type.
namespace corun::test::mixed_types_test {
namespace {

const std::string kRates = "gavel/simulation_throughputs.json";
constexpr std::array<const char*, 3> kGavel{"v100", "p100", "k80"};

/// The file's rates, read without corun's reader.
struct Rates {
  struct Kind {
    std::string name;
    int gpus = 1;
    std::array<double, 3> alone{};  ///< [steps/s] by type; 0: does not run there
  };
  std::vector<Kind> kinds;                                   ///< with rates on all three types
  std::map<std::string, std::array<nlohmann::json, 3>> row;  ///< by key

  Rates() {
    std::ifstream in(public_data(kRates));
    const nlohmann::json file = nlohmann::json::parse(in);
    for (const auto& [key, _] : file["v100"].items()) {
      Kind kind;
      const std::size_t comma = key.rfind(", ");
      kind.name = key.substr(2, comma - 3);
      kind.gpus = std::stoi(key.substr(comma + 2));
      bool everywhere = kind.gpus <= 4;
      for (std::size_t t = 0; t < kGavel.size(); ++t) {
        const auto& of_type = file[kGavel[t]];
        if (!of_type.contains(key) || !of_type[key].contains("null")) {
          everywhere = false;
          continue;
        }
        kind.alone[t] = of_type[key]["null"];
        row[key][t] = of_type[key];
      }
      if (everywhere && kind.alone[0] > 0) kinds.push_back(kind);
    }
  }
  static std::string key(const Kind& kind) {
    return fmt::format("('{}', {})", kind.name, kind.gpus);
  }
  /// Rates of two jobs beside each other; 0: not measured, or they do not fit.
  std::array<double, 2> beside(const Kind& a, const Kind& b, std::size_t type) const {
    const nlohmann::json& of_a = row.at(key(a))[type];
    if (!of_a.contains(key(b))) return {0, 0};
    return {of_a[key(b)][0], of_a[key(b)][1]};
  }
};

struct Job {
  double arrival = 0;
  const Rates::Kind* kind = nullptr;
  double steps = 0;
};

struct Machine {
  std::vector<std::size_t> type;  ///< by GPU
  std::vector<std::size_t> node;
};

struct Case {
  std::vector<Job> jobs;
  Machine machine;
  std::string machines;  ///< as corun takes it
};

Case random_case(std::uint64_t seed, const std::vector<Rates::Kind>& kinds) {
  Rng rng(seed, Stream::kTest);
  Case c;
  std::size_t node = 0;
  for (std::size_t t = 0; t < kGavel.size(); ++t) {
    const std::uint32_t nodes = 1 + rng.below(2);
    const std::uint32_t gpus = 2 + 2 * rng.below(2);
    c.machines += fmt::format("{}{}x{}:{}", t == 0 ? "" : "+", nodes, gpus, kGavel[t]);
    for (std::uint32_t n = 0; n < nodes; ++n, ++node) {
      for (std::uint32_t g = 0; g < gpus; ++g) {
        c.machine.type.push_back(t);
        c.machine.node.push_back(node);
      }
    }
  }
  std::vector<const Rates::Kind*> fit;  // these GPUs
  for (const Rates::Kind& kind : kinds) {
    const auto usable =
        std::ranges::count_if(c.machine.type, [&](std::size_t t) { return kind.alone[t] > 0; });
    if (usable >= kind.gpus) fit.push_back(&kind);
  }
  double arrival = 0;
  for (int j = 0; j < 40; ++j) {
    const Rates::Kind& kind = *fit[rng.below(static_cast<std::uint32_t>(fit.size()))];
    const double steps = std::floor(kind.alone[0] * (100 + 2000 * rng.uniform())) + 1;
    c.jobs.push_back({arrival, &kind, steps});
    arrival = std::floor(arrival + 200 * rng.uniform());
  }
  return c;
}

/// GPUs for a gang: one node with the fewest free GPUs that suffices, else the lowest-numbered.
std::vector<std::size_t> anywhere(const Machine& m, const std::vector<std::size_t>& free,
                                  std::size_t gang) {
  if (free.size() < gang) return {};
  std::map<std::size_t, std::vector<std::size_t>> by_node;
  for (const std::size_t g : free) by_node[m.node[g]].push_back(g);
  const std::vector<std::size_t>* best = nullptr;
  for (const auto& [node, gpus] : by_node) {
    if (gang > 1 && gpus.size() >= gang && (best == nullptr || gpus.size() < best->size())) {
      best = &gpus;
    }
  }
  const std::vector<std::size_t>& from = best != nullptr ? *best : free;
  return {from.begin(), from.begin() + static_cast<std::ptrdiff_t>(gang)};
}

/// Finish times of one job at a time per GPU, first come first served.
std::vector<double> fifo(const Case& c, bool fastest) {
  const Machine& m = c.machine;
  std::vector<double> busy_until(m.type.size(), 0);
  std::vector<double> finish;
  double now = 0;
  for (const Job& job : c.jobs) {
    now = std::max(now, job.arrival);
    const auto gang = static_cast<std::size_t>(job.kind->gpus);
    for (;;) {
      std::vector<std::size_t> free;
      for (std::size_t g = 0; g < m.type.size(); ++g) {
        if (busy_until[g] <= now && job.kind->alone[m.type[g]] > 0) free.push_back(g);
      }
      std::vector<std::size_t> gpus;
      if (fastest) {
        std::array<std::vector<std::size_t>, 3> of_type;
        for (const std::size_t g : free) of_type[m.type[g]].push_back(g);
        std::size_t best = 3;
        for (std::size_t t = 0; t < 3; ++t) {
          if (of_type[t].size() < gang) continue;
          if (best == 3 || job.kind->alone[t] > job.kind->alone[best]) best = t;
        }
        bool one_suffices = false;
        for (std::size_t t = 0; t < 3; ++t) {
          one_suffices |= job.kind->alone[t] > 0 &&
                          static_cast<std::size_t>(std::ranges::count(m.type, t)) >= gang;
        }
        if (best < 3) gpus = anywhere(m, of_type[best], gang);
        if (best == 3 && !one_suffices) gpus = anywhere(m, free, gang);
      } else {
        gpus = anywhere(m, free, gang);
      }
      if (gpus.empty()) {  // wait for the next end
        double next = std::numeric_limits<double>::infinity();
        for (const double t : busy_until) {
          if (t > now) next = std::min(next, t);
        }
        if (std::isinf(next)) throw std::logic_error("a job fits nowhere");
        now = next;
        continue;
      }
      double rate = std::numeric_limits<double>::infinity();
      for (const std::size_t g : gpus) rate = std::min(rate, job.kind->alone[m.type[g]]);
      finish.push_back(now + job.steps / rate);
      for (const std::size_t g : gpus) busy_until[g] = finish.back();
      break;
    }
  }
  return finish;
}

/// Finish times of pairs in order of arrival on empty GPUs; single-GPU jobs that run on all types.
std::vector<double> pairs(const Case& c, const Rates& rates) {
  struct Gpu {
    std::vector<std::size_t> jobs;
  };
  std::vector<Gpu> gpus(c.machine.type.size());
  std::vector<double> left;
  for (const Job& job : c.jobs) left.push_back(job.steps);
  std::vector<double> finish(c.jobs.size(), -1);
  std::vector<std::size_t> waiting;
  std::size_t next = 0;
  double now = 0;
  const auto rate = [&](std::size_t g, std::size_t k) {
    const std::vector<std::size_t>& jobs = gpus[g].jobs;
    const std::size_t type = c.machine.type[g];
    if (jobs.size() == 1) return c.jobs[jobs[0]].kind->alone[type];
    return rates.beside(*c.jobs[jobs[0]].kind, *c.jobs[jobs[1]].kind, type)[k];
  };
  for (;;) {
    double then =
        next < c.jobs.size() ? c.jobs[next].arrival : std::numeric_limits<double>::infinity();
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      for (std::size_t k = 0; k < gpus[g].jobs.size(); ++k) {
        then = std::min(then, now + left[gpus[g].jobs[k]] / rate(g, k));
      }
    }
    if (std::isinf(then)) return finish;
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      const std::vector<std::size_t> jobs = gpus[g].jobs;
      std::vector<double> done;
      for (std::size_t k = 0; k < jobs.size(); ++k) done.push_back(rate(g, k) * (then - now));
      for (std::size_t k = 0; k < jobs.size(); ++k) {
        left[jobs[k]] -= done[k];
        if (left[jobs[k]] > 1e-7 * c.jobs[jobs[k]].steps) continue;
        finish[jobs[k]] = then;
        std::erase(gpus[g].jobs, jobs[k]);
      }
    }
    now = then;
    while (next < c.jobs.size() && c.jobs[next].arrival <= now) waiting.push_back(next++);
    for (Gpu& gpu : gpus) {
      if (!gpu.jobs.empty() || waiting.empty()) continue;
      for (int k = 0; k < 2 && !waiting.empty(); ++k) {
        gpu.jobs.push_back(waiting.front());
        waiting.erase(waiting.begin());
      }
    }
  }
}

/// Files and the fitted world are read and made once for all cases.
class MixedTypes : public testing::Test {
 protected:
  std::vector<double> simulated(const Case& c, const PolicyConfig& policy) const;

  std::shared_ptr<InputCache> files_ = std::make_shared<InputCache>();
};

std::vector<double> MixedTypes::simulated(const Case& c, const PolicyConfig& policy) const {
  const std::filesystem::path trace =
      std::filesystem::path(testing::TempDir()) / fmt::format("mixed_{}.csv", getpid());
  {
    std::ofstream out(trace);
    out << "job_id,arrival_s,job_type,scale_factor,total_steps\n";
    for (std::size_t j = 0; j < c.jobs.size(); ++j) {
      fmt::print(out, "{},{},\"{}\",{},{:.0f}\n", j, c.jobs[j].arrival, c.jobs[j].kind->name,
                 c.jobs[j].kind->gpus, c.jobs[j].steps);
    }
  }
  Config config;
  config.workload.source = "gavel";
  config.workload.path = trace.string();
  config.cluster.machines = c.machines;
  config.world.path = kRates;
  config.world.fallback = *ModelName::find("cluster-mean");
  config.world.noise = false;
  config.estimates.duration = EstimateKind::kExact;
  config.policies = {policy};
  config.replications = 1;
  const Experiment experiment(std::move(config), public_data(""), {}, nullptr, files_);
  const Replication replication = experiment.run(0);
  std::filesystem::remove(trace);
  std::vector<double> finish;
  for (const JobRecord& job : replication.runs.at(0).record.jobs) {
    finish.push_back(to_seconds(job.finish));
  }
  const UsageRecord& usage = replication.runs[0].record.usage;
  EXPECT_EQ(usage.solo_s[static_cast<std::size_t>(SoloSource::kScaled)], 0);
  EXPECT_EQ(usage.solo_s[static_cast<std::size_t>(SoloSource::kAssumed)], 0);
  return finish;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected,
                 const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t j = 0; j < found.size(); ++j) {
    ASSERT_NEAR(found[j], expected[j], 1e-5) << what << ", job " << j;
  }
}

TEST_F(MixedTypes, AgreesWithASmallSimulator) {
  if (!has_public_data(kRates)) GTEST_SKIP() << not_checked(kRates);
  const Rates rates;
  ASSERT_GT(rates.kinds.size(), 30U);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Case c = random_case(seed, rates.kinds);
    PolicyConfig policy{"fifo", {}, {{"placement", std::string("anywhere")}}};
    expect_near(simulated(c, policy), fifo(c, false), fmt::format("anywhere, seed {}", seed));
    policy.settings["placement"] = std::string("fastest");
    expect_near(simulated(c, policy), fifo(c, true), fmt::format("fastest, seed {}", seed));
    if (HasFatalFailure()) return;
  }
}

TEST_F(MixedTypes, PairsRunAtTheRatesOfTheirType) {
  if (!has_public_data(kRates)) GTEST_SKIP() << not_checked(kRates);
  const Rates rates;
  std::vector<Rates::Kind> kinds;  // all pairs of which were measured on all types
  for (const Rates::Kind& kind : rates.kinds) {
    bool all = kind.gpus == 1;
    for (std::size_t t = 0; t < 3 && all; ++t) {
      all &= kind.alone[t] > 0 && rates.beside(kind, kind, t)[0] > 0;
      for (const Rates::Kind& other : kinds) {
        const auto rate = rates.beside(kind, other, t);
        all &= rate[0] > 0 && rate[1] > 0 && rate[0] <= kind.alone[t] && rate[1] <= other.alone[t];
      }
      const auto self = rates.beside(kind, kind, t);
      all &= self[0] <= kind.alone[t] && self[0] == self[1];
    }
    if (all) kinds.push_back(kind);
  }
  ASSERT_GT(kinds.size(), 3U);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Case c = random_case(seed, kinds);
    expect_near(simulated(c, {"fcfs", {}, {}}), pairs(c, rates), fmt::format("seed {}", seed));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace corun::test::mixed_types_test
