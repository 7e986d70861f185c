#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "processes/supervisor.hpp"
#include "tests/helpers/eventually.hpp"

namespace corun::test::supervised_process_test {
namespace {

/// A guard that waits for a lock of malloc, which another thread of corun held during the fork, never ends.
TEST(SupervisedProcess, EndsWhileOtherThreadsTakeMemory) {
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&over] {
      for (std::size_t bytes = 1; !over; bytes = bytes % 10'000 + 1) {
        const auto taken = std::make_unique<std::string>(bytes, 'x');
      }
    });
  }
  Command command;
  command.argv = {"/bin/true"};
  command.limits.disk_free_bytes = 0;
  for (int round = 0; round < 25 && !testing::Test::HasFailure(); ++round) {
    SupervisedProcess process(command, -1, "test");
    process.start();
    EXPECT_TRUE(process.wait_until(monotonic_now() + kPatience)) << round;
    EXPECT_TRUE(process.ending().exited_well()) << describe(process.ending());
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace corun::test::supervised_process_test
