#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/scenarios.hpp"

/// lucid: choices of co-runners, computed by hand.
namespace corun::test::lucid_test {
namespace {

struct Start {
  std::int64_t at_s = 0;
  std::vector<GpuId> gpus;
  friend bool operator==(const Start&, const Start&) = default;
};

std::map<JobId, Start> starts(const ClusterSpec& spec, std::vector<JobSpec> jobs,
                              const std::map<std::string, ParameterValue>& values = {}) {
  const ShareWorld world(1);  // two that share run at half speed
  const OwnedWorkload w = workload(std::move(jobs));
  const PolicyEntry& entry = *find_policy("lucid");
  Parameters parameters(entry.parameters);
  for (const auto& [name, value] : values) parameters.set(name, value);
  const auto policy = make_policy(entry, w, world, 1, parameters);
  RunOptions options;
  options.traits = entry.traits;
  const RunResult r = run(spec, w, world, *policy, options);
  std::map<JobId, Start> found;
  for (const LogEntry& e : r.log) {
    if (e.kind == LogKind::kStart) found[e.job] = {e.at.count() / 1'000'000'000, e.gpus};
  }
  return found;
}

TEST(Lucid, SharesThoughAGpuIsFree) {
  const auto s = starts(cluster(1, 4), {job(seconds(100)), job(seconds(50)).at(seconds(1))});
  EXPECT_EQ(s.at(J(1)), (Start{1, {G(0)}}));
}

TEST(Lucid, TheNewcomerMayBeTwiceAsLongAndNoLonger) {
  EXPECT_EQ(
      starts(cluster(1, 2), {job(seconds(50)), job(seconds(100)).at(seconds(1))}).at(J(1)).gpus,
      (std::vector{G(0)}));
  EXPECT_EQ(
      starts(cluster(1, 2), {job(seconds(50)), job(seconds(101)).at(seconds(1))}).at(J(1)).gpus,
      (std::vector{G(1)}));
  // The whole estimate of the running job counts, not the rest of it.
  EXPECT_EQ(
      starts(cluster(1, 2), {job(seconds(50)), job(seconds(100)).at(seconds(49))}).at(J(1)).gpus,
      (std::vector{G(0)}));
}

TEST(Lucid, MemoryMustStayBelowTheLimitAndLabelsAtIt) {
  const ClusterSpec two = cluster(1, 2, 1, 1000);
  const auto second = [&](JobSpec a, JobSpec b) {
    b.submit = seconds(1);
    return starts(two, {a, b}).at(J(1)).gpus.front();
  };
  EXPECT_EQ(second(job(seconds(9)).memory(600), job(seconds(9)).memory(399)), G(0));
  EXPECT_EQ(second(job(seconds(9)).memory(600), job(seconds(9)).memory(400)), G(1));
  EXPECT_EQ(second(job(seconds(9)).label(1), job(seconds(9)).label(1)), G(0));
  EXPECT_EQ(second(job(seconds(9)).label(2), job(seconds(9)).label(1)), G(1));
  EXPECT_EQ(second(job(seconds(9)).label(2), job(seconds(9))), G(0));  // unknown counts 0
}

TEST(Lucid, TheFirstInOrderOfStartThatIsAloneAndHasAsManyGpus) {
  const auto s = starts(cluster(1, 8),
                        {job(seconds(90)).gpus(2), job(seconds(90)).at(seconds(1)),
                         job(seconds(300)).at(seconds(2)), job(seconds(80)).at(seconds(3)),
                         job(seconds(80)).at(seconds(4)), job(seconds(80)).at(seconds(5)).gpus(2)});
  EXPECT_EQ(s.at(J(2)).gpus, (std::vector{G(3)}));        // too long for job 1
  EXPECT_EQ(s.at(J(3)).gpus, (std::vector{G(2)}));        // job 1, not the gang
  EXPECT_EQ(s.at(J(4)).gpus, (std::vector{G(3)}));        // job 1 is no longer alone
  EXPECT_EQ(s.at(J(5)).gpus, (std::vector{G(0), G(1)}));  // all of the gang's
}

TEST(Lucid, ASurvivorIsAloneAgain) {
  // Job 1 is done at 1 + 2 x 10 s; job 2, refused until then, joins job 0 at that instant.
  const auto s = starts(cluster(1, 1), {job(seconds(90)), job(seconds(10)).at(seconds(1)),
                                        job(seconds(10)).at(seconds(2))});
  EXPECT_EQ(s.at(J(2)), (Start{21, {G(0)}}));
}

TEST(Lucid, TheQueueGoesByLengthTimesGpusAndNobodyBlocks) {
  // All wait for job 0, which is heavy and takes no co-runners, on one node of 2.
  const auto s = starts(
      cluster(1, 2),
      {job(seconds(20)).gpus(2).label(2), job(seconds(30)).at(seconds(1)).label(2),
       job(seconds(20)).at(seconds(2)).gpus(2).label(2), job(seconds(25)).at(seconds(3)).label(2)});
  EXPECT_EQ(s.at(J(3)), (Start{20, {G(0)}}));
  EXPECT_EQ(s.at(J(1)), (Start{20, {G(1)}}));
  EXPECT_EQ(s.at(J(2)), (Start{50, {G(0), G(1)}}));
}

TEST(Lucid, GangsOverSeveralNodesAndFullGpusStayAlone) {
  const auto wide =
      starts(cluster(3, 2), {job(seconds(90)).gpus(4), job(seconds(9)).at(seconds(1)).gpus(4)});
  EXPECT_EQ(wide.at(J(1)).at_s, 90);
  ClusterSpec one = cluster(1, 1);
  one.max_jobs_per_gpu = 1;
  EXPECT_EQ(starts(one, {job(seconds(90)), job(seconds(9)).at(seconds(1))}).at(J(1)).at_s, 90);
  EXPECT_EQ(starts(cluster(1, 1), {job(seconds(90)), job(seconds(9)).at(seconds(1))},
                   {{"label_sum", std::int64_t{-1}}})
                .at(J(1))
                .at_s,
            90);
}

/// The same rules as plain loops over everything; the only state is the jobs of each GPU.
class PlainLucid final : public Policy {
 public:
  void departed(JobId job, LogKind, Time) override { std::erase(order_, job); }
  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    std::vector<JobId> queue = ids(view.waiting());
    const auto length = [&](JobId j) {
      return static_cast<double>(view.job(j).estimate->count()) * view.job(j).gpus;
    };
    std::stable_sort(queue.begin(), queue.end(), [&](JobId a, JobId b) {
      return std::pair(length(a), view.job(a).submit) < std::pair(length(b), view.job(b).submit);
    });
    for (const JobId j : queue) {
      const JobView& job_view = view.job(j);
      for (const JobId host : order_) {
        std::vector<GpuId> gpus;
        bool alone = true;
        bool allowed = true;
        for (std::uint32_t g = 0; g < view.gpus().size(); ++g) {
          const auto& residents = view.gpu(G(g)).residents;
          if (std::find(residents.begin(), residents.end(), host) == residents.end()) continue;
          gpus.push_back(G(g));
          alone &= residents.size() == 1;
          allowed &= may_run_on(job_view, view.gpu_type(G(g)));
        }
        const JobView& other = view.job(host);
        const double memory =
            job_view.profile.mem_used_mib.value_or(0) + other.profile.mem_used_mib.value_or(0);
        const int label =
            job_view.profile.packing_label.value_or(0) + other.profile.packing_label.value_or(0);
        if (!alone || !allowed || view.max_jobs_per_gpu(2) < 2 || job_view.gpus > 2 ||
            other.gpus != job_view.gpus || memory >= 1000 || label > 2 ||
            length(j) > 2 * length(host)) {
          continue;
        }
        order_.push_back(j);
        out.emplace_back(StartGroup{{j}, gpus});
        return;
      }
      std::vector<GpuId> gpus = place(view, job_view);
      if (gpus.empty()) continue;
      order_.push_back(j);
      out.emplace_back(StartGroup{{j}, gpus});
      return;
    }
  }

 private:
  static std::vector<GpuId> place(const ClusterView& view, const JobView& job) {
    const int gang = job.gpus;
    std::vector<std::vector<GpuId>> nodes(view.cluster().nodes.size());
    view.empty_gpus().each([&](GpuId g) {
      if (may_run_on(job, view.gpu_type(g))) nodes[index(view.gpu(g).node)].push_back(g);
      return true;
    });
    const auto n = static_cast<std::size_t>(gang);
    if (gang <= 2) {
      std::stable_sort(nodes.begin(), nodes.end(),
                       [](const auto& a, const auto& b) { return a.size() < b.size(); });
      for (const auto& node : nodes) {
        if (node.size() >= n) return {node.begin(), node.begin() + gang};
      }
      return {};
    }
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::vector<GpuId> chosen;
    std::size_t whole = n / 2;
    for (const auto& node : nodes) {
      if (whole > 0) {
        if (node.size() < 2) return {};
        chosen.insert(chosen.end(), node.begin(), node.end());
        --whole;
      } else if (chosen.size() < n) {
        if (node.size() < n - chosen.size()) return {};
        const std::size_t rest = n - chosen.size();
        chosen.insert(chosen.end(), node.begin(), node.begin() + static_cast<std::ptrdiff_t>(rest));
      }
    }
    return chosen.size() == n ? chosen : std::vector<GpuId>{};
  }

  std::vector<JobId> order_;  ///< running jobs in order of their start
};

/// Two GPU types on the nodes in turn; a third of the jobs name one that has room for them.
void name_types(ClusterSpec& spec, std::vector<JobSpec>& jobs, std::uint64_t seed) {
  Rng rng(seed, Stream::kTest, 8);
  for (std::size_t n = 0; n < spec.nodes.size(); ++n) {
    spec.nodes[n] = of_type(static_cast<std::uint32_t>(n % 2), spec.nodes[n]);
  }
  for (JobSpec& j : jobs) {
    j.gpu_models = rng.below(3) == 0 ? 1 + rng.below(2) : 0;
    if (allowed_gpus(spec, j, false) < j.gpus) j.gpu_models = 0;
  }
}

TEST(Lucid, DecidesAsThePlainRulesDo) {
  int shared = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Rng rng(seed, Stream::kTest, 7);
    std::vector<JobSpec> jobs;
    for (int i = 0; i < 60; ++i) {
      jobs.push_back(job(seconds(1 + rng.below(40)))
                         .at(seconds(rng.below(120)))
                         .gpus(static_cast<int>(1 + rng.below(rng.below(4) == 0 ? 5 : 2)))
                         .memory(100.0 * rng.below(10))
                         .label(static_cast<int>(rng.below(3))));
    }
    ClusterSpec spec = cluster(static_cast<int>(3 + rng.below(3)), 2, 1, 1000);
    if (seed % 2 == 1) name_types(spec, jobs, seed);
    const OwnedWorkload w = workload(std::move(jobs));
    const ErraticWorld world(seed);
    PlainLucid plain;
    RunOptions options;
    options.traits = find_policy("lucid")->traits;
    const RunResult expected = run(spec, w, world, plain, options);
    const auto policy = make_policy(*find_policy("lucid"), w, world, 1);
    const RunResult r = run(spec, w, world, *policy, options);
    for (std::size_t j = 0; j < w.jobs.size(); ++j) {
      ASSERT_EQ(r.record.jobs[j].first_start, expected.record.jobs[j].first_start)
          << "seed " << seed << ", job " << j;
      ASSERT_EQ(r.record.jobs[j].finish, expected.record.jobs[j].finish)
          << "seed " << seed << ", job " << j;
    }
    for (const EpisodeRecord& e : r.record.episodes) shared += e.jobs.size() > 1;
  }
  EXPECT_GT(shared, 4000);
}

}  // namespace
}  // namespace corun::test::lucid_test
