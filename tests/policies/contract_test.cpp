#include <algorithm>
#include <cctype>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "models/knowledge/cluster_mean_belief.hpp"
#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"
#include "sim/error.hpp"
#include "tests/helpers/scenarios.hpp"

/// Requirements of the rest of the program on every entry of the catalogue.
namespace corun::test::contract_test {
namespace {

TEST(PolicyCatalog, NamesAndDescriptionsAreThereAndUnique) {
  std::set<std::string_view> names, descriptions;
  for (const PolicyEntry& e : policy_catalog()) {
    EXPECT_FALSE(e.name.empty());
    EXPECT_TRUE(std::all_of(e.name.begin(), e.name.end(), [](unsigned char c) {
      return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-';
    })) << e.name;
    EXPECT_FALSE(e.description.empty()) << e.name;
    EXPECT_EQ(e.description.find('\n'), std::string_view::npos) << e.name;
    EXPECT_NE(e.make, nullptr) << e.name;
    EXPECT_TRUE(names.insert(e.name).second) << e.name;
    EXPECT_TRUE(descriptions.insert(e.description).second) << e.name;
    EXPECT_EQ(find_policy(e.name), &e);
  }
  EXPECT_EQ(find_policy("no-such-policy"), nullptr);
  EXPECT_EQ(find_policy(""), nullptr);
}

TEST(PolicyCatalog, OnlyTheOracleReadsTheTruth) {
  for (const PolicyEntry& e : policy_catalog()) {
    EXPECT_EQ(e.needs == PolicyNeeds::kTruth, e.name == "oracle") << e.name;
  }
}

TEST(PolicyCatalog, ParametersAreDescribedAndFallBackToAValueOfTheirKind) {
  for (const PolicyEntry& e : policy_catalog()) {
    std::set<std::string_view> names;
    for (const ParameterSpec& p : e.parameters) {
      const std::string where = std::string(e.name) + "." + std::string(p.name);
      EXPECT_FALSE(p.name.empty()) << where;
      EXPECT_FALSE(p.description.empty()) << where;
      EXPECT_TRUE(names.insert(p.name).second) << where;
      EXPECT_LE(p.min, p.max) << where;
      const bool absent = std::holds_alternative<std::monostate>(p.fallback);
      switch (p.kind) {
        case ParameterKind::kNumber: {
          const double* v = std::get_if<double>(&p.fallback);
          ASSERT_NE(v, nullptr) << where;
          EXPECT_TRUE(p.min <= *v && *v <= p.max) << where;
          break;
        }
        case ParameterKind::kInteger: {
          const auto* v = std::get_if<std::int64_t>(&p.fallback);
          ASSERT_TRUE(absent || v != nullptr) << where;
          if (v != nullptr) {
            EXPECT_TRUE(p.min <= static_cast<double>(*v) && static_cast<double>(*v) <= p.max);
          }
          break;
        }
        case ParameterKind::kChoice: {
          const auto* v = std::get_if<std::string>(&p.fallback);
          ASSERT_NE(v, nullptr) << where;
          EXPECT_NE(std::find(p.choices.begin(), p.choices.end(), *v), p.choices.end()) << where;
          break;
        }
        case ParameterKind::kClusterPairs:
          EXPECT_TRUE(absent || std::holds_alternative<std::vector<ClusterPair>>(p.fallback));
          break;
        case ParameterKind::kJobs:
        case ParameterKind::kTexts:
          EXPECT_TRUE(absent || std::holds_alternative<std::vector<std::string>>(p.fallback));
          break;
        case ParameterKind::kNumbers: {
          const auto* v = std::get_if<std::vector<double>>(&p.fallback);
          ASSERT_NE(v, nullptr) << where;
          for (const double x : *v) EXPECT_TRUE(p.min <= x && x <= p.max) << where;
          break;
        }
      }
    }
  }
}

TEST(Parameters, GivenElseFallback) {
  const PolicyEntry& entry = *find_policy("max-packing");
  Parameters p(entry.parameters);
  EXPECT_EQ(p.choice("by"), "utilisation");
  EXPECT_EQ(p.integer("bin_max"), std::nullopt);
  EXPECT_TRUE(p.jobs("bin").empty());
  EXPECT_TRUE(p.cluster_pairs("order").empty());
  p.set("by", std::string("memory"));
  p.set("bin_max", std::int64_t{5});
  p.set("order", std::vector<ClusterPair>{{1, 1}, {0, 2}});
  EXPECT_EQ(p.choice("by"), "memory");
  EXPECT_EQ(p.integer("bin_max"), 5);
  EXPECT_EQ(p.cluster_pairs("order").size(), 2U);
  EXPECT_THROW((void)p.number("by"), std::logic_error);
  EXPECT_THROW((void)p.value("no-such"), std::logic_error);
  EXPECT_THROW(p.set("no-such", 1.0), std::logic_error);
}

TEST(Parameters, AWholeNumberIsAFallbackOfANumber) {
  const std::vector<ParameterSpec> specs{
      {.name = "a", .description = "", .kind = ParameterKind::kNumber, .fallback = 3},
      {.name = "b", .description = "", .kind = ParameterKind::kInteger, .fallback = 3},
      {.name = "c", .description = "", .kind = ParameterKind::kInteger, .fallback = {}}};
  const Parameters p(specs);
  EXPECT_EQ(p.number("a"), 3.0);
  EXPECT_EQ(p.integer("b"), 3);
  EXPECT_EQ(p.integer("c"), std::nullopt);
  using Specs = std::vector<ParameterSpec>;
  const Specs text{{.name = "a",
                    .description = "",
                    .kind = ParameterKind::kNumber,
                    .fallback = std::string("3")}};
  EXPECT_THROW(Parameters{text}, std::logic_error);
  const Specs real{
      {.name = "a", .description = "", .kind = ParameterKind::kInteger, .fallback = 3.0}};
  EXPECT_THROW(Parameters{real}, std::logic_error);
}

/// Options with a member of each kind.
struct AllKinds {
  double number = 1.5;
  Duration wait = std::chrono::seconds(2);
  int whole = 3;
  std::optional<std::size_t> most = {};
  bool checks = true;
  std::vector<double> list{1, 2};
  std::vector<ClusterPair> pairs = {};
  std::vector<JobId> jobs = {};
  std::vector<std::string> words = {};
};
struct MoreKinds : AllKinds {
  double more = 0.5;
};

ParametersOf<AllKinds> all_kinds() {
  return ParametersOf<AllKinds>()
      .number("number", &AllKinds::number, {0, 9, "a number"})
      .number("wait_s", &AllKinds::wait, {0, 9, "a time [s]"})
      .number("whole", &AllKinds::whole, {0, 9, "a whole number"})
      .number("most", &AllKinds::most, {0, 9, "null: absent"})
      .choice("checks", &AllKinds::checks, {{"no", false}, {"yes", true}}, "a choice")
      .number("list", [](AllKinds& o) -> std::vector<double>& { return o.list; }, {0, 9, "a list"})
      .number("pairs", &AllKinds::pairs, {0, 2, "pairs"})
      .jobs("jobs", &AllKinds::jobs, "jobs")
      .texts("words", &AllKinds::words, "texts");
}

TEST(ParametersOf, DefaultsAreThoseOfTheMembers) {
  const ParametersOf<AllKinds> all = all_kinds();
  const Parameters defaults(all.specs());
  EXPECT_EQ(defaults.number("number"), 1.5);
  EXPECT_EQ(defaults.number("wait_s"), 2.0);
  EXPECT_EQ(defaults.integer("whole"), 3);
  EXPECT_EQ(defaults.integer("most"), std::nullopt);
  EXPECT_EQ(defaults.choice("checks"), "yes");
  EXPECT_EQ(defaults.numbers("list"), (std::vector<double>{1, 2}));
  const AllKinds read = all.read(defaults);
  EXPECT_EQ(read.number, 1.5);
  EXPECT_EQ(read.wait, std::chrono::seconds(2));
  EXPECT_EQ(read.whole, 3);
  EXPECT_TRUE(read.checks && !read.most && read.pairs.empty() && read.words.empty());
  EXPECT_EQ(read.list, (std::vector<double>{1, 2}));
}

TEST(ParametersOf, ValuesReachTheirMembers) {
  static const ParametersOf<AllKinds> base = all_kinds();
  const auto all =
      ParametersOf<MoreKinds>().number("more", &MoreKinds::more, {0, 1, ""}).with(base);
  Parameters given(all.specs());
  given.set("more", 0.25);
  given.set("number", 4.0);
  given.set("wait_s", 0.5);
  given.set("whole", std::int64_t{7});
  given.set("most", std::int64_t{8});
  given.set("checks", std::string("no"));
  given.set("list", std::vector<double>{5});
  given.set("pairs", std::vector<ClusterPair>{{0, 2}});
  given.set_jobs("jobs", {JobId{3}});
  given.set("words", std::vector<std::string>{"a", "b"});
  const MoreKinds read = all.read(given);
  EXPECT_EQ(read.more, 0.25);
  EXPECT_EQ(read.number, 4.0);
  EXPECT_EQ(read.wait, std::chrono::milliseconds(500));
  EXPECT_EQ(read.whole, 7);
  EXPECT_EQ(read.most, 8U);
  EXPECT_FALSE(read.checks);
  EXPECT_EQ(read.list, std::vector<double>{5});
  EXPECT_EQ(read.pairs, (std::vector<ClusterPair>{{0, 2}}));
  EXPECT_EQ(read.jobs, std::vector<JobId>{JobId{3}});
  EXPECT_EQ(read.words, (std::vector<std::string>{"a", "b"}));
  given.set("whole", std::monostate{});  // null: the default
  given.set("most", std::monostate{});
  EXPECT_EQ(all.read(given).whole, 3);
  EXPECT_EQ(all.read(given).most, std::nullopt);
}

TEST(ParametersOf, ADefaultWithoutANameIsAnError) {
  ParametersOf<AllKinds> all;
  EXPECT_THROW(all.choice("checks", &AllKinds::checks, {{"no", false}}, ""), std::logic_error);
}

// ---- decisions -------------------------------------------------------------------------------

Scenario small() {
  Scenario s;
  s.cluster = cluster(2, 2);
  std::vector<JobSpec> jobs;
  jobs.reserve(9);
  for (int i = 0; i < 9; ++i) {
    jobs.push_back(job(seconds(10 + 3 * i)).util(10.0 * i).reserved(8.0 * i).accessed(5.0 * i));
  }
  s.workload = workload(std::move(jobs));
  return s;
}

struct Snapshot {
  std::vector<JobId> waiting;
  std::vector<std::vector<JobId>> residents;
  std::vector<bool> profiling;
  std::vector<Profile> profiles;
  std::vector<int> gpus;
  int empty = 0;
  bool operator==(const Snapshot&) const = default;
};

Snapshot snapshot(std::span<const JobId> waiting, const ClusterState& state,
                  const std::vector<JobView>& jobs) {
  Snapshot s;
  s.waiting = ids(waiting);
  for (const GpuState& g : state.gpus()) {
    s.residents.push_back(g.residents);
    s.profiling.push_back(g.profiling);
  }
  for (const JobView& j : jobs) {
    s.profiles.push_back(j.profile);
    s.gpus.push_back(j.gpus);
  }
  s.empty = state.empty_gpus().size();
  return s;
}

TEST(PolicyContract, InputIsLeftUnmodifiedAndDecisionsAreTheSameTwice) {
  const Scenario s = small();
  const ShareWorld world(0.5);
  for (const PolicyEntry& entry : built_in_policies()) {
    for (const StartMode mode : {StartMode::kGroup, StartMode::kJoin}) {
      ClusterState state(s.cluster);
      state.add(G(0), J(8), false);
      std::vector<JobId> waiting;
      for (std::uint32_t i = 0; i < 8; ++i) waiting.push_back(J(i));
      const std::vector<JobView> jobs = job_views(s.workload);
      const Snapshot before = snapshot(waiting, state, jobs);
      std::vector<std::vector<Decision>> answers;
      for (int twice = 0; twice < 2; ++twice) {
        const auto policy = make_policy(entry, s.workload, world, 3);
        ASSERT_NE(policy, nullptr) << entry.name;
        answers.emplace_back();
        for (const JobId j : waiting) policy->arrived(jobs[index(j)], seconds(1));
        policy->decide(ClusterView(seconds(1), mode, waiting, jobs, state, 0, 1), answers.back());
        EXPECT_EQ(snapshot(waiting, state, jobs), before) << entry.name;
      }
      ASSERT_FALSE(answers[0].empty()) << entry.name;
      ASSERT_EQ(answers[0].size(), answers[1].size()) << entry.name;
      for (std::size_t i = 0; i < answers[0].size(); ++i) {
        const auto* a = std::get_if<StartGroup>(&answers[0][i]);
        const auto* b = std::get_if<StartGroup>(&answers[1][i]);
        ASSERT_EQ(a == nullptr, b == nullptr);
        if (a == nullptr) continue;
        EXPECT_EQ(a->jobs, b->jobs) << entry.name;
        EXPECT_EQ(a->gpus, b->gpus) << entry.name;
      }
    }
  }
}

/// Valid: the control loop refuses no decision, and every job ends.
TEST(PolicyContract, DecisionsAreValid) {
  const ShareWorld world(0.5);
  for (const PolicyEntry& entry : built_in_policies()) {
    for (const StartMode mode : {StartMode::kGroup, StartMode::kJoin}) {
      for (const bool once : {false, true}) {
        Scenario s = small();
        s.options.control.start = mode;
        s.options.name = std::string(entry.name);
        const auto policy =
            make_policy(entry, s.workload, world, 1, Parameters(entry.parameters), once);
        const RunResult r = run(s, world, *policy, entry.traits);
        for (const JobRecord& j : r.record.jobs) {
          EXPECT_EQ(j.end, JobEnd::kFinished) << entry.name;
          EXPECT_GE(j.finish, j.work) << entry.name;
        }
      }
    }
  }
}

/// A single waiting job starts alone at once: no job waits for a co-runner.
TEST(PolicyContract, ALoneJobStartsAtOnce) {
  const ShareWorld world(0.5);
  for (const PolicyEntry& entry : built_in_policies()) {
    Scenario s;
    s.cluster = cluster(1, 1);
    s.workload = workload({job(seconds(10)).at(seconds(4)).util(50).reserved(20).accessed(10)});
    const auto policy = make_policy(entry, s.workload, world, 1);
    EXPECT_EQ(run(s, world, *policy).record.jobs[0].finish, seconds(14)) << entry.name;
  }
}

/// Keeps cluster.max_jobs_per_gpu. kube-default is exempt: it uses its own number of replicas, and the
/// control loop reports that.
TEST(PolicyContract, TheClustersLimitIsKept) {
  const ShareWorld world(0.5);
  for (const PolicyEntry& entry : built_in_policies()) {
    if (entry.name == "kube-default") continue;
    for (const StartMode mode : {StartMode::kGroup, StartMode::kJoin}) {
      for (const int limit : {1, 2, 3}) {
        Scenario s = small();
        s.cluster.max_jobs_per_gpu = limit;
        s.options.control.start = mode;
        const auto policy = make_policy(entry, s.workload, world, 1);
        EXPECT_NO_THROW(run(s, world, *policy, entry.traits)) << entry.name << ", limit " << limit;
      }
    }
  }
}

/// ... also if a bin may hold more than a GPU.
TEST(PolicyContract, ABinKeepsTheClustersLimit) {
  const PolicyEntry& entry = *find_policy("max-packing");
  const ShareWorld world(0.5);
  Scenario s = small();
  s.cluster.max_jobs_per_gpu = 3;
  for (JobSpec& j : s.workload.jobs) j.profile.gpu_util_pct = 10;
  Parameters parameters(entry.parameters);
  parameters.set("bin_max", std::int64_t{5});
  const auto policy = make_policy(entry, s.workload, world, 1, std::move(parameters));
  EXPECT_NO_THROW(run(s, world, *policy));
}

/// What a probe, or a job that finished beside a service, has taught reaches the belief.
TEST(PolicyContract, BeliefsLearnFromProbesAndFromJobsBesideServices) {
  const Scenario s = small();
  const ShareWorld world(0.5);
  int learn = 0;
  for (const PolicyEntry& entry : built_in_policies()) {
    const auto policy = make_policy(entry, s.workload, world, 1);
    if (policy->belief() == nullptr) continue;
    const KnowledgeBase* knowledge = knowledge_base_of(*policy->belief());
    if (knowledge == nullptr) continue;  // the oracle knows
    const std::int64_t before = knowledge->pairs_observed();
    policy->probe_ended({J(0), J(1), 0.5, 0.8, seconds(1)});
    EXPECT_EQ(knowledge->pairs_observed(), before + 1) << entry.name;
    ++learn;
  }
  EXPECT_GT(learn, 5);
}

TEST(PolicyContract, GangsGetTheirGpus) {
  const ShareWorld world(0.5);
  for (const PolicyEntry& entry : built_in_policies()) {
    Scenario s = small();
    for (std::size_t i = 0; i < s.workload.jobs.size(); i += 3) s.workload.jobs[i].gpus = 2;
    const auto policy = make_policy(entry, s.workload, world, 1);
    const RunResult r = run(s, world, *policy, entry.traits);
    for (const JobRecord& j : r.record.jobs) EXPECT_EQ(j.end, JobEnd::kFinished) << entry.name;
  }
}

}  // namespace
}  // namespace corun::test::contract_test
