#include "sim/cluster_state.hpp"

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"
#include "tests/helpers/builders.hpp"

namespace corun::cluster_state_test {
namespace {

using test::G;
using test::J;

std::vector<std::uint32_t> members(const GpuSet& set) {
  std::vector<std::uint32_t> found;
  set.each([&](GpuId g) {
    found.push_back(static_cast<std::uint32_t>(index(g)));
    return true;
  });
  return found;
}

TEST(ClusterState, GpusAreNumberedNodeByNode) {
  const ClusterSpec spec = test::cluster({test::node(2, 1.0), test::node(3, 2.0)});
  const ClusterState state(spec);
  ASSERT_EQ(state.gpus().size(), 5U);
  EXPECT_EQ(spec.gpu_count(), 5);
  for (std::uint32_t g = 0; g < 5; ++g) {
    EXPECT_EQ(index(state.gpu(G(g)).node), g < 2 ? 0U : 1U);
    EXPECT_EQ(state.gpu_type(G(g)).speed, g < 2 ? 1.0 : 2.0);
    EXPECT_TRUE(state.empty_gpus().contains(G(g)));
  }
  EXPECT_EQ(state.empty_gpus().size(), 5);
}

TEST(ClusterState, ResidentsAscendAndAnEmptyGpuIsInTheSet) {
  const ClusterSpec spec = test::cluster(1, 2);
  ClusterState state(spec);
  state.add(G(1), J(7), false);
  state.add(G(1), J(2), false);
  state.add(G(1), J(5), false);
  EXPECT_EQ(state.gpu(G(1)).residents, (std::vector<JobId>{J(2), J(5), J(7)}));
  EXPECT_EQ(members(state.empty_gpus()), (std::vector<std::uint32_t>{0}));
  state.remove(G(1), J(5));
  EXPECT_EQ(state.gpu(G(1)).residents, (std::vector<JobId>{J(2), J(7)}));
  state.remove(G(1), J(2));
  EXPECT_FALSE(state.empty_gpus().contains(G(1)));
  state.remove(G(1), J(7));
  EXPECT_EQ(members(state.empty_gpus()), (std::vector<std::uint32_t>{0, 1}));
}

TEST(ClusterState, ProfilingIsMarkedAndUnmarked) {
  const ClusterSpec spec = test::cluster(1, 1);
  ClusterState state(spec);
  state.add(G(0), J(0), true);
  EXPECT_TRUE(state.gpu(G(0)).profiling);
  state.remove(G(0), J(0));
  EXPECT_FALSE(state.gpu(G(0)).profiling);
}

/// Gangs on nodes of 8, 3, 70 (more than a word of a bitmap) and 1, in any order of their GPUs.
TEST(ClusterState, AGangIsAddedAndRemovedAsItsGpusOneByOne) {
  const ClusterSpec spec = test::cluster(
      {test::node(8, 1.0), test::node(3, 1.0), test::node(70, 1.0), test::node(1, 1.0)});
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, Stream::kTest, 7);
    std::vector<GpuId> gang;
    const std::uint32_t first = rng.below(82);
    for (std::uint32_t g = first; g < 82; ++g) {
      if (seed % 2 == 0 || rng.below(3) > 0) gang.push_back(G(g));
    }
    gang.resize(gang.empty() ? 0 : 1 + rng.below(static_cast<std::uint32_t>(gang.size())));
    for (std::size_t i = gang.size(); seed % 3 == 0 && i > 1; --i) {
      std::swap(gang[i - 1], gang[rng.below(static_cast<std::uint32_t>(i))]);
    }
    ClusterState whole(spec);
    ClusterState one_by_one(spec);
    const auto expect_same = [&] {
      EXPECT_EQ(members(whole.empty_gpus()), members(one_by_one.empty_gpus())) << seed;
      EXPECT_EQ(whole.empty_gpus().size(), one_by_one.empty_gpus().size()) << seed;
      for (std::uint32_t n = 0; n < 4; ++n) {
        EXPECT_EQ(whole.empty().nodes().free(NodeId{n}),
                  one_by_one.empty().nodes().free(NodeId{n}));
      }
      for (const GpuId g : gang) EXPECT_EQ(whole.gpu(g).residents, one_by_one.gpu(g).residents);
    };
    whole.add_alone(gang, J(5));
    for (const GpuId g : gang) one_by_one.add(g, J(5), false);
    expect_same();
    FreeGpus plan = whole.empty();  // GPUs that are free already are no change
    whole.each_node(gang, [&](NodeId node, std::span<const GpuId> own) {
      plan.insert(own.front(), node);
      plan.insert(own, node);
    });
    whole.remove_alone(gang);
    for (const GpuId g : gang) one_by_one.remove(g, J(5));
    expect_same();
    EXPECT_EQ(plan.gpus().size(), 82) << seed;
    EXPECT_EQ(plan.nodes().free(NodeId{2}), 70) << seed;
  }
}

TEST(GpuSet, ScanStopsWhenAsked) {
  GpuSet set(200);
  for (const std::uint32_t g : {199U, 3U, 64U, 63U}) set.insert(G(g));
  std::vector<std::uint32_t> found;
  set.each([&](GpuId g) {
    found.push_back(static_cast<std::uint32_t>(index(g)));
    return found.size() < 2;
  });
  EXPECT_EQ(found, (std::vector<std::uint32_t>{3, 63}));
  EXPECT_EQ(members(set), (std::vector<std::uint32_t>{3, 63, 64, 199}));
}

TEST(GpuSet, RandomOperationsAgreeWithAnOrderedSet) {
  Rng rng(1, Stream::kTest);
  for (const int gpus : {1, 63, 64, 65, 300}) {
    GpuSet set(gpus);
    std::set<std::uint32_t> reference;
    for (int step = 0; step < 2000; ++step) {
      const std::uint32_t g = rng.below(static_cast<std::uint32_t>(gpus));
      if (rng.below(2) == 0) {
        set.insert(G(g));
        reference.insert(g);
      } else {
        set.erase(G(g));
        reference.erase(g);
      }
      ASSERT_EQ(set.size(), static_cast<int>(reference.size()));
      ASSERT_EQ(set.empty(), reference.empty());
      ASSERT_EQ(set.contains(G(g)), reference.count(g) == 1);
    }
    EXPECT_EQ(members(set), std::vector<std::uint32_t>(reference.begin(), reference.end()));
  }
}

std::vector<NodeId> with_free(const NodesByFree& nodes, int count) {
  std::vector<NodeId> found;
  nodes.each(count, [&](NodeId n) {
    found.push_back(n);
    return true;
  });
  return found;
}

TEST(NodesByFree, FollowsWhoComesAndGoes) {
  ClusterSpec spec = test::cluster(70, 2);  // more than one word of nodes
  spec.nodes[69].gpus = 3;
  ClusterState state(spec);
  const NodesByFree& nodes = state.empty().nodes();
  EXPECT_EQ(nodes.most(), 3);
  EXPECT_EQ(with_free(nodes, 2).size(), 69U);
  EXPECT_EQ(with_free(nodes, 3), std::vector{NodeId{69}});
  state.add(G(2), J(0), false);
  state.add(G(2), J(1), false);  // a second resident changes nothing
  state.add(state.first_gpu(NodeId{69}), J(2), false);
  EXPECT_EQ(nodes.free(NodeId{1}), 1);
  EXPECT_EQ(with_free(nodes, 1), std::vector{NodeId{1}});
  EXPECT_EQ(with_free(nodes, 2).back(), NodeId{69});
  EXPECT_EQ(with_free(nodes, 0), std::vector<NodeId>{});
  state.remove(G(2), J(0));
  EXPECT_EQ(nodes.free(NodeId{1}), 1);
  state.remove(G(2), J(1));
  EXPECT_EQ(nodes.free(NodeId{1}), 2);
  EXPECT_EQ(with_free(nodes, 2).size(), 70U);
}

}  // namespace
}  // namespace corun::cluster_state_test
