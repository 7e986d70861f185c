#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/wait.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/helpers/program.hpp"

/// Exit codes of the program that no other test covers (DESIGN section 6).
namespace corun::exit_code_test {
namespace {

// A queue of ten million jobs in half a gigabyte of address space.
TEST(ExitCode, HostMemoryExhaustedIsALimitOfThisMachine) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve more address space than any limit leaves";
#endif
  const test::TemporaryDirectory directory;
  const std::string err = directory.path("err");
  const std::string command =
      "ulimit -v 500000; '" CORUN_PROGRAM
      "' replay --quiet --threads 1 --set replications=1 --set workload.source=jrs-resampled "
      "--set workload.jobs=10000000 --set 'policies=[{name: fcfs}]' >/dev/null 2>'" +
      err + "'";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 70);
  EXPECT_EQ(test::read_file(err), "corun: out of memory\n");
}

/// A thousand measured pairs of 45 jobs.
std::string many_pairs() {
  std::string text =
      "group,gpu,sharing,session,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,solo_s,"
      "corun_s,isd,source\n";
  int group = 0;
  const auto row = [&](int job, int other) {
    const double isd = (10 + 2 * job) * (10 + 2 * other) / 8000.0;
    text += fmt::format("{},V100-16GB,time-slicing,s,j{},{},{},30,{},100,{:.3f},{:.4f},made\n",
                        group, job, 10 + 2 * job, 20 + job, 1000 + 100 * job, 100 * (1 + isd), isd);
  };
  for (int a = 0; a < 45; ++a) {
    for (int b = 0; b < a; ++b) {
      ++group;
      row(a, b);
      row(b, a);
    }
  }
  return text;
}

// The blocks of a matrix product took 250 KiB of the stack.
TEST(ExitCode, AFitNeedsNoLargeStack) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take more stack";
#endif
  const test::TemporaryDirectory directory;
  const std::string command = fmt::format(
      "ulimit -s 160; '{}' model fit --quiet --effort 0.01 --model gp --pairs '{}' --out '{}' "
      "--threads 2 >/dev/null",
      CORUN_PROGRAM, directory.write("pairs.csv", many_pairs()), directory.path("gp.model"));
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The CUDA runtime calls a missing driver an insufficient one.
TEST(Version, WithoutAGpuReadsAsNoFault) {
  const test::Outcome version = test::run_corun({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.out.starts_with("corun 0.")) << version.out;
  if (std::filesystem::exists("/proc/driver/nvidia")) GTEST_SKIP() << "this machine has a driver";
  EXPECT_TRUE(version.out.ends_with("\nGPU: none is used, and the simulator needs none\n"))
      << version.out;
}

}  // namespace
}  // namespace corun::exit_code_test
