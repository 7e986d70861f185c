#include "traces/generated/pair_workload.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/public_data.hpp"
#include "tests/helpers/trace_columns.hpp"
#include "traces/generated/drawn_jobs.hpp"

namespace corun::pair_workload_test {
namespace {

const std::string kHead =
    "job_a,model_a,solo_gpu_util_a,solo_gmem_util_a,solo_gmem_mib_a,norm_a,"
    "job_b,model_b,solo_gpu_util_b,solo_gmem_util_b,solo_gmem_mib_b,norm_b\n";
/// C has a measured speed beside PPO, whose speed was not measured; D is in no measured pair.
const std::string kTable = kHead +
                           "A,A,45.5,20,12288,0.9,B,B,58.5,,2360,0.8\n"
                           "B,B,58.5,,2360,0.7,B,B,58.5,,2360,0.7\n"
                           "C,C,10,10,2000,0.7,P,PPO,12,0,2051,1\n"
                           "D,D,10,10,2000,,A,A,45.5,20,12288,\n";
const std::string kGavel =
    "gpu,job_a,family_a,job_b,family_b,solo_v100_a,solo_p100_a,solo_k80_a,solo_v100_b,solo_p100_b,"
    "solo_k80_b,failed,norm_a,norm_b\n"
    "p100,x,X,y,Y,1,2,3,4,5,0,0,0.5,0.25\n";

Measurements read(const std::string& text, WorkloadKeys& keys) {
  std::istringstream in(text);
  return read_measurements(in, "t.csv", keys);
}

std::string stem(const std::string& name) { return name.substr(0, name.rfind('#')); }

std::string error_of(const Measurements& table, int jobs, std::optional<double> mean) {
  try {
    pair_workload_trace(table, jobs, mean, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PairWorkload, DrawsJobsOfMeasuredPairsAlone) {
  WorkloadKeys keys;
  const Measurements table = read(kTable, keys);
  const Trace trace = pair_workload_trace(table, 2000, std::nullopt, 1);
  ASSERT_EQ(trace.jobs.size(), 2000U);
  std::map<std::string, int> drawn;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    EXPECT_EQ(trace.jobs[i].name.substr(trace.jobs[i].name.rfind('#')), "#" + std::to_string(i));
    EXPECT_EQ(keys.text(trace.jobs[i].key), stem(trace.jobs[i].name));
    EXPECT_EQ(trace.jobs[i].spec.submit, Time{0});
    ++drawn[stem(trace.jobs[i].name)];
  }
  ASSERT_EQ(drawn.size(), 2U) << "C, D and P are in no pair of which both speeds were measured";
  EXPECT_NEAR(drawn["A"], 1000, 5 * std::sqrt(500));  // five standard deviations
}

TEST(PairWorkload, SoloTimesAreLogNormal) {
  WorkloadKeys keys;
  const Measurements table = read(kTable, keys);
  constexpr int kJobs = 20000;
  const Trace trace = pair_workload_trace(table, kJobs, std::nullopt, 7);
  double sum = 0;
  double squares = 0;
  double total = 0;
  for (const JobSpec& job : test::specs_of(trace)) {
    const double log = std::log(to_seconds(job.work));
    sum += log;
    squares += log * log;
    total += to_seconds(job.work);
  }
  const double mean = sum / kJobs;
  const double deviation = std::sqrt(squares / kJobs - mean * mean);
  EXPECT_NEAR(mean, std::log(600), 5 * 0.7 / std::sqrt(kJobs));
  EXPECT_NEAR(deviation, 0.7, 5 * 0.7 / std::sqrt(2.0 * kJobs));
  EXPECT_NEAR(drawn_mean_solo_s(), 600 * std::exp(0.245), 1e-9);
  EXPECT_NEAR(total / kJobs / drawn_mean_solo_s(), 1, 0.04);
}

TEST(PairWorkload, IsTheSameForASeedAndALongerOneBeginsWithIt) {
  WorkloadKeys keys;
  const Measurements table = read(kTable, keys);
  const Trace two = pair_workload_trace(table, 40, 100, 3);
  const Trace longer = pair_workload_trace(table, 80, 100, 3);
  const Trace other = pair_workload_trace(table, 40, 100, 4);
  bool differs = false;
  for (std::size_t i = 0; i < two.jobs.size(); ++i) {
    EXPECT_EQ(two.jobs[i].name, longer.jobs[i].name);
    EXPECT_EQ(two.jobs[i].spec.work, longer.jobs[i].spec.work);
    EXPECT_EQ(two.jobs[i].spec.submit, longer.jobs[i].spec.submit);
    differs = differs || two.jobs[i].spec.work != other.jobs[i].spec.work;
  }
  EXPECT_TRUE(differs);
}

TEST(PairWorkload, ArrivesAtTheMeanAskedFor) {
  WorkloadKeys keys;
  const Measurements table = read(kTable, keys);
  const Trace trace = pair_workload_trace(table, 10000, 25, 5);
  Time last{0};
  for (const JobId id : by_submit_time(trace)) {
    EXPECT_GE(trace.jobs[index(id)].spec.submit, last);
    last = trace.jobs[index(id)].spec.submit;
  }
  EXPECT_NEAR(to_seconds(last) / 10000, 25, 5 * 0.25);
}

TEST(PairWorkload, ProfilesHaveWhatTheTableHasAndNoTrueDemand) {
  WorkloadKeys keys;
  const Measurements table = read(kTable, keys);
  const Trace trace = pair_workload_trace(table, 50, std::nullopt, 1);
  ASSERT_EQ(trace.feature_list, table.speeds.features);
  ASSERT_EQ(trace.jobs.size(), 50U);
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const Profile& profile = trace.jobs[i].spec.profile;
    EXPECT_FALSE(profile.mem_used_mib) << "nothing runs out of memory";
    EXPECT_FALSE(profile.imputed);
    const bool is_a = stem(trace.jobs[i].name) == "A";
    EXPECT_EQ(profile.gpu_util_pct, is_a ? 45.5 : 58.5);
    EXPECT_EQ(profile.mem_time_pct, is_a ? std::optional(20.0) : std::nullopt);
    EXPECT_EQ(profile.mem_alloc_pct, is_a ? 50 : 100 * 2360 / 24576.0);
    EXPECT_EQ(trace.jobs[i].features.at(0), is_a ? 45.5 : 58.5);
    EXPECT_EQ(trace.jobs[i].features.at(2), is_a ? 12288 : 2360);
  }
}

TEST(PairWorkload, FeaturesThatNoProfileHasStandBesideTheTrace) {
  WorkloadKeys keys;
  const Trace trace = pair_workload_trace(read(kGavel, keys), 20, std::nullopt, 1);
  ASSERT_EQ(trace.feature_list.size(), 3U);
  EXPECT_EQ(trace.feature_list[0].name, "solo_p100");
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    EXPECT_EQ(trace.jobs[i].spec.profile, Profile{});
    const bool is_x = stem(trace.jobs[i].name) == "x";
    EXPECT_EQ(trace.jobs[i].features.at(0), is_x ? 2 : 5);
    EXPECT_EQ(std::isnan(trace.jobs[i].features.at(2)), !is_x);
  }
}

TEST(PairWorkload, RefusesWhatCannotBeDrawn) {
  WorkloadKeys keys;
  const Measurements table = read(kTable, keys);
  EXPECT_NE(error_of(table, 0, {}).find("expected 1 or more"), std::string::npos);
  for (const double mean : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()}) {
    EXPECT_NE(error_of(table, 3, mean).find("mean time between arrivals"), std::string::npos);
  }
  EXPECT_NE(error_of(table, 3, 1e15).find("within 4e9 s"), std::string::npos);
  const Measurements unmeasured = read(kHead + "C,C,10,10,2000,0.7,P,PPO,12,0,2051,1\n", keys);
  EXPECT_NE(error_of(unmeasured, 3, {}).find("t.csv: found no pair of which both speeds"),
            std::string::npos);
}

TEST(PairWorkload, AllJobsOfLucidThatWereMeasured) {
  const std::string file = "lucid/lucid_pairs.csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  WorkloadKeys keys;
  const Trace trace =
      pair_workload_trace(read_measurements(test::public_data(file), keys), 5000, std::nullopt, 1);
  const std::vector<WorkloadKey> workloads = keys_of(trace);
  const std::set<WorkloadKey> drawn(workloads.begin(), workloads.end());
  EXPECT_EQ(drawn.size(), 44U);  // 50 less PPO and TD3, each in three batch sizes
  for (const std::string_view name : names_of(trace)) {
    EXPECT_FALSE(name.starts_with("PPO") || name.starts_with("TD3")) << name;
  }
}

}  // namespace
}  // namespace corun::pair_workload_test
