#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/matrix_belief.hpp"
#include "tests/helpers/program.hpp"
#include "tests/helpers/scenarios.hpp"

/// external: what a program gets if it wants it: residents, expected costs of pairs.
namespace corun::test::external_pairs_test {
namespace {

using Words = std::vector<std::string>;

struct Learnt {
  int co_runs = 0;
  int probes = 0;
};

/// A belief that counts the co-runs and probes of which it was told.
class CountingBelief final : public Belief {
 public:
  explicit CountingBelief(Learnt& learnt) : learnt_(learnt) {}
  PairBelief pair(JobId a, JobId b) const override {
    return {.isd_a = 0.25 + index(a),
            .isd_b = 0.25 + index(b),
            .ps = 0.125,
            .observed = false,
            .sd_a = 0.5,
            .sd_b = 0.75,
            .sd_ps = std::numeric_limits<double>::infinity(),
            .co_runs = 2};
  }
  PairSpeeds pair_speeds(JobId, JobId) const override { return {0.5, 0.25}; }
  void learn(const EpisodeOutcome&) override { ++learnt_.co_runs; }
  void learn_probe(const ProbeOutcome&) override { ++learnt_.probes; }
  bool learns_from_probes() const override { return true; }

 private:
  Learnt& learnt_;
};

/// A program that says hello with `wants`, then runs `turn` for each question `view`, the n-th.
/// `ask(pairs)` returns the expected costs; `start(jobs...)` and `say(answer)` end the turn.
std::string wanting(const std::string& wants, const std::string& turn) {
  return R"(import sys, json
def say(answer): print(json.dumps(answer), flush=True)
def ask(pairs):
    say({'ask': pairs})
    return json.loads(sys.stdin.readline() or sys.exit())['pairs']
def start(*jobs): say({'decisions': [{'event': 'start', 'jobs': jobs, 'gpus': [0]}]})
sys.stdin.readline()
say({'protocol': 'corun-policy', 'version': 1, 'wants': )" +
         wants + R"(})
n = 0
while line := sys.stdin.readline():
    view = json.loads(line)
    n += 1
)" + turn;
}

RunResult simulate(std::unique_ptr<Belief> belief, const std::string& python,
                   const OwnedWorkload& w, const ControlOptions& control = {}) {
  const PolicyEntry& entry = *find_policy("external");
  Parameters parameters(entry.parameters);
  parameters.set("command", Words{"python3", "-c", python});
  parameters.set("belief", std::string(belief ? "configured" : "none"));
  const ShareWorld world(0.5);
  const auto policy = entry.make({parameters, std::move(belief), 1});
  RunOptions options;
  options.control = control;
  options.name = "mine";
  return run(cluster(1, 1), w, world, *policy, options);
}

/// Error of a program. Jobs 0 and 1 are there from the start, job 2 arrives after both have ended.
std::string error_of(const std::string& python, std::unique_ptr<Belief> belief) {
  try {
    simulate(std::move(belief), python,
             workload({job(seconds(10)), job(seconds(5)), job(seconds(5)).at(seconds(20))}));
  } catch (const PolicyError& e) {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "the program was not reaped";
    return e.what();
  }
  return "no error";
}

/// Error of a program that wants pairs and has a belief.
std::string error_of_asking(const std::string& turn) {
  Learnt learnt;
  return error_of(wanting("['pairs']", turn), std::make_unique<CountingBelief>(learnt));
}

TEST(ExternalPairs, NeedABeliefOnlyIfConfigured) {
  const PolicyEntry& entry = *find_policy("external");
  Parameters parameters(entry.parameters);
  EXPECT_EQ(entry.needs_for(parameters), PolicyNeeds::kNothing);
  parameters.set("belief", std::string("configured"));
  EXPECT_EQ(entry.needs_for(parameters), PolicyNeeds::kBelief);
}

TEST(ExternalPairs, AProgramMaySeeTheResidents) {
  const std::string turn = R"(
    if n == 1:
        assert view['residents'] == [], view
        start(0, 1)
    elif view['free']:
        assert view['residents'] == [], view
        start(*view['waiting'])
    else:
        assert view['residents'] == [{'gpu': 0, 'jobs': [0, 1], 'served_ns': [2 * 10**9] * 2, 'started_ns': [0, 0], 'profiling': False}], view
        assert view['served_ns'] == [0], view
        say({'decisions': []})
)";
  const OwnedWorkload w =
      workload({job(seconds(10)), job(seconds(10)), job(seconds(5)).at(seconds(2))});
  simulate(nullptr, wanting("['residents']", turn), w);
}

TEST(ExternalPairs, AQuestionHasNothingThatTheProgramDoesNotWant) {
  const std::string turn = R"(
    assert list(view) == ['time_ns', 'events', 'waiting', 'free'], view
    start(*view['waiting'])
)";
  simulate(nullptr, wanting("[]", turn), workload({job(seconds(10)), job(seconds(10))}));
}

TEST(ExternalPairs, AProgramMayAskForCostsAgainAndAgain) {
  const std::string turn = R"(
    if n == 1:
        costs = ask([[0, 1], [1, 0]])
        assert costs[0] == {'isd': [0.25, 1.25], 'ps': 0.125, 'speed': [0.5, 0.25],
                            'sd_isd': [0.5, 0.75], 'sd_ps': None, 'co_runs': 2.0,
                            'observed': False}, costs
        assert costs[1]['isd'] == [1.25, 0.25], costs
        assert len(ask([[0, 1]])) == 1
        start(0, 1)
    elif view['time_ns'] == 2000000000:
        assert ask([[2, 0]])[0]['isd'] == [2.25, 0.25]  # with a job that runs
        say({'decisions': []})
    else:
        start(2)
)";
  Learnt learnt;
  const RunResult r =
      simulate(std::make_unique<CountingBelief>(learnt), wanting("['pairs']", turn),
               workload({job(seconds(10)), job(seconds(10)), job(seconds(5)).at(seconds(2))}));
  EXPECT_EQ(r.record.jobs[2].finish, seconds(20));  // two halves at 1 / 1.5, then 5 s alone
  EXPECT_EQ(learnt.co_runs, 2);                     // of jobs 0 and 1, and of job 2 alone
  EXPECT_EQ(learnt.probes, 0);
}

TEST(ExternalPairs, TheBeliefLearnsFromProbes) {
  const std::string turn = R"(
    assert [e['job'] for e in view['events'] if e['event'] == 'arrive'] == [0, 1], view
    ask([[0, 1]])
    start(0, 1)
)";
  Learnt learnt;
  ControlOptions control;
  control.probes = 1;
  control.probe_length = seconds(1);
  simulate(std::make_unique<CountingBelief>(learnt), wanting("['pairs']", turn),
           workload({job(seconds(10)), job(seconds(10))}), control);
  EXPECT_EQ(learnt.probes, 1);
}

// Job 2 has had no probe when job 0 waits after its own: job 0 is probed again, and comes back.
TEST(ExternalPairs, AJobThatIsProbedFromTheQueueArrivesOnce) {
  const std::string turn = R"(
    if n == 1: seen = []
    seen += [e['job'] for e in view['events'] if e['event'] == 'arrive']
    assert len(seen) == len(set(seen)), seen
    if n == 1: say({'decisions': [{'event': 'wake', 'time_ns': 9000000000}]})
    elif view['free'] and view['time_ns'] >= 9000000000: start(*view['waiting'])
    else: say({'decisions': []})
)";
  Learnt learnt;
  ControlOptions control;
  control.probes = 1;
  control.probe_length = seconds(1);
  simulate(std::make_unique<CountingBelief>(learnt), wanting("[]", turn),
           workload({job(seconds(10)), job(seconds(10)), job(seconds(10)).at(seconds(3))}),
           control);
  EXPECT_EQ(learnt.probes, 2);
}

TEST(ExternalPairs, WrongWishesAreRefused) {
  const auto error = [](const std::string& wants) {
    return error_of(wanting(wants, "    start(0)\n"), nullptr);
  };
  const std::string unknown = error("['pears']");
  EXPECT_NE(unknown.find("policy 'external' broke the rule 'handshake': 'python3' wants the "
                         "unknown 'pears': "),
            std::string::npos)
      << unknown;
  EXPECT_NE(unknown.find("known: residents, pairs"), std::string::npos) << unknown;
  EXPECT_NE(error("[7]").find("wants the unknown '7'"), std::string::npos);
  EXPECT_NE(error("'pairs'").find(R"(expected a list such as ["residents"])"), std::string::npos);
  EXPECT_NE(error("['pairs']").find("set its parameter belief: configured"), std::string::npos);
}

TEST(ExternalPairs, WrongQuestionsAreRefusedInOneLine) {
  for (const auto& [asked, found] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "asked for '[]', expected pairs of job numbers"},
           {"5", "asked for '5', expected pairs of job numbers"},
           {"[[0]]", "the pair '[0]', expected"},
           {"[[0, 1, 2]]", "the pair '[0,1,2]', expected"},
           {"[[1, 1]]", "two different jobs each"},
           {"[[0, 'a\\n']]", R"(a pair with '"a\n"', expected the number of a job)"},
           {"[[0, 1.0]]", "a pair with '1.0'"},
           {"[[0, -1]]", "a pair with '-1'"},
           {"[[0, 2]]", "a pair with '2', expected the number of a job that waits or runs"},
           {"[[4294967296, 1]]", "a pair with '4294967296'"},
           {"[[0, 1]] * 1000001", "asked for more than 1000000 pairs before its decisions"}}) {
    const std::string what = error_of_asking("    ask(" + asked + ")\n");
    EXPECT_NE(what.find("policy 'external' broke the rule 'answer': 'python3' asked for"),
              std::string::npos)
        << what;
    EXPECT_NE(what.find(found), std::string::npos) << asked << ": " << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
  }
  EXPECT_NE(error_of_asking("    ask([[0, 2]]) if n == 2 else start(0, 1)\n").find("pair with '0'"),
            std::string::npos)
      << "job 0 has ended";
  EXPECT_NE(error_of_asking("    say({'ask': [[0, 1]], 'decisions': []})\n")
                .find(R"(or {"ask": [[3, 5], ...]})"),
            std::string::npos);
  EXPECT_NE(
      error_of(wanting("[]", "    ask([[0, 1]])\n"), nullptr).find(R"(expected {"decisions":)"),
      std::string::npos)
      << "it does not want pairs";
}

TEST(ExternalPairs, TheLimitIsOneOfTheTurn) {
  const std::string most = R"(
    if n == 1:
        for times in (999999, 1):
            say({'ask': [[0, 1]] * times})
            sys.stdin.readline()
)";
  EXPECT_NE(error_of_asking(most + "        ask([[0, 1]])\n").find("more than 1000000 pairs"),
            std::string::npos);
  EXPECT_EQ(error_of_asking(most + "    start(*view['waiting'])\n"), "no error");
}

TEST(ExternalPairs, AMillionQuestionsInOneTurnEndSoon) {
  const std::string often = R"(
    if n == 1:
        for times in range(LIMIT):
            ask([[0, 1]])
)";
  const auto asking = [&](const char* times) {
    std::string turn = often;
    turn.replace(turn.find("LIMIT"), 5, times);
    return error_of_asking(turn + "    start(*view['waiting'])\n");
  };
  EXPECT_NE(
      asking("1000000").find("asked for pairs more than 10000 times before its decisions; ask "
                             "for many pairs at once"),
      std::string::npos);
  EXPECT_EQ(asking("10000"), "no error");
}

TEST(ExternalPairs, TheExampleDoesAsGreedyMinSlowdown) {
  constexpr std::size_t kJobs = 21;
  Rng rng(7, Stream::kTest, 0);
  std::vector<double> cost(kJobs * kJobs);
  std::vector<JobSpec> jobs;
  for (std::size_t a = 0; a < kJobs; ++a) {
    jobs.push_back(job(seconds(5 + rng.below(20))).at(seconds(2 * static_cast<int>(a / 4))));
    for (std::size_t b = 0; b < a; ++b) cost[a * kJobs + b] = cost[b * kJobs + a] = rng.uniform();
  }
  const OwnedWorkload w = workload(std::move(jobs));
  const ShareWorld world(0.5);
  const auto log_of = [&](const char* name, auto set) {
    const PolicyEntry& entry = *find_policy(name);
    Parameters parameters(entry.parameters);
    set(parameters);
    const auto policy = entry.make({parameters, std::make_unique<MatrixBelief>(cost, kJobs), 1});
    return run(cluster(2, 1), w, world, *policy).log;
  };
  const auto example = [](Parameters& p) {
    p.set("command", Words{"python3", CORUN_SOURCE_DIR "/examples/pair_policy.py"});
    p.set("belief", std::string("configured"));
  };
  const auto greedy = [](Parameters& p) { p.set("pairing", std::string("greedy-rank")); };
  EXPECT_EQ(log_of("external", example), log_of("min-slowdown", greedy));
}

// From the configuration: the belief is built for the policy, and marked when it is the truth.
TEST(ExternalPairs, TheConfigurationGivesTheBelief) {
  const auto replay = [](const std::string& belief) {
    const std::string program = std::string(CORUN_SOURCE_DIR) + "/examples/pair_policy.py";
    return run_corun(
        {"replay", "--quiet", "--format", "json", "--set", "replications=1", "--set", belief,
         "--set",
         "policies=[{name: external, belief: configured, command: [python3, '" + program + "']}]"});
  };
  const Outcome learns = replay("belief.model=cluster-mean");
  EXPECT_EQ(learns.code, 0) << learns.err;
  EXPECT_NE(learns.out.find(R"("granted_truth": false)"), std::string::npos) << learns.out;
  const Outcome truth = replay("belief.model=truth");
  EXPECT_EQ(truth.code, 0) << truth.err;
  EXPECT_NE(truth.out.find(R"("granted_truth": true)"), std::string::npos) << truth.out;
}

}  // namespace
}  // namespace corun::test::external_pairs_test
