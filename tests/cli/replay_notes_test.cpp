#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/helpers/program.hpp"

// Where a replay's input makes its figures mean less than they seem to, the output says so.
namespace corun::replay_notes_test {
namespace {

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' does not contain '" << part << "'";
}

/// A replay of some policies on a CSV of jobs, one replication.
class Replayed {
 public:
  Replayed(const std::string& jobs, std::vector<std::string> settings,
           const std::vector<std::string>& options = {}) {
    directory_.write("jobs.csv", jobs);
    directory_.write("nodes.csv", "sn,gpu,model\nn1,1,T4\nn2,1,P100\n");
    directory_.write("pairs.csv", "job_a,norm_a,job_b,norm_b\nx,0.5,y,0.5\n");
    settings.insert(settings.begin(),
                    {"workload.source=csv", "workload.path=jobs.csv", "replications=1"});
    arguments_ = {"replay", "--threads", "1"};
    for (const std::string& s : settings) arguments_.insert(arguments_.end(), {"--set", s});
    arguments_.insert(arguments_.end(), options.begin(), options.end());
    table = test::run_corun(arguments_, directory_.path());
  }
  /// `warnings` of the same replay as JSON, each in a line.
  std::string warnings() const {
    std::vector<std::string> arguments = arguments_;
    arguments.insert(arguments.end(), {"--format", "json", "--quiet"});
    const test::Outcome run = test::run_corun(arguments, directory_.path());
    std::string lines;
    const auto json = nlohmann::json::parse(run.out);
    for (const auto& sentence : json["warnings"]) {
      lines += sentence.get<std::string>() + "\n";
    }
    return lines;
  }
  std::string timeline(const std::string& policy) const {
    return test::read_file(directory_.path("t/" + policy + ".csv"));
  }
  test::Outcome table;

 private:
  test::TemporaryDirectory directory_;
  std::vector<std::string> arguments_;
};

const std::string kJobs =
    "job,submit_s,solo_s,workload,gpu_util_pct,mem_time_pct,packing_label\n"
    "a,0,100,x,50,0.5,0\nb,0,100,y,40,0,1\nc,1,60,z,30,1,\n";

TEST(ReplayNotes, PoliciesThatIgnoreTheSpeedOfTypesAreNamed) {
  const std::string cluster = "cluster.machines=1x1:V100-16GB+1x1:T4";
  const std::string note =
      "fcfs choose GPUs without regard to the speed of a job there; with placement: fastest, fifo, "
      "sjf, srtf and las take the fastest free type";
  const Replayed both(kJobs, {"policies=[{name: fcfs}, {name: fifo, placement: fastest}]", cluster,
                              "estimates.duration=exact"});
  EXPECT_TRUE(has(both.warnings(), note));
  const Replayed one(kJobs, {"policies=[fcfs]", "cluster.machines=2x1:V100-16GB"});
  EXPECT_FALSE(has(one.warnings(), "without regard"));
}

TEST(ReplayNotes, GpuTypesThatDifferInMemoryOnly) {
  const std::string fcfs = "policies=[fcfs]";
  const Replayed mixed(kJobs, {fcfs, "cluster.path=nodes.csv"});
  EXPECT_TRUE(
      has(mixed.table.out,
          "\nthe 2 GPU types differ in memory only: jobs run equally fast on all "
          "(cluster.gpu_speed 1); workload.gpu_type, the GPU type of their run times, would "
          "scale them\n1 replication"));
  EXPECT_TRUE(has(mixed.warnings(), "the 2 GPU types differ in memory only"));
  const Replayed other(kJobs, {fcfs, "cluster.gpu_type=T4", "cluster.gpu_speed=0.5"});
  EXPECT_TRUE(has(other.table.out,
                  "\nthe GPU type T4 sets the memory only: jobs run at 0.5 times the speed of the "
                  "trace's GPU (cluster.gpu_speed), and co-run costs are those of V100-16GB\n"));
  EXPECT_TRUE(has(other.warnings(), "the GPU type T4 sets the memory only"));
  for (const char* setting : {"cluster.nodes=2", "world.model=none"}) {
    std::vector<std::string> settings{fcfs, setting};
    if (setting == std::string("world.model=none")) settings.emplace_back("cluster.gpu_type=T4");
    const Replayed silent(kJobs, settings);
    EXPECT_FALSE(has(silent.table.out + silent.table.err, "memory only")) << setting;
  }
}

TEST(ReplayNotes, PercentagesThatLookLikeFractions) {
  const Replayed run(kJobs, {"policies=[fcfs]"});
  const std::string question =
      "all 3 known values of mem_time_pct lie between 0 and 1, expected percent";
  EXPECT_TRUE(has(run.table.err, question));
  EXPECT_TRUE(has(run.warnings(), question));
  EXPECT_FALSE(has(run.table.err, "gpu_util_pct lie"));
  const Replayed zero("job,submit_s,solo_s,gpu_util_pct\na,0,9,0\n", {"policies=[fcfs]"});
  EXPECT_FALSE(has(zero.table.err, "expected percent"));
}

TEST(ReplayNotes, WorkloadsThatNobodyMeasured) {
  const Replayed listed(kJobs, {"policies=[fcfs]", "world={model: listed-pairs, path: pairs.csv}"});
  const std::string one =
      "1 of 3 jobs name workloads that no measurement of the world has ('z'): they lose nothing by "
      "sharing";
  EXPECT_TRUE(has(listed.table.err, one));
  EXPECT_TRUE(has(listed.warnings(), one));
  std::string many = "job,submit_s,solo_s,workload\n";
  for (const char* name : {"p", "q", "q", "r", "s", "t"}) {
    many += "j" + std::to_string(many.size()) + ",0,9," + name + "\n";
  }
  EXPECT_TRUE(has(Replayed(many, {"policies=[fcfs]"}).table.err,
                  "6 of 6 jobs name workloads that no measurement of the world has ('p', 'q', 'r' "
                  "and 2 more): the model contention gives the costs of their co-runs"));
  const Replayed model(many, {"policies=[fcfs]", "world.model=contention"});
  EXPECT_FALSE(has(model.table.err, "name workloads"));
}

TEST(ReplayNotes, AQueueOfOtherKeysIsNotCompared) {
  const test::Outcome run =
      test::run_corun({"recommend", "--queue", CORUN_SOURCE_DIR "/examples/jobs.csv"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_FALSE(has(run.err, "name workloads"));
}

TEST(ReplayNotes, ClockTicksThatMakeASlowdown) {
  const std::vector<std::string> settings{"policies=[fifo, fcfs]", "world.model=none"};
  const auto with = [&](const std::string& control) {
    std::vector<std::string> all = settings;
    all.push_back("control=" + control);
    return Replayed(kJobs, all);
  };
  const Replayed ticks = with("{tick_s: 1, tick_rule: progress}");
  EXPECT_TRUE(has(ticks.table.out, "no job shared under fifo"));
  EXPECT_TRUE(
      has(ticks.table.out, ": the ISD there is the cost of clock ticks (control.tick_s)\n"));
  const std::string warning =
      "each J_c has a clock tick or two beyond the work (control.tick_s 1 s): ISD can exceed 0 "
      "without co-runners";
  EXPECT_TRUE(has(ticks.table.err, warning));
  EXPECT_TRUE(has(ticks.warnings(), warning));
  const Replayed whole = with("{tick_s: 1}");  // all jobs have whole seconds
  EXPECT_FALSE(has(whole.table.out, "clock ticks"));
  EXPECT_TRUE(has(whole.table.err, "each J_c is rounded up to clock ticks (control.tick_s 1 s)"));
  EXPECT_FALSE(has(with("{start: group}").table.err, "tick"));
}

TEST(ReplayNotes, LucidPacksLabelledJobsOnly) {
  const std::vector<std::string> lucid{"policies=[lucid]", "estimates.duration=exact"};
  const Replayed refused(kJobs, lucid);
  EXPECT_EQ(refused.table.code, 2);
  EXPECT_EQ(refused.table.out, "");
  EXPECT_TRUE(has(refused.table.err,
                  "--set policies=[lucid]: policy 'lucid' packs by labels, and 1 of 3 jobs have "
                  "none, the first is 'c'; give the jobs as CSV with a column packing_label"));
  const Replayed labelled(
      "job,submit_s,solo_s,packing_label\na,0,100,2\nb,0,100,1\nc,0,100,0\n",
      {"policies=[lucid]", "estimates.duration=exact", "cluster.nodes=3", "workload.profiles=jrs"},
      {"--timeline", "t"});
  EXPECT_EQ(labelled.table.code, 0) << labelled.table.err;
  EXPECT_TRUE(has(labelled.timeline("lucid"), ",start,b,1\n"));
  EXPECT_TRUE(has(labelled.timeline("lucid"), ",start,c,0\n"));
}

TEST(ReplayNotes, ACsvHasTheLineOfRealRunsBesideIt) {
  const std::vector<std::string> replay{"replay", "--policies", "fcfs", "--set", "replications=2",
                                        "--format", "csv"};
  const test::Outcome told = test::run_corun(replay);
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_NE(told.err.find("note: held against a real run: none (docs/validity.md)\n"),
            std::string::npos)
      << told.err;
  std::vector<std::string> quiet = replay;
  quiet.emplace_back("--quiet");
  EXPECT_EQ(test::run_corun(quiet).out, told.out);
}

}  // namespace
}  // namespace corun::replay_notes_test
