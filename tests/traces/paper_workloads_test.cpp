#include "traces/paper_workloads.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/trace_columns.hpp"

namespace corun::paper_workloads_test {
namespace {

const CorunMeasurement* find(const std::vector<CorunMeasurement>& all, const std::string& source) {
  const auto it = std::ranges::find(all, source, &CorunMeasurement::source);
  return it == all.end() ? nullptr : &*it;
}

TEST(WorkloadKeys, SameTextSameKey) {
  WorkloadKeys keys;
  const WorkloadKey a = keys.of("DCGAN", 205, 20);
  EXPECT_EQ(keys.of("DCGAN/bs=205/epochs=20"), a);
  EXPECT_EQ(keys.text(a), "DCGAN/bs=205/epochs=20");
  EXPECT_EQ(keys.find("DCGAN/bs=205/epochs=20"), a);
  // Five epochs are not twenty: another solo time, so another workload.
  EXPECT_NE(keys.of("DCGAN", 205, 5), a);
  EXPECT_EQ(keys.find("free text"), std::nullopt);
  EXPECT_EQ(keys.size(), 2u);
  for (int i = 0; i < 1000; ++i) keys.of("w" + std::to_string(i));
  EXPECT_EQ(keys.of("DCGAN", 205, 20), a);
  EXPECT_EQ(keys.text(keys.of("w999")), "w999");
}

TEST(WorkloadKeys, NoTextIsUnknown) {
  WorkloadKeys keys;
  EXPECT_EQ(keys.of(""), kUnknownWorkload);
  EXPECT_EQ(keys.text(kUnknownWorkload), "");
  EXPECT_EQ(keys.size(), 0u);
  EXPECT_THROW(keys.text(3), std::logic_error);
}

TEST(PaperMeasurements, TakeTheUniqueRowsOfTheTablesAskedFor) {
  WorkloadKeys keys;
  EXPECT_EQ(paper_measurements(keys, kJrsKnowledgeBase).size(), 46u);
  EXPECT_EQ(paper_measurements(keys, {false, true, false, false}).size(), 36u);
  EXPECT_EQ(paper_measurements(keys, {false, false, true, false}).size(), 2u);
  EXPECT_EQ(paper_measurements(keys, kAllJrs).size(), 84u);
  EXPECT_EQ(paper_measurements(keys, kPrirectKnowledgeBase).size(), 32u);
  const auto all = paper_measurements(keys);
  EXPECT_EQ(all.size(), 116u);
  std::set<std::string> sources;
  for (const CorunMeasurement& m : all) EXPECT_TRUE(sources.insert(m.source).second) << m.source;
  for (const char* left_out : {"JRS-II row 22", "JRS-VII row 9", "JRS-VII row 12",
                               "PRI-draft-IV row 1", "PRI-draft-IV row 2"}) {
    EXPECT_FALSE(sources.contains(left_out)) << left_out;
  }
}

TEST(PaperMeasurements, AreWhatTheTablesSay) {
  WorkloadKeys keys;
  const auto all = paper_measurements(keys);
  const CorunMeasurement* row = find(all, "JRS-IV row 3");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->gpu_type, "V100-16GB");
  EXPECT_EQ(row->sharing, "time-slicing");
  ASSERT_EQ(row->members.size(), 2u);
  EXPECT_EQ(keys.text(row->members[0].workload), "SmallBERT-L2-H128-A2/bs=256/epochs=1");
  EXPECT_EQ(row->members[0].solo_s, 260.23);
  EXPECT_EQ(row->members[0].corun_s, 261.29);
  EXPECT_EQ(row->members[0].cluster, 1);
  EXPECT_EQ(row->members[1].profile, (Profile{7.0, 2.89, 0.0, std::nullopt, false}));
  // Its solo times are the row's own, not those of the rest of the session.
  const CorunMeasurement* other_session = find(all, "JRS-VI row 2");
  ASSERT_NE(other_session, nullptr);
  EXPECT_EQ(other_session->members[0].solo_s, 254.03);
  EXPECT_EQ(find(all, "JRS-V row 1")->members.size(), 5u);
  EXPECT_EQ(find(all, "JRS-VI row 1")->members.size(), 9u);
  // The two papers ran DCGAN for different numbers of epochs: different workloads.
  const CorunMeasurement* prirect = find(all, "PRI-III row 6");
  ASSERT_NE(prirect, nullptr);
  EXPECT_EQ(keys.text(prirect->members[1].workload), "DCGAN/bs=230/epochs=5");
}

TEST(PaperMeasurements, OnlyAutoencodersAreImputed) {
  WorkloadKeys keys;
  std::size_t imputed = 0;
  for (const CorunMeasurement& m : paper_measurements(keys)) {
    for (const CorunMember& member : m.members) {
      EXPECT_GT(member.solo_s, 0) << m.source;
      EXPECT_GT(member.corun_s, 0) << m.source;
      EXPECT_TRUE(member.profile.gpu_util_pct.has_value()) << m.source;
      EXPECT_FALSE(member.profile.mem_used_mib.has_value()) << m.source;
      EXPECT_EQ(member.profile.imputed, keys.text(member.workload).starts_with("AE-")) << m.source;
      if (!member.profile.imputed) continue;
      ++imputed;
      EXPECT_EQ(member.cluster, 0);
      EXPECT_EQ(member.profile, (Profile{61.423, 43.245, 24.456, std::nullopt, true}));
    }
  }
  EXPECT_EQ(imputed, 11u);  // IV 4; V 4; VI bin 3; VII repeats V
}

TEST(JrsQueueTrace, IsTheQueue) {
  WorkloadKeys keys;
  const Trace trace = jrs_queue_trace(keys);
  ASSERT_EQ(trace.jobs.size(), 24u);
  EXPECT_EQ(trace.jobs.size(), 24u);
  EXPECT_EQ(trace.jobs[11].name, "J7-205");
  EXPECT_EQ(trace.source, "jrs-queue");
  EXPECT_TRUE(trace.shuffled_by_default);
  EXPECT_EQ(test::imputed_profiles(trace), 4u);
  const JobSpec& job = trace.jobs[11].spec;
  EXPECT_EQ(job.submit, Time{0});
  EXPECT_EQ(job.work, from_seconds(281.40));
  EXPECT_EQ(job.epoch, from_seconds(14.07));
  EXPECT_EQ(job.gpus, 1);
  EXPECT_EQ(job.profile, (Profile{42.16, 14.07, 13.78, std::nullopt, false}));
  EXPECT_EQ(trace.jobs[11].cluster, 1);
  EXPECT_EQ(trace.jobs[11].uncertainty, 133.11);
  EXPECT_EQ(trace.jobs[5].uncertainty, 234.35);  // J4-869, as printed
  const std::vector<JobId> arrivals = by_submit_time(trace);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(index(arrivals[i]), i);
}

TEST(JrsQueueTrace, MeetsItsMeasurements) {
  WorkloadKeys keys;
  std::set<WorkloadKey> measured;
  for (const CorunMeasurement& m : paper_measurements(keys, kAllJrs)) {
    for (const CorunMember& member : m.members) measured.insert(member.workload);
  }
  const std::size_t known = keys.size();
  for (const WorkloadKey key : keys_of(jrs_queue_trace(keys))) {
    EXPECT_TRUE(measured.contains(key));
  }
  EXPECT_EQ(keys.size(), known);
}

TEST(JrsResampledTrace, DrawsFromFiftyJobs) {
  WorkloadKeys keys;
  const Trace trace = jrs_resampled_trace(keys, 20000, std::nullopt, 1);
  ASSERT_EQ(trace.jobs.size(), 20000u);
  EXPECT_FALSE(trace.shuffled_by_default);
  std::map<WorkloadKey, int> drawn;
  double sum_s = 0;
  std::size_t imputed = 0;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    ++drawn[trace.jobs[i].key];
    const JobSpec& job = trace.jobs[i].spec;
    sum_s += to_seconds(job.work);
    imputed += job.profile.imputed ? 1 : 0;
    EXPECT_EQ(job.submit, Time{0});
    EXPECT_GE(trace.jobs[i].cluster, 0);
    EXPECT_GT(trace.jobs[i].uncertainty, 100);
    EXPECT_TRUE(trace.jobs[i].name.ends_with("#" + std::to_string(i)));
  }
  EXPECT_EQ(test::imputed_profiles(trace), imputed);
  EXPECT_EQ(drawn.size(), 50u);
  // 400 expected of each, standard deviation 20.
  for (const auto& [key, count] : drawn) EXPECT_NEAR(count, 400, 100) << keys.text(key);
  // The standard error of this mean is about 0.8 s.
  EXPECT_NEAR(sum_s / 20000, jrs_resampled_mean_solo_s(), 4);
  const std::vector<std::string_view> names = names_of(trace);
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(), 20000u);
}

TEST(JrsResampledTrace, KnowsItsMeanSoloTime) {
  std::map<std::string, double> solo_s;
  for (const std::string_view session : {"JRS-KB", "JRS-perf"}) {  // the later one wins
    for (const PaperSolo& solo : paper_solo_times()) {
      if (solo.session != session) continue;
      solo_s[workload_text(solo.model, solo.batch_size, solo.epochs)] = solo.solo_s;
    }
  }
  ASSERT_EQ(solo_s.size(), 50u);
  double sum_s = 0;
  for (const auto& [text, s] : solo_s) sum_s += s;
  EXPECT_NEAR(jrs_resampled_mean_solo_s(), sum_s / 50, 1e-9);
  // Every drawn job has that solo time.
  WorkloadKeys keys;
  const Trace trace = jrs_resampled_trace(keys, 1000, std::nullopt, 3);
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    EXPECT_EQ(trace.jobs[i].spec.work, from_seconds(solo_s.at(keys.text(trace.jobs[i].key))));
  }
}

TEST(JrsResampledTrace, ArrivesAsAPoissonProcess) {
  WorkloadKeys keys;
  const int jobs = 10000;
  const Trace trace = jrs_resampled_trace(keys, jobs, 60.0, 5);
  const std::vector<JobId> arrivals = by_submit_time(trace);
  double last_s = 0;
  double squares = 0;
  for (int i = 0; i < jobs; ++i) {
    const double at_s = to_seconds(trace.jobs[static_cast<std::size_t>(i)].spec.submit);
    EXPECT_GE(at_s, last_s);
    squares += (at_s - last_s) * (at_s - last_s);
    last_s = at_s;
    EXPECT_EQ(index(arrivals[static_cast<std::size_t>(i)]), static_cast<std::size_t>(i));
  }
  // Exponential gaps: mean 60 s within five standard errors (0.6 s), second moment 2 * mean^2.
  EXPECT_NEAR(last_s / jobs, 60, 3);
  EXPECT_NEAR(squares / jobs, 2 * 60 * 60, 800);
}

TEST(JrsResampledTrace, IsAFunctionOfTheSeedAndOneJobLongerChangesNoOther) {
  WorkloadKeys keys;
  const Trace shorter = jrs_resampled_trace(keys, 100, 60.0, 5);
  const Trace longer = jrs_resampled_trace(keys, 101, 60.0, 5);
  const Trace other_load = jrs_resampled_trace(keys, 100, 30.0, 5);
  const Trace other_seed = jrs_resampled_trace(keys, 100, 60.0, 6);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(shorter.jobs[i].name, longer.jobs[i].name);
    EXPECT_EQ(shorter.jobs[i].spec.submit, longer.jobs[i].spec.submit);
    EXPECT_EQ(shorter.jobs[i].name, other_load.jobs[i].name);
  }
  EXPECT_NE(names_of(shorter), names_of(other_seed));
  EXPECT_NE(shorter.jobs[0].spec.submit, other_seed.jobs[0].spec.submit);
}

TEST(JrsResampledTrace, RefusesWhatCannotBeDrawn) {
  WorkloadKeys keys;
  EXPECT_THROW(jrs_resampled_trace(keys, 0, std::nullopt, 1), InputError);
  EXPECT_THROW(jrs_resampled_trace(keys, -1, std::nullopt, 1), InputError);
  for (const double mean : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN(), 1e300}) {
    EXPECT_THROW(jrs_resampled_trace(keys, 10, mean, 1), InputError) << mean;
  }
}

TEST(PaperRowTrace, HasTheSoloTimesOfItsOwnSession) {
  WorkloadKeys keys;
  for (const auto pairs : {jrs_pairs(), prirect_pairs()}) {
    for (const PaperPair& pair : pairs) {
      const Trace trace = paper_row_trace(keys, pair);
      ASSERT_EQ(trace.jobs.size(), 2u);
      EXPECT_NE(trace.jobs[0].name, trace.jobs[1].name) << trace.source;
      EXPECT_EQ(trace.jobs[0].spec.work, from_seconds(pair.a.solo_s)) << trace.source;
      EXPECT_EQ(trace.jobs[1].spec.work, from_seconds(pair.b.solo_s)) << trace.source;
      EXPECT_EQ(trace.jobs[0].key, keys.of(pair.a.model, pair.a.batch_size, pair.a.epochs));
      EXPECT_EQ(trace.jobs[1].cluster, pair.b.cluster);
      EXPECT_FALSE(std::isnan(trace.jobs[0].uncertainty)) << trace.source;
    }
  }
  const Trace row = paper_row_trace(keys, jrs_pairs()[0]);
  EXPECT_EQ(row.source, "JRS-II row 1");
  EXPECT_EQ(names_of(row), (std::vector<std::string_view>{"MobileNet-1024", "DCGAN-230"}));
  const Trace bin = paper_row_trace(keys, jrs_groups()[1]);
  EXPECT_EQ(bin.source, "JRS-VI row 1");
  EXPECT_EQ(bin.jobs.front().name, "J15-562");
  EXPECT_EQ(bin.jobs.size(), 9u);
  EXPECT_EQ(test::imputed_profiles(bin), 3u);
}

TEST(PaperSchedule, RunsEveryJobOfTheQueueOnce) {
  using Names = std::vector<std::string>;
  const std::map<std::string, Names> alone = {
      {"JRS-IV", {}}, {"JRS-V", {"J3-1024"}}, {"JRS-VI", {"J8-1024"}}, {"JRS-VII", {}}};
  Names queue;
  for (const QueueJob& job : jrs_queue()) queue.emplace_back(job.id);
  std::ranges::sort(queue);
  for (const auto& [table, left] : alone) {
    const PaperSchedule schedule = paper_schedule(table);
    EXPECT_EQ(schedule.alone, left) << table;
    Names scheduled = schedule.alone;
    for (const PaperScheduleGroup& group : schedule.groups) {
      EXPECT_EQ(group.jobs.size(), group.isd_pct_printed.size());
      scheduled.insert(scheduled.end(), group.jobs.begin(), group.jobs.end());
    }
    std::ranges::sort(scheduled);
    EXPECT_EQ(scheduled, queue) << table;
  }
}

TEST(PaperSchedule, BelongsToAPolicy) {
  EXPECT_EQ(paper_schedule("JRS-IV").policy, "min-slowdown");
  EXPECT_EQ(paper_schedule("JRS-V").policy, "max-packing");
  EXPECT_EQ(paper_schedule("JRS-V").fill_by, "utilisation");
  EXPECT_EQ(paper_schedule("JRS-VI").policy, "max-packing");
  EXPECT_EQ(paper_schedule("JRS-VI").fill_by, "memory");
  EXPECT_EQ(paper_schedule("JRS-VII").policy, "balance");
  const PaperSchedule four = paper_schedule("JRS-IV");
  EXPECT_EQ(four.groups[0].jobs, (std::vector<std::string>{"J11-256", "J7-205"}));
  EXPECT_EQ(four.groups[0].isd_pct_printed, (std::vector<double>{0.2, 3.9}));
  EXPECT_EQ(four.groups[0].ps_pct_printed, 47.9);
  EXPECT_EQ(paper_schedule("JRS-V").groups[0].jobs.size(), 5u);
  EXPECT_EQ(paper_schedule("JRS-VI").groups[0].jobs.size(), 9u);
  EXPECT_THROW(paper_schedule("JRS-III"), InputError);
  EXPECT_THROW(paper_reported(""), InputError);
}

TEST(PaperReported, MeansOfThePrintedFigures) {
  struct Expected {
    const char* table;
    PaperReported reported;
  };
  const Expected cases[] = {
      {"JRS-IV", {15.23, 25.02, 15.23, 25.02}},
      {"JRS-V", {14.77, 32.88, 13.50, 36.60}},
      {"JRS-VI", {5.15, 35.46, 26.82, 39.67}},
      {"JRS-VII", {20.83, 30.05, 20.83, 30.05}},
  };
  for (const Expected& expected : cases) {
    const PaperReported found = paper_reported(expected.table);
    EXPECT_NEAR(found.isd_pct, expected.reported.isd_pct, 0.01) << expected.table;
    EXPECT_NEAR(found.ps_pct, expected.reported.ps_pct, 0.01) << expected.table;
    EXPECT_NEAR(found.isd_with_bin_pct, expected.reported.isd_with_bin_pct, 0.01) << expected.table;
    EXPECT_NEAR(found.ps_with_bin_pct, expected.reported.ps_with_bin_pct, 0.01) << expected.table;
  }
}

/// Number of pairs of the queue's jobs in these measurements, each pair counted once.
std::size_t measured_pairs_of_queue(const PaperFilter& filter) {
  WorkloadKeys keys;
  const Trace queue = jrs_queue_trace(keys);
  std::set<std::pair<WorkloadKey, WorkloadKey>> measured;
  for (const CorunMeasurement& m : paper_measurements(keys, filter)) {
    if (m.members.size() != 2) continue;
    measured.insert(std::minmax(m.members[0].workload, m.members[1].workload));
  }
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < queue.jobs.size(); ++i) {
    for (std::size_t j = i + 1; j < queue.jobs.size(); ++j) {
      pairs += measured.contains(std::minmax(queue.jobs[i].key, queue.jobs[j].key)) ? 1 : 0;
    }
  }
  return pairs;
}

// Figures of README and docs: of the queue's 276 pairs JRS measured 35; PriRecT two more.
TEST(PaperWorkloads, FewPairsOfTheQueueWereEverMeasured) {
  EXPECT_EQ(measured_pairs_of_queue(kAllJrs), 35U);
  EXPECT_EQ(measured_pairs_of_queue(kAllPapers), 37U);
}

}  // namespace
}  // namespace corun::paper_workloads_test
