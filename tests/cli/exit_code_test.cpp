#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/wait.h>

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
