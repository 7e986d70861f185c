#include "runner/inputs/job_kinds.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/interference/measured_speeds.hpp"
#include "sim/error.hpp"
#include "tests/helpers/temporary_directory.hpp"

namespace corun::job_kinds_test {
namespace {

TEST(JobKinds, JobsOfOneWorkloadAreCopies) {
  const test::TemporaryDirectory folder;
  const std::string path =
      folder.write("jobs.csv",
                   "job,workload,submit_s,solo_s,gpus,gpu_util_pct,mem_alloc_pct,mem_time_pct\n"
                   "one,bert,0,10,1,90,50,40\n"
                   "two,,0,10,1,20,10,\n"
                   "three,bert,0,20,1,90,50,40\n"
                   "gang,lstm,0,20,4,90,50,40\n");
  WorkloadKeys keys;
  const JobKinds kinds = read_job_kinds(path, keys);
  EXPECT_EQ(kinds.names, (std::vector<std::string>{"bert", "two"}));
  EXPECT_EQ(kinds.jobs, (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(kinds.keys[0], keys.find("bert"));
  ASSERT_EQ(kinds.notes.size(), 1U);
  EXPECT_NE(kinds.notes[0].find("1 jobs of several GPUs"), std::string::npos);
  const std::vector<double> features = kind_features(kinds, profile_features());
  ASSERT_EQ(features.size(), 6U);
  EXPECT_EQ(features[0], 90);
  EXPECT_EQ(features[3], 20);
  EXPECT_TRUE(std::isnan(features[5]));
}

TEST(JobKinds, ProfilesOfLiveModeAndTablesOfPairs) {
  const test::TemporaryDirectory folder;
  const std::string solo = folder.write(
      "solo.csv",
      "job,solo_s,solo_sd_s,runs,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,gpu_type\n"
      "gemm,10,0.1,3,90,50,40,4096,Fake V100\n"
      "stream,12,0.1,3,30,20,80,2048,Fake V100\n");
  WorkloadKeys keys;
  const JobKinds profiles = read_job_kinds(solo, keys);
  EXPECT_EQ(profiles.names, (std::vector<std::string>{"gemm", "stream"}));
  EXPECT_EQ(kind_features(profiles, {{"mem_used_mib", FeatureScale::kLog}}),
            (std::vector<double>{4096, 2048}));

  const JobKinds pairs =
      read_job_kinds(std::string(CORUN_SOURCE_DIR) + "/examples/mine.corun.csv", keys);
  EXPECT_EQ(pairs.names.size(), 6U);
  EXPECT_EQ(pairs.jobs.size(), 6U);
  EXPECT_EQ(kind_features(pairs, {{"gpu_util_pct", FeatureScale::kLinear}})[0], 89);
}

TEST(JobKinds, FeaturesThatTheFileCannotHaveAreNamed) {
  WorkloadKeys keys;
  const std::string examples = std::string(CORUN_SOURCE_DIR) + "/examples/";
  for (const char* file : {"jobs.csv", "mine.corun.csv"}) {
    const JobKinds kinds = read_job_kinds(examples + file, keys);
    try {
      kind_features(kinds, {{"solo_v100", FeatureScale::kLog}});
      FAIL() << file;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("has no solo_v100"), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW(read_job_kinds(examples + "groups.csv", keys), InputError);
  EXPECT_THROW(read_job_kinds(examples + "mine.yaml", keys), InputError);
}

}  // namespace
}  // namespace corun::job_kinds_test
