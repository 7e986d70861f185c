#include "traces/generated/solo_workload.hpp"

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
#include "traces/job_csv.hpp"

namespace corun::solo_workload_test {
namespace {

/// c does not run on the first type, and d is not measured there.
const std::string kTable =
    "workload,gpu_type,time_s,memory_mib,gpu_util_pct,mem_alloc_pct\n"
    "a,V100,10,8000,70.5,60\n"
    "a,T4,25,7900,,\n"
    "b,V100,2,,,\n"
    "b,T4,-,,,\n"
    "c,V100,-,,,\n"
    "c,T4,7,,,\n"
    "d,T4,5,,,\n";

SoloTable read(const std::string& text, WorkloadKeys& keys) {
  std::istringstream in(text);
  return read_solo_table(in, "t.csv", keys);
}

std::string stem(const std::string& name) { return name.substr(0, name.rfind('#')); }

std::string error_of(const SoloTable& table, const std::optional<std::string>& reference, int jobs,
                     std::optional<double> mean) {
  try {
    solo_workload_trace(table, reference, jobs, mean, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(SoloWorkload, DrawsWorkloadsThatAreMeasuredOnTheReferenceType) {
  WorkloadKeys keys;
  const SoloTable table = read(kTable, keys);
  const Trace trace = solo_workload_trace(table, std::nullopt, 2000, std::nullopt, 1);
  EXPECT_EQ(trace.reference_type, "V100");
  EXPECT_EQ(trace.source, "solo times of t.csv");
  ASSERT_EQ(trace.jobs.size(), 2000U);
  std::map<std::string, int> drawn;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    EXPECT_EQ(trace.jobs[i].name.substr(trace.jobs[i].name.rfind('#')), "#" + std::to_string(i));
    EXPECT_EQ(keys.text(trace.jobs[i].key), stem(trace.jobs[i].name));
    EXPECT_EQ(trace.jobs[i].spec.submit, Time{0});
    ++drawn[stem(trace.jobs[i].name)];
  }
  ASSERT_EQ(drawn.size(), 2U) << "c and d are not measured on the V100";
  EXPECT_NEAR(drawn["a"], 1000, 5 * std::sqrt(500));  // five standard deviations

  std::set<std::string> on_t4;
  const Trace other = solo_workload_trace(table, "T4", 200, std::nullopt, 1);
  for (const TraceJob& job : other.jobs) on_t4.insert(stem(job.name));
  EXPECT_EQ(on_t4, (std::set<std::string>{"a", "c", "d"}));
  EXPECT_EQ(other.reference_type, "T4");
}

TEST(SoloWorkload, OtherTypesHaveTheRatiosOfTheTable) {
  WorkloadKeys keys;
  const Trace trace = solo_workload_trace(read(kTable, keys), {}, 50, std::nullopt, 1);
  ASSERT_EQ(trace.measured_types.size(), 2U);
  EXPECT_EQ(trace.measured_types[0].name, "V100");
  EXPECT_EQ(trace.measured_types[1].name, "T4");
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const double work_s = to_seconds(trace.jobs[i].spec.work);
    const bool is_a = stem(trace.jobs[i].name) == "a";
    EXPECT_EQ(on_type(trace.jobs[i], 0).solo_s, work_s);
    EXPECT_EQ(on_type(trace.jobs[i], 1).solo_s,
              is_a ? work_s * 2.5 : std::numeric_limits<double>::infinity());
    EXPECT_EQ(std::isnan(on_type(trace.jobs[i], 1).memory_mib), !is_a);
    const Profile& profile = trace.jobs[i].spec.profile;
    EXPECT_EQ(profile, is_a ? (Profile{70.5, 60.0, std::nullopt, 8000.0}) : Profile{});
  }
  std::stringstream text;
  write_job_csv(text, trace, keys);
  const Trace again = read_job_csv(text, "written", keys);
  ASSERT_EQ(again.measured_types.size(), 2U);
  EXPECT_EQ(test::solo_s_on(again, 1), test::solo_s_on(trace, 1));
}

TEST(SoloWorkload, IsTheSameForASeedAndALongerOneBeginsWithIt) {
  WorkloadKeys keys;
  const SoloTable table = read(kTable, keys);
  const Trace some = solo_workload_trace(table, {}, 40, 100, 3);
  const Trace longer = solo_workload_trace(table, {}, 80, 100, 3);
  const Trace other = solo_workload_trace(table, {}, 40, 100, 4);
  bool differs = false;
  for (std::size_t i = 0; i < some.jobs.size(); ++i) {
    EXPECT_EQ(some.jobs[i].name, longer.jobs[i].name);
    EXPECT_EQ(some.jobs[i].spec.work, longer.jobs[i].spec.work);
    EXPECT_EQ(some.jobs[i].spec.submit, longer.jobs[i].spec.submit);
    EXPECT_EQ(on_type(some.jobs[i], 1).solo_s, on_type(longer.jobs[i], 1).solo_s);
    differs = differs || some.jobs[i].spec.work != other.jobs[i].spec.work;
  }
  EXPECT_TRUE(differs);
}

TEST(SoloWorkload, RefusesWhatCannotBeDrawn) {
  WorkloadKeys keys;
  const SoloTable table = read(kTable, keys);
  EXPECT_NE(error_of(table, {}, 0, {}).find("expected 1 or more"), std::string::npos);
  EXPECT_NE(error_of(table, {}, 3, 0.0).find("mean time between arrivals"), std::string::npos);
  EXPECT_NE(error_of(table, {}, 3, 1e15).find("within 4e9 s"), std::string::npos);
  EXPECT_EQ(error_of(table, "V10", 3, {}),
            "t.csv: has no solo times on 'V10', expected one of its GPU types; did you mean "
            "'V100'? known: V100, T4");
  const SoloTable none = read("workload,gpu_type,time_s\na,V100,-\na,T4,1\n", keys);
  EXPECT_EQ(error_of(none, {}, 3, {}),
            "t.csv: no workload is measured on V100, expected some to draw jobs from; name another "
            "GPU type");
}

TEST(SoloWorkload, MisosJobsRunWhereTheyFit) {
  const std::string file = "jobs/miso/miso_mig_steps.csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  WorkloadKeys keys;
  const SoloTable table = read_solo_table(test::public_data(file), keys);
  const Trace trace = solo_workload_trace(table, "7g.40gb", 1000, std::nullopt, 1);
  const std::vector<WorkloadKey> workloads = keys_of(trace);
  const std::set<WorkloadKey> drawn(workloads.begin(), workloads.end());
  EXPECT_EQ(drawn.size(), 32U) << "all jobs fit into the whole GPU";
  ASSERT_EQ(trace.measured_types.size(), 4U);
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    const JobSpec& job = trace.jobs[i].spec;
    EXPECT_TRUE(job.profile.gpu_util_pct && job.profile.mem_used_mib) << trace.jobs[i].name;
    EXPECT_EQ(on_type(trace.jobs[i], 3).solo_s, to_seconds(job.work));
    EXPECT_EQ(on_type(trace.jobs[i], 3).memory_mib, *job.profile.mem_used_mib);
    for (std::size_t t = 0; t < 3; ++t) {
      EXPECT_GT(on_type(trace.jobs[i], t).solo_s, 0.99 * to_seconds(job.work))
          << "up to the noise of the measurement";
    }
  }
}

}  // namespace
}  // namespace corun::solo_workload_test
