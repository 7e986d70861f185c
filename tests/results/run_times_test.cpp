#include "tests/helpers/run_times.hpp"

#include <cmath>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <unistd.h>

#include <gtest/gtest.h>

#include "results/hdf5_table.hpp"
#include "results/result_rows.hpp"
#include "support/atomic_file.hpp"

/// J_c, J_a and ISD in /runs of a results file.
namespace corun::test::run_times_test {
namespace {

/// The results file with this run as the only one.
std::string file_of(const RunRecord& record) {
  ResultsHeader header;
  header.policies = {{"timetable", "timetable", "{}", false}};
  header.gpus.resize(static_cast<std::size_t>(record.gpu_count));
  Trace trace;
  for (std::size_t j = 0; j < record.jobs.size(); ++j) {
    trace.jobs.push_back({{}, "J" + std::to_string(j)});
  }
  Replication replication;
  replication.trace = std::make_shared<const Trace>(std::move(trace));
  replication.runs.resize(1);
  replication.runs[0].record = record;
  replication.runs[0].metrics = compute_metrics(record);
  const Replication* all = &replication;
  return results_image({header, {&all, 1}});
}

TEST(RunTimes, ColumnsOfTheResultsFile) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("corun-run-times-" + std::to_string(::getpid()) + ".h5"))
                               .string();
  for (const TimedRun& t : timed_runs()) {
    write_file_atomically(path, file_of(t.record));
    const std::lock_guard lock(hdf5::hdf5_mutex());
    const hdf5::Handle file = hdf5::open_file(path);
    const hdf5::TableReader runs(file, "runs");
    const auto cell = [&](const char* column) { return runs.reals(column)[index(t.job)]; };
    EXPECT_EQ(cell("solo_s"), to_seconds(t.solo)) << t.what;
    if (t.corun) {
      EXPECT_EQ(cell("corun_s"), to_seconds(*t.corun)) << t.what;
      EXPECT_DOUBLE_EQ(cell("isd"), to_seconds(*t.corun - t.solo) / to_seconds(t.solo)) << t.what;
    } else {
      EXPECT_TRUE(std::isnan(cell("corun_s"))) << t.what;
      EXPECT_TRUE(std::isnan(cell("isd"))) << t.what;
    }
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace corun::test::run_times_test
