#include "traces/tables/measured_jobs.hpp"

#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corun::measured_jobs_test {
namespace {

using testing::HasSubstr;

Measurements read(const std::string& text, WorkloadKeys& keys, CorunsAs as = CorunsAs::kSpeeds) {
  std::istringstream in(text);
  return read_measurements(in, "t.csv", keys, as);
}

constexpr const char* kCoruns =
    "group,gpu,sharing,job,mem_used_mib,solo_s,corun_s\n"
    "1,T4,mps,a,4000,100,110\n"
    "1,T4,mps,b,,50,100\n"
    "2,T4,mps,a,5000,100,4000\n"  // 0.025
    "2,T4,mps,c,0,100,4000\n";    // 0.025

TEST(MeasuredJobs, SpeedsThatNoJobHasAreDoubted) {
  for (const CorunsAs as : {CorunsAs::kSpeeds, CorunsAs::kRuns}) {
    WorkloadKeys keys;
    const Measurements table = read(kCoruns, keys, as);
    ASSERT_EQ(table.notes.size(), 1U);
    EXPECT_EQ(table.notes[0],
              "t.csv: 2 speeds beside another job below 0.05 of that alone, 'a' beside 'c' 0.025: "
              "were both timed from their common start, and alone on this GPU?");
  }
  WorkloadKeys keys;
  const Measurements norms = read(
      "job_a,solo_gpu_util_a,solo_gmem_util_a,solo_gmem_mib_a,norm_a,model_a,job_b,solo_gpu_util_b,"
      "solo_gmem_util_b,solo_gmem_mib_b,norm_b,model_b\n"
      "x,50,20,1000,0.05,m,y,50,20,2000,0.9,n\n"
      "x,50,20,1000,0.049,m,z,50,20,2000,0.9,o\n",
      keys);
  ASSERT_EQ(norms.notes.size(), 1U);
  EXPECT_THAT(norms.notes[0], HasSubstr("1 speed beside another job below 0.05 of that alone, "
                                        "'x' beside 'z' 0.049: "));
  const Measurements usual =
      read("group,gpu,sharing,job,solo_s,corun_s\n1,T4,mps,a,100,110\n1,T4,mps,b,50,100\n", keys);
  EXPECT_TRUE(usual.notes.empty());
}

TEST(MeasuredJobs, TheLargestMemoryOfAJobIsItsDemand) {
  WorkloadKeys keys;
  const auto memory = measured_memory_mib(read(kCoruns, keys, CorunsAs::kRuns));
  ASSERT_EQ(memory.size(), 1U) << "empty and 0 are not known";
  EXPECT_EQ(memory.at(keys.of("a")), 5000);
}

}  // namespace
}  // namespace corun::measured_jobs_test
