#include "evaluation/validation/validation.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "evaluation/validation/allocation_replay.hpp"
#include "evaluation/validation/share_policy.hpp"
#include "sim/error.hpp"
#include "tests/helpers/public_data.hpp"
#include "tests/helpers/round_study.hpp"

namespace corun::validation_test {
namespace {

namespace fs = std::filesystem;
constexpr const char* kStudy = "realruns/shockwave";

ValidationRequest study_request() {
  ValidationRequest request;
  request.directory = test::public_data(kStudy);
  request.limits = {{"real/max-min", 1.5}};
  request.draws = 20;
  return request;
}

bool has_study() { return test::has_public_data(std::string(kStudy) + "/trace.csv"); }

/// A cluster of planted parameters: jobs of one GPU that run one after the other on a worker, a round being
/// 120 s + 2 s per start, a start costing 10 s, and speed 0.8 of the declared 1 step/s.
struct Planted {
  RoundWorkload workload;
  RoundRun run;
};

Planted planted_run() {
  Planted planted;
  planted.workload.rates.set("A", 10, 1, 1.0);
  planted.run.name = "real/planted";
  planted.run.policy = "planted";
  constexpr std::size_t kJobs = 40;
  std::vector<double> begins{30};
  // Job j runs in the rounds j, j + 1, j + 2 on worker j % 3: one start a round from then on.
  planted.run.rounds.resize(kJobs + 2);
  planted.run.rounds_of.resize(kJobs);
  for (std::size_t k = 0; k < planted.run.rounds.size(); ++k) {
    for (std::size_t j = k < 2 ? 0 : k - 2; j <= k && j < kJobs; ++j) {
      planted.run.rounds[k].push_back({j, {static_cast<int>(j % 3)}});
      planted.run.rounds_of[j].push_back(k);
    }
    begins.push_back(begins.back() + 120 + (k < kJobs ? 2 : 0));
  }
  for (std::size_t j = 0; j < kJobs; ++j) {
    const std::size_t last = j + 2;
    // Ends in the middle of its last round.
    const double finish = begins[last] + 60;
    RoundJob job;
    job.model = "A";
    job.mode = "static";
    job.initial_batch_size = 10;
    const double run_s = finish - begins[j] - 10;
    job.samples_per_epoch = static_cast<std::int64_t>(std::lround(run_s * 0.8 * 10));
    job.steps = job.samples_per_epoch / 10;
    job.declared_s = 1e6;
    job.declared = {{0, 10}};
    planted.workload.jobs.push_back(job);
    planted.run.jobs.push_back({finish, finish, run_s});
    planted.run.rates.push_back({last, j, 10, 0.8});
  }
  return planted;
}

TEST(RunParameters, FindsWhatWasPlanted) {
  const Planted planted = planted_run();
  const RunParameters p = fit_run_parameters(planted.workload, std::span(&planted.run, 1), 120);
  EXPECT_NEAR(p.per_start_s, 2, 0.05);
  EXPECT_NEAR(p.first_delay_s, 30, 1.5);
  EXPECT_NEAR(p.start_cost("A"), 10, 1.5);
  EXPECT_NEAR(p.start_cost("unknown"), 10, 1.5) << "the median of the known";
  EXPECT_DOUBLE_EQ(p.factors.of(planted.workload.jobs[0], 10), 0.8);
  EXPECT_DOUBLE_EQ(p.factors.of(planted.workload.jobs[0], 20), 0.8) << "same model and mode";
  EXPECT_EQ(p.start_sd_s, 0) << "less than where in their last rounds the jobs end";
  EXPECT_EQ(p.job_sd, 0);
  EXPECT_EQ(p.straggler_share, 0);
  const AllocationReplay replay =
      replay_allocations(planted.workload, planted.run, p, without_noise(planted.workload, p), 1);
  for (std::size_t j = 0; j < planted.run.jobs.size(); ++j) {
    EXPECT_NEAR(replay.finish_s[j], planted.run.jobs[j].finish_s, 5) << j;
    EXPECT_NEAR(replay.own_finish_s[j], planted.run.jobs[j].finish_s, 5) << j;
  }
}

/// 900 samples at 10 a second, then 900 at 15 a second; by hand.
TEST(ExecutingJob, ChangesItsBatchSizeWithinARoundAndEndsAtItsLimit) {
  RoundWorkload workload;
  workload.rates.set("A", 10, 1, 1.0);
  workload.rates.set("A", 20, 1, 0.75);
  RoundJob job;
  job.model = "A";
  job.mode = "gns";
  job.samples_per_epoch = 900;
  job.epochs = 2;
  job.initial_batch_size = 10;
  job.declared_s = 150;
  job.declared = {{0, 10}, {1, 20}};
  workload.jobs = {job};
  RunParameters p;
  p.unknown_start_s = 20;
  ExecutingJob free(workload, 0, p, 1, 10);
  EXPECT_FALSE(free.run_round(120, true)) << "100 s, 90 of them in the first epoch; 10 s at 15";
  EXPECT_DOUBLE_EQ(free.known_rate(), 0.75);
  free.end_lease(0.5);
  EXPECT_DOUBLE_EQ(free.known_rate(), 0.75) << "the batch size changed in this lease";
  EXPECT_DOUBLE_EQ(free.steps_left(), (900 - 150) / 20.0);
  const auto end = free.run_round(120, false);
  ASSERT_TRUE(end);
  EXPECT_DOUBLE_EQ(*end, 50);
  ExecutingJob limited(workload, 0, p, 0.5, 1.0);
  EXPECT_FALSE(limited.run_round(120, true)) << "100 s of 150";
  EXPECT_EQ(limited.run_round(120, false), 120) << "ended by the limit, at the round's end";
}

/// 0.8 of the declared step a second; a lease of two rounds of 120 s, 20 of them to start.
TEST(ExecutingJob, ALeaseTeachesItsRateByItsWeight) {
  RoundWorkload workload;
  workload.rates.set("A", 10, 1, 1.0);
  RoundJob job;
  job.model = "A";
  job.samples_per_epoch = 100'000;
  job.initial_batch_size = 10;
  job.declared_s = 1e6;
  job.declared = {{0, 10}};
  workload.jobs = {job};
  RunParameters p;
  p.unknown_start_s = 20;
  ExecutingJob runs(workload, 0, p, 0.8, 1);
  EXPECT_DOUBLE_EQ(runs.known_rate(), 1);
  runs.run_round(120, true);
  runs.run_round(120, false);
  EXPECT_DOUBLE_EQ(runs.known_rate(), 1) << "nothing is measured before the lease ends";
  const double measured = 220 * 0.8 / 240;
  runs.end_lease(0.5);
  EXPECT_DOUBLE_EQ(runs.known_rate(), (1 + measured) / 2);
  runs.run_round(120, true);
  runs.end_lease(0.25);
  EXPECT_DOUBLE_EQ(runs.known_rate(), 0.75 * (1 + measured) / 2 + 0.25 * 100 * 0.8 / 120);
}

TEST(SharePolicy, ClosedForms) {
  const std::vector<SharedJob> jobs{{0, 1, 0, 100, 1}, {1, 1, 0, 200, 2}, {2, 2, 0, 400, 1}};
  const auto crowded = make_share_policy("max-min")->shares(jobs, 2);
  EXPECT_DOUBLE_EQ(crowded[0], 2.0 / 3);
  EXPECT_DOUBLE_EQ(crowded[1], 2.0 / 3);
  EXPECT_DOUBLE_EQ(crowded[2], 1.0 / 3) << "gpus * x are equal";
  const auto fast = make_share_policy("max-throughput")->shares(jobs, 2);
  EXPECT_EQ(fast, (std::vector<double>{1, 1, 0})) << "steps/s per GPU: 2, 1, 0.5";
  // 100, 100 and 400 s left: a time of at least 500 s for two GPUs, bisected to 5 %.
  const auto even = make_share_policy("min-makespan")->shares(jobs, 2);
  EXPECT_GE(even[2] * 525, 400);
  EXPECT_LE(even[0] + even[1] + 2 * even[2], 2);
  // Alike and new: all the same ratio, and so gpus * x alike for the same gpus.
  const std::vector<SharedJob> alike{{0, 1, 0, 100, 1}, {1, 1, 0, 100, 1}, {2, 1, 0, 100, 1}};
  for (const double x : make_share_policy("finish-time-fairness")->shares(alike, 2)) {
    EXPECT_NEAR(x, 2.0 / 3, 1e-9);
  }
  EXPECT_EQ(make_share_policy("allox")->shares(jobs, 2), (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(make_share_policy("allox")->shares(jobs, 4), (std::vector<double>{1, 1, 0.5}));
  EXPECT_EQ(make_share_policy("shockwave"), nullptr);
}

TEST(SharePolicy, TheAnalyticCentreHasNoSlope) {
  const std::vector<SharedJob> jobs{{0, 1, 0, 1, 1}, {1, 2, 0, 1, 1}, {2, 4, 0, 1, 1}};
  const std::vector<double> least{0.1, 0.2, 1};
  const std::vector<double> x = analytic_centre(least, jobs, 6);
  EXPECT_EQ(x[2], 1) << "no room";
  const double slack = 6 - x[0] - 2 * x[1] - 4 * x[2];
  ASSERT_GT(slack, 0);
  EXPECT_NEAR(1 / (x[0] - 0.1) - 1 / (1 - x[0]) - 1 / slack, 0, 1e-6);
  EXPECT_NEAR(1 / (x[1] - 0.2) - 1 / (1 - x[1]) - 2 / slack, 0, 1e-6);
  EXPECT_EQ(analytic_centre({0.5, 0.5, 0.5}, jobs, 3.5), (std::vector<double>{0.5, 0.5, 0.5}));
}

TEST(Validation, TheNinetiethOf120IsThe109th) {
  std::vector<double> errors;
  for (int e = 120; e >= 1; --e) errors.push_back(e);
  EXPECT_EQ(ninetieth(errors), 109);
  EXPECT_EQ(ninetieth({5, 7}), 7);
}

TEST(Validation, APolicyThatIsUnknownIsReplayedByItsAllocationsAlone) {
  const test::TemporaryDirectory directory;
  test::write_round_study(directory, test::round_study_files());
  ValidationRequest request;
  request.directory = directory.path();
  request.draws = 0;
  const Validation v = validate_runs(request);
  ASSERT_EQ(v.runs.size(), 1U);
  EXPECT_EQ(v.runs[0].given, Given::kAllocation);
  EXPECT_FALSE(v.runs[0].covered);
  EXPECT_FALSE(v.tau);
  EXPECT_EQ(v.request.test, std::vector<std::string>{"real/one"});
  // Declared: rounds of 120 s, a start costs 20 s. Job 0 has 300 s of work and gets 340 s: ends 320 s after 0.
  EXPECT_DOUBLE_EQ(v.runs[0].jobs[0].jct_s, 320);
  EXPECT_DOUBLE_EQ(v.runs[0].errors.makespan, 0) << "job 2 is simulated to end at 360 s, too";
}

TEST(Validation, RefusesRunsThatAreNotThere) {
  const test::TemporaryDirectory directory;
  test::write_round_study(directory, test::round_study_files());
  ValidationRequest request;
  request.directory = directory.path();
  request.test = {"real/two"};
  EXPECT_THROW(validate_runs(request), InputError);
  request.test = {"real/one"};
  request.fit = {"real/one"};
  EXPECT_THROW(validate_runs(request), InputError);
  request.test.clear();
  EXPECT_THROW(validate_runs(request), InputError) << "no run is left to test";
}

/// The figures that are published for the three visible runs: mean, median and 90th percentile [%].
TEST(Validation, ErrorsOfTheAuthorsSimulator) {
  if (!has_study()) GTEST_SKIP() << test::not_checked(kStudy);
  ValidationRequest request = study_request();
  request.test = {"real/finish-time-fairness", "real/max-min", "real/min-makespan"};
  request.draws = 0;
  const Validation v = validate_runs(request);
  ASSERT_EQ(v.authors.size(), 3U);
  const double published[3][3] = {{0.8, 5.5, 20.7}, {8.4, 9.6, 34.9}, {8.7, 10.2, 35.4}};
  for (std::size_t r = 0; r < 3; ++r) {
    const Errors& errors = v.authors[r].errors;
    EXPECT_NEAR(100 * errors.mean_jct, published[r][0], 0.051);
    EXPECT_NEAR(100 * errors.job_median, published[r][1], 0.051);
    EXPECT_NEAR(100 * errors.job_p90, published[r][2], 0.051);
  }
}

/// Fitted on one run, tested on the others: the bounds that docs/validity.md claims.
TEST(Validation, GivenTheAllocationsTheMedianJobIsWithinTwoPerCent) {
  if (!has_study()) GTEST_SKIP() << test::not_checked(kStudy);
  for (const char* fit : {"real/finish-time-fairness", "real/max-min", "real/min-makespan"}) {
    ValidationRequest request = study_request();
    request.fit = {fit};
    const Validation v = validate_runs(request);
    EXPECT_EQ(v.runs.size(), 4U);
    for (const ValidatedRun& run : v.runs) {
      if (run.given == Given::kAllocation) {
        EXPECT_LT(run.errors.job_median, 0.02) << fit << " " << run.run;
      } else {
        EXPECT_LT(run.errors.job_median, 0.08) << fit << " " << run.run;
        EXPECT_LT(run.errors.mean_jct, 0.04) << fit << " " << run.run;
      }
    }
    EXPECT_EQ(v.tau, 1.0) << fit;
    EXPECT_TRUE(v.inverted.empty()) << fit;
  }
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Rewrites the field in this column of each row.
template <typename Change>
void change_column(const fs::path& path, std::size_t column, const Change& change) {
  std::istringstream in(text_of(path));
  std::string out;
  std::string line;
  for (bool header = true; std::getline(in, line); header = false) {
    std::vector<std::string> fields;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) fields.push_back(cell);
    if (!header) fields[column] = change(fields[column]);
    for (std::size_t f = 0; f < fields.size(); ++f) out += (f == 0 ? "" : ",") + fields[f];
    out += "\n";
  }
  std::ofstream(path) << out;
}

class PlantedErrors : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_study()) GTEST_SKIP() << test::not_checked(kStudy);
    fs::copy(test::public_data(kStudy), copy(), fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(copy())) {
      fs::permissions(entry, fs::perms::owner_all, fs::perm_options::add);
    }
  }
  std::string copy() const { return directory_.path("study"); }
  std::string hints(double round_s = 120) const {
    ValidationRequest request = study_request();
    request.directory = copy();
    request.fit = {"real/finish-time-fairness"};
    request.test = {"real/min-makespan"};
    request.draws = 0;
    request.round_s = round_s;
    std::string all;
    for (const std::string& hint : validate_runs(request).hints) all += hint + "\n";
    return all;
  }

 private:
  test::TemporaryDirectory directory_;
};

TEST_F(PlantedErrors, ASoundRunHasNoHint) { EXPECT_EQ(hints(), ""); }

TEST_F(PlantedErrors, ShuffledAllocations) {
  // Jobs of one GPU swap their allocations with another such job.
  const RoundWorkload workload = read_round_workload(copy());
  std::vector<std::string> single;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    if (workload.jobs[j].gpus == 1) single.push_back(std::to_string(j));
  }
  std::map<std::string, std::string> other;
  for (std::size_t s = 0; s < single.size(); ++s) other[single[s]] = single[single.size() - 1 - s];
  const auto swapped = [&](const std::string& job) {
    return other.contains(job) ? other.at(job) : job;
  };
  change_column(fs::path(copy()) / "real/min-makespan/rounds.csv", 1, swapped);
  change_column(fs::path(copy()) / "real/min-makespan/throughput.csv", 1, swapped);
  EXPECT_NE(hints().find("allocations and run times do not fit"), std::string::npos) << hints();
}

TEST_F(PlantedErrors, AWrongRoundLength) {
  const std::string found = hints(180);
  EXPECT_NE(found.find("the length of a round does not fit"), std::string::npos) << found;
}

TEST_F(PlantedErrors, RatesTwentyPerCentOff) {
  change_column(fs::path(copy()) / "real/min-makespan/throughput.csv", 3,
                [](const std::string& rate) { return std::to_string(1.2 * std::stod(rate)); });
  const std::string found = hints();
  EXPECT_NE(found.find("rates do not fit"), std::string::npos) << found;
  EXPECT_EQ(found.find("round does not fit"), std::string::npos) << found;
}

TEST_F(PlantedErrors, AnUndeclaredLimit) {
  ValidationRequest request = study_request();
  request.directory = copy();
  request.fit = {"real/finish-time-fairness"};
  request.test = {"real/max-min"};
  request.limits.clear();
  request.draws = 0;
  const Validation v = validate_runs(request);
  ASSERT_FALSE(v.hints.empty());
  EXPECT_NE(v.hints.back().find("run-time limit of 1 x"), std::string::npos) << v.hints.back();
}

}  // namespace
}  // namespace corun::validation_test
