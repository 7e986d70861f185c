#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/scenarios.hpp"

/// fgd, best-fit, dot-product and gpu-packing: pods on parts of GPUs.
namespace corun::test::pod_policies_test {
namespace {

RunResult simulate(std::string_view policy, const ClusterSpec& spec, const OwnedWorkload& w) {
  const ShareWorld world(0);
  RunOptions options;
  options.name = policy;
  options.traits = find_policy(policy)->traits;
  const auto p = make_policy(*find_policy(policy), w, world, 1);
  return run(spec, w, world, *p, options);
}

std::map<JobId, std::vector<GpuId>> places(const RunResult& r) {
  std::map<JobId, std::vector<GpuId>> found;
  for (const LogEntry& e : r.log) {
    if (e.kind == LogKind::kStart) found[e.job] = e.gpus;
  }
  return found;
}

NodeSpec pod_node(int gpus, std::int64_t cpu_milli, std::int64_t memory_mib = 1000) {
  NodeSpec n = node(gpus);
  n.cpu_milli = cpu_milli;
  n.memory_mib = memory_mib;
  return n;
}

class PodPolicies : public testing::TestWithParam<std::string_view> {};

TEST_P(PodPolicies, SharesOfAGpuAddUpToOneAtMost) {
  const auto r = simulate(GetParam(), cluster(1, 1),
                          workload({job(seconds(10)).milli(600), job(seconds(10)).milli(400),
                                    job(seconds(10)).milli(500), job(seconds(10)).milli(500)}));
  EXPECT_EQ(r.record.jobs[0].first_start, seconds(0));
  EXPECT_EQ(r.record.jobs[1].first_start, seconds(0));
  EXPECT_EQ(r.record.jobs[2].first_start, seconds(10));
  EXPECT_EQ(r.record.jobs[3].first_start, seconds(10));
}

TEST_P(PodPolicies, NobodyBlocksAndCpuMemoryAndModelCount) {
  ClusterSpec spec = cluster({pod_node(1, 4000), pod_node(1, 8000, 500)});
  spec.nodes[1].gpu.name = "other";
  spec.nodes[1].gpu.id = 1;
  const auto r = simulate(
      GetParam(), spec,
      workload({job(seconds(10)).milli(100).requests(8000, 0),            // node 1 only
                job(seconds(10)).milli(100).requests(0, 600),             // node 0 only
                job(seconds(10)).milli(100).requests(1000, 0).models(2),  // no CPU left on node 1
                job(seconds(10)).milli(100).requests(1000, 0)}));
  EXPECT_EQ(places(r).at(J(0)), std::vector{G(1)});
  EXPECT_EQ(places(r).at(J(1)), std::vector{G(0)});
  EXPECT_EQ(r.record.jobs[2].first_start, seconds(10));
  EXPECT_EQ(places(r).at(J(2)), std::vector{G(1)});
  EXPECT_EQ(r.record.jobs[3].first_start, seconds(0));
  EXPECT_EQ(places(r).at(J(3)), std::vector{G(0)});
}

TEST_P(PodPolicies, WholeGpusAreOfOneNode) {
  const auto r = simulate(
      GetParam(), cluster(2, 2),
      workload({job(seconds(10)).milli(500), job(seconds(10)).gpus(2), job(seconds(10)).gpus(2)}));
  const auto first = places(r).at(J(0)).front();
  const std::vector<GpuId> other =
      index(first) < 2 ? std::vector{G(2), G(3)} : std::vector{G(0), G(1)};
  EXPECT_EQ(places(r).at(J(1)), other);
  EXPECT_EQ(r.record.jobs[2].first_start, seconds(10));
}

INSTANTIATE_TEST_SUITE_P(All, PodPolicies,
                         testing::Values("fgd", "best-fit", "dot-product", "gpu-packing"),
                         [](const auto& test) {
                           std::string name(test.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(GpuPacking, UsedGpusThenUsedNodesThenIdleOnes) {
  // The share of 500 on node 1 (models), then: a share of 300 joins it, a share of 600 does not fit and
  // takes the idle GPU of the used node, a whole one the idle node.
  ClusterSpec spec = cluster(2, 2);
  spec.nodes[1].gpu.name = "other";
  spec.nodes[1].gpu.id = 1;
  const auto p =
      places(simulate("gpu-packing", spec,
                      workload({job(seconds(9)).milli(500).models(2), job(seconds(9)).milli(300),
                                job(seconds(9)).milli(600), job(seconds(9))})));
  EXPECT_EQ(p.at(J(1)), std::vector{G(2)});
  EXPECT_EQ(p.at(J(2)), std::vector{G(3)});
  EXPECT_EQ(p.at(J(3)), std::vector{G(0)});
}

TEST(BestFit, TheNodeWithTheLeastLeft) {
  // Half of 2/8 CPU left and of 1/2 GPUs on node 0; of 6/8 and 0/2 on node 1: 0.375 each, so node 0 ...
  const ClusterSpec tie = cluster({pod_node(2, 4000), pod_node(1, 8000)});
  EXPECT_EQ(
      places(simulate("best-fit", tie, workload({job(seconds(9)).requests(2000, 0)}))).at(J(0)),
      std::vector{G(0)});
  // ... and node 1 with a little less CPU.
  const ClusterSpec less = cluster({pod_node(2, 4100), pod_node(1, 8000)});
  EXPECT_EQ(
      places(simulate("best-fit", less, workload({job(seconds(9)).requests(2000, 0)}))).at(J(0)),
      std::vector{G(2)});
}

TEST(DotProduct, TheNodeLeastAlignedWithThePod) {
  // CPU 1 x 1/4, GPU 1/2 x 1/2 on node 0: 0.5; CPU 1/4 x 1/4, GPU 1 x 1/2 on node 1: 0.5625.
  const ClusterSpec spec = cluster({pod_node(1, 8000), pod_node(2, 2000)});
  const auto of = [&](JobSpec j) {
    return places(simulate("dot-product", spec, workload({std::move(j)}))).at(J(0)).front();
  };
  EXPECT_EQ(of(job(seconds(9)).requests(2000, 0)), G(0));
  // Without CPU only the GPUs count: 1/4 against 1/2.
  EXPECT_EQ(of(job(seconds(9))), G(0));
  // A pod that is nearly all CPU: 1 x 1/4 + 1/2 x 1/20 against 1/16 + 1/20.
  EXPECT_EQ(of(job(seconds(9)).requests(2000, 0).milli(100)), G(1));
}

TEST(Fgd, AShareGoesWhereItLeavesLessThatNobodyCanUse) {
  // One pod of each kind. On the GPU with 400 left the share of 400 takes capacity that neither the whole
  // GPU nor the share of 600 could use: growth -(400 + 400) / 3. On the empty one it takes 600 from the
  // whole GPU: + 600 / 3.
  const auto p = places(simulate(
      "fgd", cluster(2, 1),
      workload({job(seconds(9)).milli(600), job(seconds(9)).milli(400), job(seconds(9))})));
  EXPECT_EQ(p.at(J(0)), std::vector{G(0)});
  EXPECT_EQ(p.at(J(1)), std::vector{G(0)});
  EXPECT_EQ(p.at(J(2)), std::vector{G(1)});
}

/// The paper's formulas on the present view; the only state is the kinds.
class PlainFgd final : public Policy {
 public:
  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    for (const JobId j : view.waiting()) {
      if (seen_.size() <= index(j)) seen_.resize(index(j) + 1);
      if (!seen_[index(j)]) arrived_.push_back(view.job(j));
      seen_[index(j)] = true;
    }
    if (static_cast<double>(arrived_.size()) >= 2 * learnt_) learn();
    for (const JobId j : view.waiting()) {
      const JobView& pod = view.job(j);
      double best = 1e300;
      std::vector<GpuId> gpus;
      for (std::size_t n = 0; n < view.cluster().nodes.size(); ++n) {
        const State before = state(view, n);
        if (!runs(before, pod)) continue;
        std::vector<std::vector<std::size_t>> ways;
        if (pod.gpu_milli < 1000) {
          for (std::size_t g = 0; g < before.gpus.size(); ++g) {
            if (before.gpus[g] >= pod.gpu_milli) ways.push_back({g});
          }
        } else {
          ways.emplace_back();
          for (std::size_t g = 0; ways[0].size() < static_cast<std::size_t>(pod.gpus); ++g) {
            if (before.gpus[g] == 1000) ways[0].push_back(g);
          }
        }
        for (const auto& way : ways) {
          State after = before;
          after.cpu -= pod.request.cpu_milli;
          after.memory -= pod.request.memory_mib;
          for (const std::size_t g : way) after.gpus[g] -= pod.gpu_milli;
          const double growth = fragmentation(after) - fragmentation(before);
          if (growth >= best) continue;
          best = growth;
          gpus.clear();
          for (const std::size_t g : way) {
            gpus.push_back(G(static_cast<std::uint32_t>(
                index(view.state().first_gpu(NodeId{static_cast<std::uint32_t>(n)})) + g)));
          }
        }
      }
      if (gpus.empty()) continue;
      out.emplace_back(StartGroup{{j}, gpus});
      return;
    }
  }

 private:
  struct State {
    std::int64_t cpu = 0, memory = 0;
    std::vector<int> gpus;
  };
  static State state(const ClusterView& view, std::size_t n) {
    const NodeSpec& spec = view.cluster().nodes[n];
    State s{spec.cpu_milli, spec.memory_mib,
            std::vector<int>(static_cast<std::size_t>(spec.gpus), 1000)};
    std::vector<JobId> counted;
    for (std::size_t g = 0; g < view.gpus().size(); ++g) {
      if (index(view.gpus()[g].node) != n) continue;
      const std::size_t local = g - index(view.state().first_gpu(view.gpus()[g].node));
      for (const JobId j : view.gpus()[g].residents) {
        s.gpus[local] -= view.job(j).gpu_milli;
        if (std::find(counted.begin(), counted.end(), j) != counted.end()) continue;
        counted.push_back(j);
        s.cpu -= view.job(j).request.cpu_milli;
        s.memory -= view.job(j).request.memory_mib;
      }
    }
    return s;
  }
  static bool runs(const State& s, const JobView& pod) {
    return pod.request.cpu_milli <= s.cpu && pod.request.memory_mib <= s.memory &&
           std::count_if(s.gpus.begin(), s.gpus.end(), [&](int g) { return g >= pod.gpu_milli; }) >=
               pod.gpus;
  }
  static bool same(const JobView& a, const JobView& b) {
    return a.gpus == b.gpus && a.gpu_milli == b.gpu_milli &&
           a.request.cpu_milli == b.request.cpu_milli &&
           a.request.memory_mib == b.request.memory_mib;
  }
  void learn() {
    learnt_ = static_cast<double>(arrived_.size());
    target_.clear();
    for (const JobView& j : arrived_) {
      const auto at = std::find_if(target_.begin(), target_.end(),
                                   [&](const auto& t) { return same(t.first, j); });
      if (at == target_.end()) {
        target_.emplace_back(j, 1);
      } else {
        at->second += 1;
      }
    }
    std::stable_sort(target_.begin(), target_.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    double covered = 0;
    std::size_t kinds = 0;
    for (; kinds < target_.size() && covered < 0.95 * learnt_; ++kinds) {
      covered += target_[kinds].second;
    }
    target_.resize(kinds);
  }
  double fragmentation(const State& s) const {
    double sum = 0;
    for (const auto& [pod, popularity] : target_) {
      const bool can = runs(s, pod);
      for (const int g : s.gpus) {
        if (!can || g < pod.gpu_milli) sum += popularity * g;
      }
    }
    return sum;
  }

  std::vector<bool> seen_;
  std::vector<JobView> arrived_;
  double learnt_ = 0;
  std::vector<std::pair<JobView, double>> target_;  ///< a job of the kind, its popularity
};

TEST(Fgd, DecidesAsThePapersFormulasDo) {
  int shared = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Rng rng(seed, Stream::kTest, 8);
    std::vector<JobSpec> jobs;
    for (int i = 0; i < 50; ++i) {
      JobBuilder j = job(seconds(1 + rng.below(40))).at(seconds(rng.below(60)));
      if (rng.below(3) > 0) {
        j.milli(static_cast<int>(250 * (1 + rng.below(3))));
      } else {
        j.gpus(static_cast<int>(1 + rng.below(2)));
      }
      jobs.push_back(j.requests(1000 * rng.below(4), 0));
    }
    const OwnedWorkload w = workload(std::move(jobs));
    const ClusterSpec spec = cluster({pod_node(2, 8000), pod_node(4, 9000), pod_node(2, 6000)});
    const ShareWorld world(0.1);
    PlainFgd plain;
    RunOptions options;
    options.traits = find_policy("fgd")->traits;
    const RunResult expected = run(spec, w, world, plain, options);
    const auto policy = make_policy(*find_policy("fgd"), w, world, 1);
    const RunResult r = run(spec, w, world, *policy, options);
    ASSERT_EQ(places(r), places(expected)) << "seed " << seed;
    for (std::size_t j = 0; j < w.jobs.size(); ++j) {
      ASSERT_EQ(r.record.jobs[j].finish, expected.record.jobs[j].finish) << "seed " << seed;
    }
    for (const EpisodeRecord& e : r.record.episodes) shared += e.jobs.size() > 1;
  }
  EXPECT_GT(shared, 500);
}

}  // namespace
}  // namespace corun::test::pod_policies_test
