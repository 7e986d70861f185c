#include "traces/tables/measurements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/public_data.hpp"
#include "traces/gpu_catalog.hpp"
#include "traces/tables/append_measurements.hpp"
#include "traces/tables/predictions_csv.hpp"

namespace corun::measurements_test {
namespace {

using Predictions = std::vector<std::vector<double>>;

const std::string kLucidHead =
    "pair_id,job_a,model_a,solo_speed_a,solo_gpu_util_a,solo_gmem_util_a,solo_gmem_mib_a,"
    "lucid_label_a,norm_a,job_b,model_b,solo_speed_b,solo_gpu_util_b,solo_gmem_util_b,"
    "solo_gmem_mib_b,lucid_label_b,norm_b\n";
const std::string kSpeeds =
    "job_a,job_b,norm_a,norm_b,gpu,sharing,model_a,model_b\n"
    "a,b,0.5,0.75,A100,MPS,X,\n"
    "c,a,0.9,,,MPS,Y,X\n";
const std::string kLucid = kLucidHead +
                           "0,A|32,A,9,45.5,20,2694,1,0.98,\"B, big\",B,8,58.5,25,2360,0,1.03\n"
                           "1,A|32,A,9,45.5,20,2694,1,1,P|32,PPO,7,12,0,2051,0,1\n"
                           "2,\"B, big\",B,8,58.5,25,2360,0,,\"B, big\",B,8,58.5,25,2360,0,0.5\n";

const std::string kGavelHead =
    "gpu,job_a,family_a,job_b,family_b,solo_v100_a,solo_p100_a,solo_k80_a,solo_v100_b,solo_p100_b,"
    "solo_k80_b,corun_a,failed,norm_a,norm_b,norm_sum\n";
const std::string kGavel = kGavelHead +
                           "p100,x,X,y,Y,1,2,3,4,5,0,7,0,0.5,0.25,0.75\n"
                           "p100,x,X,x,X,1,2,3,1,2,3,7,1,0.0,0.0,0.0\n";

const std::string kCorunHead =
    "group,gpu,sharing,session,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,solo_s,"
    "corun_s\n";
const std::string kCorun = kCorunHead +
                           "1,V100,mps,s1,a,40,50,10,2000,100,125\n"
                           "1,V100,mps,s1,b,60,,20,0,200,300\n"
                           "2,V100,mps,s2,b,70,30,20,,10,10\n"
                           "2,V100,mps,s2,a,40,50,10,2000,9,10\n"
                           "3,V100,mps,s1,b,60,,20,,10,30\n"
                           "3,V100,mps,s1,a,40,50,10,2000,10,30\n"
                           "3,V100,mps,s1,c,40,50,10,2000,10,30\n";

const std::string kSharedHead =
    "gpu,sharing,job_a,model_a,share_a,l2_util_a,solo_rate_a,solo_gpu_util_a,solo_gmem_util_a,"
    "solo_gmem_mib_a,norm_a,job_b,model_b,share_b,l2_util_b,solo_rate_b,solo_gpu_util_b,"
    "solo_gmem_util_b,solo_gmem_mib_b,norm_b\n";
const std::string kShared =
    kSharedHead + "V100,\"MPS, fixed shares\",a,A,40,9,394,40,6.9,,0.9,b,B,60,8,270,60,7.7,,0.8\n" +
    "V100,,a,A,40,9,394,40,6.9,,0.9,b,B,60,8,270,60,7.7,,0.8\n";

Measurements read(const std::string& text, WorkloadKeys& keys, const std::string& name = "t.csv") {
  std::istringstream in(text);
  return read_measurements(in, name, keys);
}

Measurements read(const std::string& text) {
  WorkloadKeys keys;
  return read(text, keys);
}

std::string write(const Measurements& table, const Predictions& predictions) {
  std::ostringstream out;
  write_predictions(out, table, predictions);
  return out.str();
}

template <typename Function>
std::string error_of_call(const Function& function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_of(const std::string& text) {
  return error_of_call([&] { read(text); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::vector<std::string> feature_names(const Measurements& table) {
  std::vector<std::string> names;
  for (const SpeedTable::Feature& feature : table.speeds.features) {
    names.push_back(feature.name + (feature.scale == FeatureScale::kLog ? " log" : ""));
  }
  return names;
}

std::vector<double> values(const Measurements& table, std::size_t job) {
  return {table.speeds.of(job), table.speeds.of(job) + table.speeds.features.size()};
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Properties of every table.
void expect_whole(const Measurements& table) {
  const SpeedTable& speeds = table.speeds;
  EXPECT_FALSE(speeds.rows.empty());
  EXPECT_EQ(speeds.values.size(), speeds.jobs.size() * speeds.features.size());
  EXPECT_EQ(table.names.size(), speeds.jobs.size());
  EXPECT_EQ(table.families.size(), speeds.jobs.size());
  EXPECT_EQ(table.scored.size(), speeds.rows.size());
  EXPECT_TRUE(table.header.empty() || table.fields.size() == speeds.rows.size());
  EXPECT_EQ(std::set<WorkloadKey>(speeds.jobs.begin(), speeds.jobs.end()).size(),
            speeds.jobs.size());
  for (std::size_t r = 0; r < speeds.rows.size(); ++r) {
    const SpeedTable::Row& row = speeds.rows[r];
    ASSERT_LT(std::max(row.a, row.b), speeds.jobs.size());
    for (const double speed : {row.speed_a, row.speed_b}) {
      EXPECT_TRUE(std::isnan(speed) || (speed > 0 && speed <= 2)) << speed;
    }
    EXPECT_EQ(table.scored[r], !std::isnan(row.speed_a) && !std::isnan(row.speed_b));
  }
  for (std::size_t i = 0; i < speeds.jobs.size(); ++i) {
    for (std::size_t f = 0; f < speeds.features.size(); ++f) {
      const double value = speeds.of(i)[f];
      EXPECT_FALSE(std::isinf(value));
      EXPECT_FALSE(value < 0 || (value == 0 && speeds.features[f].scale == FeatureScale::kLog));
    }
  }
}

/// Predictions leave the rows as read unchanged.
void expect_round_trip(const Measurements& table) {
  const Predictions predictions(table.speeds.rows.size(), {0.5, 1.0 / 3, 0.125, 0.0625});
  const std::string written = write(table, predictions);
  const Measurements again = read(written);
  expect_whole(again);
  EXPECT_EQ(again.names, table.names);
  EXPECT_EQ(again.families, table.families);
  EXPECT_EQ(again.scored, table.scored);
  EXPECT_EQ(again.speeds.features, table.speeds.features);
  EXPECT_TRUE(std::ranges::equal(again.speeds.values, table.speeds.values, same));
  ASSERT_EQ(again.header.size(), table.header.size() + 4);
  EXPECT_TRUE(std::equal(table.header.begin(), table.header.end(), again.header.begin()));
  ASSERT_EQ(again.fields.size(), table.fields.size());
  for (std::size_t r = 0; r < table.fields.size(); ++r) {
    const SpeedTable::Row& row = table.speeds.rows[r];
    EXPECT_EQ(again.speeds.rows[r].a, row.a);
    EXPECT_EQ(again.speeds.rows[r].b, row.b);
    EXPECT_TRUE(same(again.speeds.rows[r].speed_a, row.speed_a));
    EXPECT_TRUE(same(again.speeds.rows[r].speed_b, row.speed_b));
    std::vector<std::string> expected = table.fields[r];
    expected.insert(expected.end(), {"0.5", "0.3333333333333333", "0.125", "0.0625"});
    EXPECT_EQ(again.fields[r], expected);
  }
}

TEST(Measurements, ReadsLucid) {
  WorkloadKeys keys;
  const WorkloadKey known = keys.of("B, big");
  const Measurements table = read(kLucid, keys);
  expect_whole(table);
  EXPECT_EQ(table.source, "t.csv");
  EXPECT_EQ(table.gpu, "RTX-3090");
  EXPECT_EQ(table.sharing, "");
  EXPECT_TRUE(table.has_speeds);
  EXPECT_EQ(table.names, (std::vector<std::string>{"A|32", "B, big", "P|32"}));
  EXPECT_EQ(table.families, (std::vector<std::string>{"A", "B", "PPO"}));
  EXPECT_EQ(table.speeds.jobs[1], known);
  EXPECT_EQ(feature_names(table),
            (std::vector<std::string>{"gpu_util_pct", "mem_time_pct", "mem_used_mib log"}));
  EXPECT_EQ(values(table, 0), (std::vector<double>{45.5, 20, 2694}));
  EXPECT_EQ(values(table, 2), (std::vector<double>{12, 0, 2051}));
  EXPECT_EQ(table.scored, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(table.speeds.rows[0].speed_a, 0.98);
  EXPECT_EQ(table.speeds.rows[0].speed_b, 1.03);
  EXPECT_EQ(table.speeds.rows[1].speed_a, 1);  // measured, beside one that was imputed
  EXPECT_TRUE(std::isnan(table.speeds.rows[1].speed_b));
  EXPECT_EQ(table.speeds.rows[2].a, 1u);
  EXPECT_EQ(table.speeds.rows[2].b, 1u);
  EXPECT_TRUE(std::isnan(table.speeds.rows[2].speed_a));
  EXPECT_EQ(table.speeds.rows[2].speed_b, 0.5);
  EXPECT_EQ(table.header.size(), 17u);
  EXPECT_EQ(table.fields[0][9], "B, big");
  expect_round_trip(table);
}

TEST(Measurements, ReadsPairsWithoutProfiles) {
  WorkloadKeys keys;
  const Measurements table = read(kSpeeds, keys);
  EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(table.families, (std::vector<std::string>{"X", "", "Y"}));
  EXPECT_TRUE(table.speeds.features.empty());
  EXPECT_EQ(table.scored, (std::vector<bool>{true, false}));
  EXPECT_EQ(table.speeds.rows[0].speed_a, 0.5);
  EXPECT_EQ(table.speeds.rows[0].speed_b, 0.75);
  EXPECT_EQ(table.speeds.campaigns,
            (std::vector{campaign_on("A100", Sharing::kMps), campaign_on("", Sharing::kMps)}));
  ASSERT_EQ(table.notes.size(), 1U);
  EXPECT_EQ(table.notes[0],
            "speeds of pairs without profiles: nothing is known of a job that is in no row; "
            "columns solo_gpu_util_x, "
            "solo_gmem_util_x, solo_gmem_mib_x (x is a and b) would tell");
  const Measurements least = read("job_a,job_b,norm_a,norm_b\na,b,0.5,0.75\n", keys);
  EXPECT_EQ(least.speeds.campaigns, (std::vector{campaign_on("", Sharing::kUnknown)}));
}

TEST(Measurements, ReadsGavelWithItsOwnGpuFirst) {
  const Measurements table = read(kGavel);
  expect_whole(table);
  EXPECT_EQ(table.gpu, "p100");
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(table.families, (std::vector<std::string>{"X", "Y"}));
  EXPECT_EQ(feature_names(table),
            (std::vector<std::string>{"solo_p100 log", "solo_v100 log", "solo_k80 log"}));
  EXPECT_EQ(values(table, 0), (std::vector<double>{2, 1, 3}));
  EXPECT_EQ(values(table, 1)[0], 5);
  EXPECT_TRUE(std::isnan(values(table, 1)[2]));  // a rate of 0 is not known
  EXPECT_EQ(table.scored, (std::vector<bool>{true, false}));
  EXPECT_TRUE(std::isnan(table.speeds.rows[1].speed_a));
  EXPECT_TRUE(std::isnan(table.speeds.rows[1].speed_b));
  expect_round_trip(table);

  const std::string row = ",x,X,y,Y,1,2,3,4,5,6,7,0,0.5,0.25,0.75\n";
  EXPECT_EQ(values(read(kGavelHead + "v100" + row), 1), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(values(read(kGavelHead + "k80" + row), 1), (std::vector<double>{6, 4, 5}));
  // A failed pair has no speed, whatever its fields are.
  const Measurements failed = read(kGavelHead + "k80,x,X,y,Y,1,2,3,4,5,6,7,1,0.5,,\n");
  EXPECT_TRUE(std::isnan(failed.speeds.rows[0].speed_a));
}

TEST(Measurements, ReadsCorunMeasurements) {
  const Measurements table = read(kCorun);
  expect_whole(table);
  EXPECT_EQ(table.gpu, "V100");
  EXPECT_EQ(table.sharing, "mps");
  EXPECT_EQ(table.passed_over, 1u);
  EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b"}));  // c is in no pair
  EXPECT_EQ(table.families, (std::vector<std::string>{"", ""}));
  EXPECT_EQ(feature_names(table), (std::vector<std::string>{"gpu_util_pct", "mem_alloc_pct",
                                                            "mem_time_pct", "mem_used_mib log"}));
  EXPECT_EQ(values(table, 0), (std::vector<double>{40, 50, 10, 2000}));
  EXPECT_EQ(values(table, 1)[0], 65);  // of two sessions, one of them measured twice
  EXPECT_EQ(values(table, 1)[1], 30);  // known in one
  EXPECT_TRUE(std::isnan(values(table, 1)[3]));
  ASSERT_EQ(table.speeds.rows.size(), 2u);
  EXPECT_EQ(table.speeds.rows[0].speed_a, 100.0 / 125);
  EXPECT_EQ(table.speeds.rows[0].speed_b, (200.0 - 175) / 125);
  EXPECT_EQ(table.speeds.rows[1].a, 1u);
  EXPECT_EQ(table.speeds.rows[1].speed_a, 1);  // both end together
  EXPECT_EQ(table.speeds.rows[1].speed_b, 0.9);
  EXPECT_EQ(table.scored, (std::vector<bool>{true, true}));
  EXPECT_TRUE(table.header.empty());
  EXPECT_TRUE(table.fields.empty());
  EXPECT_EQ(write(table, Predictions(2, {0.5, 0.25, 0.125, 0.0625})),
            "job_a,job_b,norm_a,norm_b,pred_norm_a,pred_norm_b,pred_sd_a,pred_sd_b\n"
            "a,b,0.8,0.2,0.5,0.25,0.125,0.0625\nb,a,1,0.9,0.5,0.25,0.125,0.0625\n");
}

TEST(Measurements, NotesPairsThatAreFasterThanAlone) {
  EXPECT_TRUE(read(kGavel).notes.empty());
  const std::string more = "p100,x,X,y,Y,1,2,3,4,5,0,7,0,1.26,1.3,2\n";
  Measurements table = read(kGavel + more);
  ASSERT_EQ(table.notes.size(), 1U);
  EXPECT_TRUE(table.notes[0].starts_with("t.csv:4:30: here and in 0 other of 3 co-runs"))
      << table.notes[0];
  WorkloadKeys keys;
  Measurements both = read(kGavel, keys);
  append(both, read(kGavel + more, keys), keys);
  EXPECT_EQ(both.notes, table.notes);
  EXPECT_EQ(read(kCorunHead + "1,V100,mps,s1,a,40,50,10,2000,100,60\n"
                              "1,V100,mps,s1,b,60,,20,0,100,70\n")
                .notes.size(),
            1U);
}

TEST(Measurements, OrderOfTheTwoDoesNotMatterToSpeeds) {
  const Measurements table = read(kCorunHead + "1,G,s,,b,,,,,200,300\n1,G,s,,a,,,,,100,125\n");
  EXPECT_EQ(table.speeds.rows[0].speed_a, (200.0 - 175) / 125);
  EXPECT_EQ(table.speeds.rows[0].speed_b, 100.0 / 125);
}

TEST(Measurements, WithoutOutcomeItIsATableToPredict) {
  const Measurements lucid = read(
      "job_a,solo_gpu_util_a,solo_gmem_util_a,solo_gmem_mib_a,job_b,solo_gpu_util_b,"
      "solo_gmem_util_b,solo_gmem_mib_b,note\n"
      "x,1,2,3,y,4,5,,\"say \"\"hi\"\"\"\nx,1.0000001,2,3,x,,,,\n");
  expect_whole(lucid);
  EXPECT_FALSE(lucid.has_speeds);
  EXPECT_EQ(lucid.scored, (std::vector<bool>{false, false}));
  EXPECT_EQ(lucid.families, (std::vector<std::string>{"", ""}));
  EXPECT_EQ(values(lucid, 0), (std::vector<double>{1, 2, 3}));
  EXPECT_TRUE(std::isnan(values(lucid, 1)[2]));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(write(lucid, {{0.5, 1, 0.25, 0.125}, {nan, 1, nan, 0}}),
            "job_a,solo_gpu_util_a,solo_gmem_util_a,solo_gmem_mib_a,job_b,solo_gpu_util_b,"
            "solo_gmem_util_b,solo_gmem_mib_b,note,pred_norm_a,pred_norm_b,pred_sd_a,pred_sd_b\n"
            "x,1,2,3,y,4,5,,\"say \"\"hi\"\"\",0.5,1,0.25,0.125\n"
            "x,1.0000001,2,3,x,,,,,,1,,0\n");
  expect_round_trip(lucid);

  // `failed` without speeds is the rest of an outcome.
  const Measurements gavel = read(
      "gpu,job_a,job_b,solo_v100_a,solo_p100_a,solo_k80_a,solo_v100_b,solo_p100_b,solo_k80_b,"
      "failed\nv100,x,y,1,2,3,4,5,6,1\n");
  EXPECT_FALSE(gavel.has_speeds);
  EXPECT_TRUE(std::isnan(gavel.speeds.rows[0].speed_a));
  expect_round_trip(gavel);
}

TEST(Measurements, NamesModelsAndOutcomesAreNoFeatures) {
  const std::string other =
      replaced(kLucid, "0,A|32,A,9,45.5,20,2694,1,0.98,\"B, big\",B,8,58.5,25,2360,0,1.03",
               "9,A|32,A,1,45.5,20,2694,3,0.98,\"B, big\",B,7,58.5,25,2360,3,1.03");
  EXPECT_EQ(read(other).speeds.values, read(kLucid).speeds.values);
}

TEST(Measurements, PredictionsFitTheirTable) {
  const Measurements table = read(kLucid);
  EXPECT_THROW(write(table, Predictions(2, {1, 1, 1, 1})), std::invalid_argument);
  EXPECT_THROW(write(table, Predictions(3, {1, 1})), std::invalid_argument);
  const Predictions right(3, {1, 1, 1, 1});
  const Measurements again = read(write(table, right));
  EXPECT_EQ(error_of_call([&] { write(again, right); }),
            "t.csv:1:1: the header has a column 'pred_norm_a' already, expected none of a "
            "prediction's; remove or rename it");
}

TEST(Measurements, AppendJoinsJobs) {
  WorkloadKeys keys;
  Measurements table;
  append(table, read(kGavel, keys, "one.csv"), keys);
  const Measurements more =
      read(kGavelHead + "p100,z,Z,y,Y,9,9,9,4,5,6,7,0,1,0.75,1.75\n", keys, "two.csv");
  append(table, more, keys);
  expect_whole(table);
  EXPECT_EQ(table.source, "one.csv, two.csv");
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(table.families, (std::vector<std::string>{"X", "Y", "Z"}));
  EXPECT_EQ(values(table, 1), (std::vector<double>{5, 4, 6}));  // the rate that one.csv lacks
  EXPECT_EQ(values(table, 2), (std::vector<double>{9, 9, 9}));
  ASSERT_EQ(table.speeds.rows.size(), 3u);
  EXPECT_EQ(table.speeds.rows[2].a, 2u);
  EXPECT_EQ(table.speeds.rows[2].b, 1u);
  EXPECT_EQ(table.speeds.rows[2].speed_b, 0.75);
  EXPECT_EQ(table.fields.size(), 3u);
  append(table, table, keys);
  EXPECT_EQ(table.speeds.rows.size(), 6u);
  EXPECT_EQ(table.names.size(), 3u);
  expect_whole(table);

  // Rows of different columns cannot be in one file.
  const Measurements bare = read(
      "gpu,job_a,job_b,solo_v100_a,solo_p100_a,solo_k80_a,solo_v100_b,solo_p100_b,solo_k80_b\n"
      "p100,x,new,1,2,3,4,5,6\n",
      keys, "three.csv");
  append(table, bare, keys);
  expect_whole(table);
  EXPECT_TRUE(table.has_speeds);
  EXPECT_TRUE(table.header.empty() && table.fields.empty());
  EXPECT_FALSE(write(table, Predictions(7, {1, 1, 1, 1})).empty());
  EXPECT_THROW(append(table, read(kGavelHead + "p100,q,Z,r,Y,9,9,9,4,5,6,7,0,1,0.75,1.75\n"), keys),
               std::logic_error);
  EXPECT_EQ(table.speeds.campaigns.size(), 1u);
  EXPECT_TRUE(table.notes.empty());
}

std::vector<std::uint32_t> campaigns(const Measurements& table) {
  std::vector<std::uint32_t> out;
  for (const SpeedTable::Row& row : table.speeds.rows) out.push_back(row.campaign);
  return out;
}

TEST(Measurements, RowsOfSeveralGpuTypesAndModes) {
  const std::string text =
      kSharedHead +
      "V100,\"MPS, fixed shares\",a,A,40,9,394,40,6.9,,0.9,b,B,60,8,270,60,7.7,,0.8\n" +
      "v100,mps,a,A,40,9,394,40,6.9,,0.8,a,A,40,9,394,40,6.9,,0.8\n" +
      "A100,mps,a,A,20,4,800,20,3,,0.7,b,B,60,8,270,60,7.7,,0.6\n" +
      "A100,,b,B,60,8,270,60,7.7,,0.5,b,B,60,8,270,60,7.7,,0.5\n" +
      "not stated,time-slicing,c,C,,,,,,,0.5,b,B,60,8,270,60,7.7,,0.5\n" +
      "V100,MPS,c,C,,,0,,,,0.5,c,C,,,,,,,0.4\n";
  const Measurements table = read(text);
  expect_whole(table);
  EXPECT_EQ(table.speeds.campaigns,
            (std::vector<SpeedTable::Campaign>{campaign_on("V100", Sharing::kMps),
                                               campaign_on("A100", Sharing::kMps),
                                               campaign_on("A100", Sharing::kUnknown),
                                               {"", Sharing::kTimeSlicing}}));
  EXPECT_EQ(campaigns(table), (std::vector<std::uint32_t>{0, 0, 1, 2, 3, 0}));
  EXPECT_EQ(table.forms, std::vector<MeasurementForm>(4, MeasurementForm::kLucid));
  EXPECT_EQ(table.gpu, "");
  EXPECT_EQ(table.sharing, "");
  EXPECT_EQ(feature_names(table),
            (std::vector<std::string>{"gpu_util_pct", "mem_time_pct", "mem_used_mib log",
                                      "sm_share_pct", "l2_util_pct", "solo_rate log"}));
  EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b", "c"}));
  const std::vector<double> a = values(table, 0);  // of its first campaign
  EXPECT_EQ(a[0], 40);
  EXPECT_TRUE(std::isnan(a[2]));
  EXPECT_EQ(a[3], 40);
  EXPECT_EQ(a[5], 394);
  EXPECT_TRUE(std::isnan(values(table, 2)[5]));
  expect_round_trip(table);

  // Within a campaign a value that differs is a mistake, wherever the rows of others stand between.
  EXPECT_TRUE(
      error_of(text + "A100,MPS,a,A,40,4,800,20,3,,0.7,b,B,60,8,270,60,7.7,,0.6\n")
          .starts_with("t.csv:8:14: column 'share_a' is '40', expected 20, which job 'a' has "
                       "on line 4; correct"))
      << error_of(text + "A100,MPS,a,A,40,4,800,20,3,,0.7,b,B,60,8,270,60,7.7,,0.6\n");

  // One mode in other words is one campaign; one mode in all rows keeps its words.
  const Measurements one = read(
      kSharedHead + "V100,MPS,a,A,,,,,,,0.9,b,B,,,,,,,0.8\nV100,mps,a,A,,,,,,,0.9,b,B,,,,,,,0.8\n");
  EXPECT_EQ(one.speeds.campaigns,
            (std::vector<SpeedTable::Campaign>{campaign_on("V100", Sharing::kMps)}));
  EXPECT_EQ(one.gpu, "V100");
  EXPECT_EQ(one.sharing, "MPS");
  EXPECT_EQ(feature_names(one).size(), 6u);  // columns that are there, although they are empty

  const Measurements gavel =
      read(replaced(replaced(replaced(kGavel, "gpu,", "gpu,sharing,"), "p100,x", "p100,MPS,x"),
                    "p100,x", "p100,,x"));
  EXPECT_EQ(gavel.speeds.campaigns,
            (std::vector<SpeedTable::Campaign>{campaign_on("p100", Sharing::kMps),
                                               campaign_on("p100", Sharing::kUnknown)}));
  EXPECT_EQ(gavel.gpu, "p100");
}

TEST(Measurements, DataSetsOwnTablesHaveTheirOwnMode) {
  const auto campaign = [](const std::string& text) { return read(text).speeds.campaigns; };
  EXPECT_EQ(campaign(kGavel), (std::vector{campaign_on("P100", Sharing::kMps)}));
  EXPECT_EQ(campaign(kLucid), (std::vector{campaign_on("RTX-3090", Sharing::kTimeSlicing)}));
  // An empty field says that the mode is not known, and so does a column `gpu` without one for the mode.
  const std::string one = "T4,0,A|32,A,9,45.5,20,2694,1,0.98,B,B,8,58.5,25,2360,0,1.03\n";
  EXPECT_EQ(campaign("gpu," + kLucidHead + one),
            (std::vector{campaign_on("T4", Sharing::kUnknown)}));
}

TEST(Measurements, CorunsOfSeveralGpuTypesAndModes) {
  const Measurements table = read(kCorunHead +
                                  "1,G,mps,,a,50,,,,1,1\n1,G,mps,,b,,,,,1,1\n"
                                  "2,H,mps,,a,70,,,,1,1\n2,H,mps,,b,,,,,1,1\n"
                                  "3,G,by luck,,a,,,,,1,1\n3,G,by luck,,b,,,,,1,1\n"
                                  "4,G,mps,,a,,,,,1,2\n4,G,mps,,b,,,,,1,2\n");
  expect_whole(table);
  EXPECT_EQ(campaigns(table), (std::vector<std::uint32_t>{0, 1, 2, 0}));
  EXPECT_EQ(table.speeds.campaigns[1], (SpeedTable::Campaign{"H", Sharing::kMps}));
  EXPECT_EQ(table.speeds.campaigns[2], (SpeedTable::Campaign{"G", Sharing::kUnknown}));
  EXPECT_EQ(table.gpu, "");
  EXPECT_EQ(table.sharing, "");
  EXPECT_EQ(values(table, 0)[0], 60);
}

TEST(Measurements, AppendMakesCampaigns) {
  WorkloadKeys keys;
  Measurements table;
  append(table, read(kGavel, keys, "p100.csv"), keys);
  append(table, read(kGavelHead + "k80,x,X,y,N,1,2,3,4,5,6,7,0,0.5,0.25,0.75\n", keys, "k80.csv"),
         keys);
  expect_whole(table);
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(table.families[1], "Y");  // the first; another campaign may say otherwise
  EXPECT_EQ(feature_names(table),
            (std::vector<std::string>{"solo_p100 log", "solo_v100 log", "solo_k80 log"}));
  EXPECT_EQ(values(table, 1), (std::vector<double>{5, 4, 6}));
  EXPECT_EQ(campaigns(table), (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(table.gpu, "");
  // Another form: its features are added, and jobs of other names.
  append(table, read(kLucid, keys, "lucid.csv"), keys);
  expect_whole(table);
  EXPECT_EQ(feature_names(table),
            (std::vector<std::string>{"solo_p100 log", "solo_v100 log", "solo_k80 log",
                                      "gpu_util_pct", "mem_time_pct", "mem_used_mib log"}));
  EXPECT_EQ(table.names.size(), 5u);
  EXPECT_EQ(values(table, 2)[3], 45.5);
  EXPECT_TRUE(std::isnan(values(table, 2)[0]));
  EXPECT_TRUE(std::isnan(values(table, 0)[3]));
  EXPECT_EQ(campaigns(table), (std::vector<std::uint32_t>{0, 0, 1, 2, 2, 2}));
  EXPECT_EQ(table.forms,
            (std::vector<MeasurementForm>{MeasurementForm::kGavel, MeasurementForm::kGavel,
                                          MeasurementForm::kLucid}));
  EXPECT_TRUE(table.notes.empty());
  // The same GPU type and mode in another form was measured in another way.
  append(table, read(kCorunHead + "1,p100,unknown,,a,,,,,1,1\n1,p100,unknown,,x,40,,,,1,1\n", keys),
         keys);
  EXPECT_EQ(table.speeds.campaigns.size(), 4u);
  EXPECT_EQ(values(table, 0)[3], 40);
  // Again the first campaign.
  append(table, read(kGavel, keys, "again.csv"), keys);
  EXPECT_EQ(campaigns(table).back(), 0u);
  expect_whole(table);
}

TEST(Measurements, JobsOfOneNameAreToldApart) {
  const std::string row = "p100,x,X,y,Y,1,2,3,4,5,0,7,0,0.5,0.25,0.75\n";
  const std::string other = "p100,x,X,y,Y,1,2,3,4,5.5,0,7,0,0.5,0.25,0.75\n";
  const std::string other_k80 = "k80,x,X,y,Y,1,2,3,4,5.5,0,7,0,0.5,0.25,0.75\n";
  const std::string named = "y {solo_p100 5.5, solo_v100 4}";
  WorkloadKeys keys;
  Measurements table = read(kGavelHead + row, keys, "old.csv");
  append(table, read(kGavelHead + other, keys, "new.csv"), keys);
  expect_whole(table);
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y", named}));
  EXPECT_EQ(keys.text(table.speeds.jobs[2]), named);
  EXPECT_EQ(values(table, 2)[0], 5.5);
  EXPECT_EQ(table.families[2], "Y");
  EXPECT_EQ(campaigns(table), (std::vector<std::uint32_t>{0, 1}));
  ASSERT_EQ(table.notes.size(), 1u);
  EXPECT_EQ(table.notes[0],
            "1 job of new.csv has other features than that of the same name in old.csv: taken as "
            "another");
  // A table of the other job on another GPU type is of the same other job: its rates say so.
  append(table, read(kGavelHead + other_k80, keys, "k80.csv"), keys);
  EXPECT_EQ(table.names.size(), 3u);
  EXPECT_EQ(table.speeds.rows[2].b, 2u);
  EXPECT_EQ(campaigns(table), (std::vector<std::uint32_t>{0, 1, 2}));
  // More of each goes where it belongs.
  append(table, read(kGavelHead + other, keys, "new2.csv"), keys);
  append(table, read(kGavelHead + row, keys, "old2.csv"), keys);
  EXPECT_EQ(table.names.size(), 3u);
  EXPECT_EQ(campaigns(table), (std::vector<std::uint32_t>{0, 1, 2, 1, 0}));
  expect_whole(table);
  EXPECT_EQ(table.notes.size(), 1u);  // of the first that was another
  // In whatever order the tables come.
  Measurements turned = read(kGavelHead + other_k80, keys, "k80.csv");
  append(turned, read(kGavelHead + row, keys, "old.csv"), keys);
  append(turned, read(kGavelHead + other, keys, "new.csv"), keys);
  EXPECT_EQ(turned.names, (std::vector<std::string>{"x", "y", "y {solo_p100 5, solo_v100 4}"}));
  EXPECT_EQ(campaigns(turned), (std::vector<std::uint32_t>{0, 1, 2}));

  // Utilisations differ between GPU types without being those of another job, but not on one.
  const auto corun = [](const std::string& gpu, const std::string& util) {
    return kCorunHead + "1," + gpu + ",mps,,a," + util + ",,,,1,1\n1," + gpu +
           ",mps,,b,50,,,,1,1\n";
  };
  Measurements utils = read(corun("V100", "40"), keys, "1.corun.csv");
  append(utils, read(corun("A100", "20"), keys, "2.corun.csv"), keys);
  EXPECT_EQ(utils.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(values(utils, 0)[0], 40);
  append(utils, read(corun("V100", "30"), keys, "3.corun.csv"), keys);
  EXPECT_EQ(utils.names, (std::vector<std::string>{"a", "b", "a {gpu_util_pct 30}"}));
  EXPECT_EQ(campaigns(utils), (std::vector<std::uint32_t>{0, 1, 2}));
  expect_whole(utils);
}

TEST(Measurements, AppendRefusesFamiliesThatDisagree) {
  WorkloadKeys keys;
  Measurements gavel = read(kGavel, keys, "one.csv");
  const Measurements more =
      read(kGavelHead + "p100,z,Z,y,N,9,9,9,4,5,6,7,0,1,0.75,1.75\n", keys, "two.csv");
  EXPECT_EQ(error_of_call([&] { append(gavel, more, keys); }),
            "two.csv: the family of job 'y' is 'N', expected 'Y' as in one.csv; correct one of the "
            "two, or rename the job");
  EXPECT_EQ(gavel.speeds.rows.size(), 2u);
  // An unknown profile agrees with every profile.
  Measurements corun = read(kCorun, keys, "one.corun.csv");
  append(corun, read(kCorunHead + "1,V100,mps,,a,,,,,1,1\n1,V100,mps,,b,,,,,1,1\n", keys), keys);
  EXPECT_EQ(corun.speeds.rows.size(), 3u);
  EXPECT_EQ(corun.speeds.campaigns.size(), 1u);
  EXPECT_EQ(values(corun, 0), (std::vector<double>{40, 50, 10, 2000}));
  expect_whole(corun);
}

TEST(Measurements, LargeAndRepetitiveTables) {
  std::string text = kSharedHead;
  for (int r = 0; r < 10000; ++r) {  // a pair of one id, again and again
    const std::string gpu = "G" + std::to_string(r % 60);
    text +=
        gpu + ",MPS,a,A,40,9,394,40,6.9,,0.9,b" + std::to_string(r) + ",B,60,8,270,60,7.7,,0.8\n";
  }
  const Measurements table = read(text);
  EXPECT_EQ(table.speeds.rows.size(), 10000u);
  EXPECT_EQ(table.speeds.jobs.size(), 10001u);
  EXPECT_EQ(table.speeds.campaigns.size(), 60u);
  std::string types = kSharedHead;
  for (int r = 0; r < 65; ++r) {
    types += "G" + std::to_string(r) + ",MPS,a,A,,,,,,,0.9,b,B,,,,,,,0.8\n";
  }
  EXPECT_EQ(error_of(types),
            "t.csv:66:1: column 'gpu' is 'G64', expected at most 64 GPU types with "
            "sharing modes in the file; is the column something else? rename it");
}

TEST(Measurements, FractionsAreNoPercentages) {
  const auto row = [](const std::string& a, const std::string& b, const std::string& util) {
    return "0," + a + ",M,9," + util + ",20,2694,1,1," + b + ",M,9," + util + ",20,2694,1,1\n";
  };
  const std::string two = kLucidHead + row("a", "b", "0.5") + row("a", "b", "0.5");
  EXPECT_EQ(error_of(two), "no error");  // two jobs, for any number of their pairs
  EXPECT_EQ(error_of(two + row("c", "a", "0.5")),
            "t.csv:1:36: all 3 jobs have values of 'solo_gpu_util_a' and 'solo_gpu_util_b' between "
            "0 and 1, expected percentages: fractions? write percent");
  EXPECT_EQ(error_of(two + row("c", "d", "1.5")), "no error");
}

TEST(Measurements, NamesThePlaceOfEveryMistake) {
  const std::string forms =
      ", expected at least one of these, x being a and b: (1) Lucid's job_x, solo_gpu_util_x, "
      "solo_gmem_util_x, solo_gmem_mib_x; (2) Gavel's gpu, job_x, solo_v100_x, solo_p100_x, "
      "solo_k80_x; (3) co-run measurements with group, gpu, sharing, job, solo_s, corun_s; "
      "(4) groups with group, gpu, sharing, job; (5) pairs without profiles with job_x, norm_x; ";
  const auto lucid = [](const std::string& from, const std::string& to) {
    return replaced(kLucid, from, to);
  };
  const auto gavel = [](const std::string& from, const std::string& to) {
    return replaced(kGavel, from, to);
  };
  const std::string speed = "expected a speed relative to the one alone, from 0.001 to 2; ";
  const std::string percent =
      speed + "a percentage or a slowdown? write speed beside the other / speed alone";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "t.csv:1:1: the file is empty, expected a header line; write one"},
      {"job_a,job_b,speed_a,speed_b\na,b,1,1\n",
       "t.csv:1:1: the header is of no table of measured co-runs" + forms +
           "name another file or add them (of a table of rates: norm is the rate beside the others "
           "over the rate alone)"},
      {"solo_gpu_util_a,solo_k80_b\n1,2\n",
       "t.csv:1:1: the header has columns of Lucid's form and of Gavel's" + forms +
           "remove those of one form"},
      {"job_a,job_b,norm_a\na,b,1\n",
       "t.csv:1:1: the header has no column 'norm_b', expected at least job_x, norm_x for x = a "
       "and b, and "
       "the speeds of both jobs or of none; add it"},
      {"job_a,norm_a,norm_b\na,1,1\n",
       "t.csv:1:1: the header has no column 'job_b', expected at least job_x, norm_x for x = a and "
       "b; add it"},
      {"job_a,job_b,norm_a,norm_b\na,,1,1\n",
       "t.csv:2:3: column 'job_b' is empty, expected the name of a job"},
      {"job_a,job_b,norm_a,norm_b\na,b,98,1\n", "t.csv:2:5: column 'norm_a' is '98', " + percent},
      {kLucidHead, "t.csv:1:1: no rows after the header, expected one per pair; add pairs"},
      {kLucid + "3,A|32\n", "t.csv:5:1: the row has 2 fields, expected 17 fields"},
      {kLucid + "\n3,A|32\n", "t.csv:5:1: the line is empty, expected 17 fields"},
      {lucid("0.98,", "0.98,,"), "t.csv:2:61: the row goes on after 17 fields"},
      {lucid("job_b", "job_a"), "t.csv:1:106: column 'job_a' is named a second time"},
      {lucid("job_b", "partner"),
       "t.csv:1:1: the header has no column 'job_b', expected at least job_x, solo_gpu_util_x, "
       "solo_gmem_util_x, solo_gmem_mib_x for x = a and b; add it"},
      {lucid("solo_gmem_mib_b", "solo_gmem_mb_b"),
       "t.csv:1:1: the header has no column 'solo_gmem_mib_b', expected at least job_x, "
       "solo_gpu_util_x, solo_gmem_util_x, solo_gmem_mib_x for x = a and b; did you mean it by "
       "'solo_gmem_mb_b'?"},
      {lucid("solo_gpu_util_a", "other"),
       "t.csv:1:1: the header has no column 'solo_gpu_util_a', expected at least"},
      {lucid("model_b", "kind"),
       "t.csv:1:1: the header has no column 'model_b', expected at least job_x, solo_gpu_util_x, "
       "solo_gmem_util_x, solo_gmem_mib_x for x = a and b, and beside speeds the family; add it"},
      {lucid("norm_b", "x"),
       "t.csv:1:1: the header has no column 'norm_b', expected at least job_x, solo_gpu_util_x, "
       "solo_gmem_util_x, solo_gmem_mib_x for x = a and b, and the speeds of both jobs or of none; "
       "add it"},
      {lucid("norm_a", "x"), "t.csv:1:1: the header has no column 'norm_a', expected"},
      {lucid("0,A|32", "0,"), "t.csv:2:3: column 'job_a' is empty, expected the name of a job"},
      {lucid("A|32,A", "A|32,"), "t.csv:2:8: column 'model_a' is empty, expected the family"},
      {lucid("0.98", "-0.98"), "t.csv:2:27: column 'norm_a' is '-0.98', " + speed},
      {lucid("0.98", "nan"), "t.csv:2:27: column 'norm_a' is 'nan', " + speed},
      {lucid("0.98", "inf"), "t.csv:2:27: column 'norm_a' is 'inf', " + speed},
      {lucid("0.98", "1e400"), "t.csv:2:27: column 'norm_a' is '1e400', " + speed},
      {lucid("0.98", "98"), "t.csv:2:27: column 'norm_a' is '98', " + percent},
      {lucid("0.98", "2.01"), "t.csv:2:27: column 'norm_a' is '2.01', " + percent},
      {lucid("0.98", "0"),
       "t.csv:2:27: column 'norm_a' is '0', " + speed + "a pair that does not fit? leave it empty"},
      {lucid("45.5", "145.5"),
       "t.csv:2:12: column 'solo_gpu_util_a' is '145.5', expected a percentage, from 0 to 100"},
      {lucid("45.5", "inf"), "t.csv:2:12: column 'solo_gpu_util_a' is 'inf', expected"},
      {lucid("2694", "-1"), "t.csv:2:20: column 'solo_gmem_mib_a' is '-1', expected a number of M"},
      {lucid("1,A|32,A,9,45.5", "1,A|32,A,9,45.6"),
       "t.csv:3:12: column 'solo_gpu_util_a' is '45.6', expected 45.5, which job 'A|32' has on "
       "line 2; correct one of the two, or rename the job"},
      {lucid("0,1.03\n1,A|32,A", "0,1.03\n1,A|32,C"),
       "t.csv:3:8: column 'model_a' is 'C', expected 'A', which job 'A|32' has on line 2; correct "
       "one of the two, or rename the job"},
      {lucid("2,\"B, big\",B,8,58.5,25,2360,0,,", "2,B2,B,8,58.5,25,2360,0,,") +
           "3,C,C,9,1,2,3,0,1,C,C,9,1,2,4,0,1\n",
       "t.csv:5:29: column 'solo_gmem_mib_b' is '4', expected 3, which job 'C' has on line 5"},
      {lucid("0,A|32,A,9", "0,A|32,A,\"9\n\""),
       "t.csv:2:10: column 'solo_speed_a' is '9\\x0a', expected text on one line"},
      {gavel("p100,x,X,x", "v100,x,X,x"),
       "t.csv:3:1: column 'gpu' is 'v100', expected 'p100' as on line 2; write each GPU type's "
       "pairs to a file of its own"},
      {gavel("p100,x", "a100,x"),
       "t.csv:2:1: column 'gpu' is 'a100', expected v100, p100 or k80; correct it"},
      {gavel("p100,x", ",x"), "t.csv:2:1: column 'gpu' is empty, expected v100, p100 or k80"},
      {gavel("gpu,", "card,"), "t.csv:1:1: the header has no column 'gpu', expected at least gpu"},
      {gavel("family_b", "b"), "t.csv:1:1: the header has no column 'family_b', expected"},
      {gavel("7,1,0.0", "7,0,0.0"),
       "t.csv:3:30: column 'norm_a' is '0.0', " + speed +
           "a pair that does not fit? write 1 in 'failed', or leave it empty"},
      {gavel("7,1,0.0", "7,2,0.0"), "t.csv:3:28: column 'failed' is '2', expected a flag"},
      {gavel("7,1,0.0", "7,1,many"), "t.csv:3:30: column 'norm_a' is 'many', " + speed},
      {gavel("Y,1,2,3", "Y,1,-2,3"), "t.csv:2:16: column 'solo_p100_a' is '-2', expected a rate"},
      {kCorunHead, "t.csv:1:1: no rows after the header"},
      {replaced(kCorunHead, "solo_s", "solo"), "t.csv:1:84: unknown column 'solo'"},
      {kCorunHead + "1,G,s,,a,,,,,1,1\n1,G,s,,a,,,,,1,1\n1,G,s,,a,,,,,1,1\n",
       "t.csv:1:1: all 1 groups have more than two jobs, expected pairs; add groups of two"},
      {kCorunHead + "g,G,s,,a,,,,,1,1\ng,G,s,,b,,,,,1,3\n",
       "t.csv group 'g': found solo_s 1 and corun_s 3, which is a speed of -1 beside the other "
       "job, expected a speed relative to the one alone, from 0.001 to 2; correct the times or "
       "remove the group"},
      {kCorunHead + "g,G,s,,a,,,,,1,1\ng,G,s,,b,,,,,9,1\n",
       "t.csv group 'g': found solo_s 9 and corun_s 1, which is a speed of 9 beside"},
      {kCorunHead + "1,G,s,,a,,,,,1,1\n1,G,s,,b,,,,,1,1\n2,H,t,,a,,,,,1,1\n2,H,t,,b,,,,,1,1\n",
       "t.csv group '2': shared by 't', expected 's' as in group '1', or a sharing mode: one with "
       "MPS, time-slicing or MIG in it, or unknown; correct it"},
      {replaced(kShared, "V100,,", "V100,by luck,"),
       "t.csv:3:6: column 'sharing' is 'by luck', expected a sharing mode: one with MPS, "
       "time-slicing or MIG in it, or unknown; correct it"},
      {replaced(kShared, "A,40,9", "A,0,9"),
       "t.csv:2:30: column 'share_a' is '0', expected a percentage of the SMs, above 0 and up to "
       "100"},
      {replaced(kShared, "A,40,9", "A,101,9"), "t.csv:2:30: column 'share_a' is '101', expected"},
      {replaced(kShared, "A,40,9", "A,nan,9"), "t.csv:2:30: column 'share_a' is 'nan', expected"},
      {replaced(kShared, "A,40,9", "A,40,-inf"),
       "t.csv:2:33: column 'l2_util_a' is '-inf', expected"},
      {replaced(kShared, ",394,", ",1e999,"),
       "t.csv:2:35: column 'solo_rate_a' is '1e999', expected"},
      {replaced(kShared, ",394,", ",-1,"),
       "t.csv:2:35: column 'solo_rate_a' is '-1', expected a rate"},
      {replaced(kShared, "6.9,,0.9", "6.9,,0"), "t.csv:2:47: column 'norm_a' is '0', " + speed},
      {replaced(kShared, "share_b", "part_b"),
       "t.csv:1:1: the header has no column 'share_b', expected at least job_x, solo_gpu_util_x, "
       "solo_gmem_util_x, solo_gmem_mib_x for x = a and b, and share of both jobs or of none; add "
       "it"},
      {kCorunHead + "1,G,s,,a,0.1,,,,1,1\n1,G,s,,b,0.1,,,,1,1\n2,G,s,,a,0.1,,,,1,1\n"
                    "2,G,s,,b,,,,,1,1\n",
       "t.csv:1:1: all 3 values of column 'gpu_util_pct' lie between 0 and 1"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = error_of(text);
    EXPECT_TRUE(error.starts_with(expected)) << error << "\nis not\n" << expected;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
  WorkloadKeys keys;
  EXPECT_THROW(read_measurements("/nowhere/pairs.csv", keys), InputError);
}

TEST(Measurements, ReadsFilesOfEveryForm) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "corun_measurements_test";
  std::filesystem::create_directories(folder);
  for (const std::string& text : {kLucid, kGavel, kCorun}) {
    const std::filesystem::path path = folder / "pairs.csv";
    std::ofstream(path) << text;
    WorkloadKeys keys;
    const Measurements table = read_measurements(path.string(), keys);
    EXPECT_EQ(table.source, "pairs.csv");
    EXPECT_TRUE(std::ranges::equal(table.speeds.values, read(text).speeds.values, same));
  }
  std::filesystem::remove_all(folder);

  WorkloadKeys keys;
  const Measurements table = read_measurements(CORUN_SOURCE_DIR "/examples/mine.corun.csv", keys);
  expect_whole(table);
  EXPECT_EQ(std::ranges::count(table.scored, false), 0);
}

TEST(Measurements, SurvivesPrefixesAndMutations) {
  const std::string alphabet = ",\"\n\r\t 0.-eNab\xc3\xa9";
  Rng rng(1, Stream::kTest);
  int accepted = 0;
  const auto survives = [&](const std::string& text) {
    const std::string error = error_of(text);  // anything but an InputError ends the test
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    if (error != "no error") return;
    ++accepted;
    const Measurements table = read(text);
    if (!table.lines.empty()) return;  // co-runs that lost solo_s and corun_s are groups
    expect_whole(table);
    if (!table.header.empty()) expect_round_trip(table);
  };
  for (const std::string& text : {kLucid, kGavel, kCorun, kShared, kSpeeds}) {
    for (std::size_t end = 0; end <= text.size(); ++end) survives(text.substr(0, end));
    for (int trial = 0; trial < 2000; ++trial) {
      std::string hostile = text;
      for (std::uint32_t k = rng.below(3) + 1; k > 0; --k) {
        const std::size_t at = rng.below(static_cast<std::uint32_t>(hostile.size()));
        hostile[at] = alphabet[rng.below(static_cast<std::uint32_t>(alphabet.size()))];
      }
      survives(hostile);
    }
  }
  EXPECT_GT(accepted, 100);
}

TEST(Measurements, LucidDataSet) {
  const char* file = "lucid/lucid_pairs.csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  WorkloadKeys keys;
  const Measurements table = read_measurements(test::public_data(file), keys);
  expect_whole(table);
  EXPECT_EQ(table.speeds.rows.size(), 982u);
  EXPECT_EQ(table.names.size(), 50u);
  EXPECT_EQ(std::ranges::count(table.scored, true), 745);
  EXPECT_TRUE(
      std::ranges::none_of(table.speeds.values, [](double value) { return std::isnan(value); }));
  EXPECT_EQ(values(table, 0), (std::vector<double>{45.409, 19.727, 2694}));
  EXPECT_EQ(table.speeds.rows[0].speed_b, 1.034);
  expect_round_trip(table);
}

TEST(Measurements, GavelDataSet) {
  struct Expected {
    std::string gpu;
    int failed;
    double first;  ///< solo rate of the first job on this GPU
  };
  for (const Expected& expected : {Expected{"v100", 21, 32.353384328946916},
                                   {"p100", 11, 35.869203207990005},
                                   {"k80", 45, 4.795294551566172}}) {
    const std::string file = "gavel/gavel_" + expected.gpu + "_pairs.csv";
    if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
    WorkloadKeys keys;
    const Measurements table = read_measurements(test::public_data(file), keys);
    expect_whole(table);
    EXPECT_EQ(table.gpu, expected.gpu);
    EXPECT_EQ(table.speeds.rows.size(), 351u);
    EXPECT_EQ(table.names.size(), 26u);
    EXPECT_EQ(std::ranges::count(table.scored, false), expected.failed);
    EXPECT_EQ(table.speeds.features[0].name, "solo_" + expected.gpu);
    EXPECT_EQ(values(table, 0)[0], expected.first);
    EXPECT_TRUE(
        std::ranges::none_of(table.speeds.values, [](double value) { return std::isnan(value); }));
    expect_round_trip(table);
  }
}

TEST(Measurements, TablesOfOtherDataSets) {
  const char* igniter = "coruns/igniter_v100_pairs.csv";
  const char* tally = "coruns/tally2023_mps_first_pairs.csv";
  if (!test::has_public_data(igniter) || !test::has_public_data(tally)) {
    GTEST_SKIP() << test::not_checked(igniter);
  }
  WorkloadKeys keys;
  Measurements all = read_measurements(test::public_data(igniter), keys);
  expect_whole(all);
  EXPECT_EQ(all.speeds.rows.size(), 750u);
  EXPECT_EQ(all.gpu, "V100-16GB");
  EXPECT_EQ(all.sharing, "MPS, fixed shares");
  EXPECT_EQ(all.speeds.campaigns[0].sharing, Sharing::kMps);
  EXPECT_EQ(all.speeds.features.size(), 6u);
  const Measurements rates = read_measurements(test::public_data(tally), keys);
  EXPECT_EQ(feature_names(rates), (std::vector<std::string>{"gpu_util_pct", "mem_time_pct",
                                                            "mem_used_mib log", "solo_rate log"}));
  append(all, rates, keys);
  expect_whole(all);
  EXPECT_EQ(all.speeds.campaigns.size(), 2u);
  EXPECT_EQ(all.speeds.rows.size(), 750u + 136u);
}

TEST(Measurements, GavelsCampaignsShareNamesOnly) {
  const char* first = "coruns/gavel2019_v100_pairs.csv";
  const char* second = "gavel/gavel_v100_pairs.csv";
  if (!test::has_public_data(first) || !test::has_public_data(second)) {
    GTEST_SKIP() << test::not_checked(first);
  }
  WorkloadKeys keys;
  Measurements all = read_measurements(test::public_data(first), keys);
  append(all, read_measurements(test::public_data(second), keys), keys);
  expect_whole(all);
  EXPECT_EQ(all.speeds.jobs.size(), 52u);
  EXPECT_EQ(all.speeds.campaigns.size(), 2u);
  ASSERT_FALSE(all.notes.empty());
  EXPECT_TRUE(all.notes.back().starts_with("26 jobs of gavel_v100_pairs.csv have other features"))
      << all.notes.back();
  append(all, read_measurements(test::public_data("gavel/gavel_p100_pairs.csv"), keys), keys);
  EXPECT_EQ(all.speeds.jobs.size(), 52u);
  EXPECT_EQ(all.speeds.campaigns.size(), 3u);
}

TEST(Measurements, FormsAreToldApartByTheFirstBytes) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "form.csv").string();
  const std::pair<std::string, std::optional<MeasurementForm>> cases[] = {
      {kLucid, MeasurementForm::kLucid},
      {"job_a,solo_gmem_mib_b\n", MeasurementForm::kLucid},
      {kGavel, MeasurementForm::kGavel},
      {"\xef\xbb\xbf\"job_a\",\"solo_k80_a\"\r\n", MeasurementForm::kGavel},
      {kSpeeds, MeasurementForm::kSpeedPairs},
      {"norm_b\n", MeasurementForm::kSpeedPairs},
      {kCorun, MeasurementForm::kCoruns},
      {"corun_s\n", MeasurementForm::kCoruns},
      {"group,gpu,sharing,job,solo_s\n", MeasurementForm::kCoruns},
      {"group,gpu,sharing,job,norm\n", MeasurementForm::kGroups},
      {"group,gpu,sharing,k,job,solo_gpu_util\n", MeasurementForm::kGroups},
      {"{\"v100\": {\"('A', 1)\": {\"null\": 1}}}", MeasurementForm::kRates},
      {"\xef\xbb\xbf \n{ \"k80_unconsolidated\" : {", MeasurementForm::kRates},
      {"{\"a100\": {\"('A', 1)\": {", MeasurementForm::kRates},
      // Configurations in JSON, damaged heads and other files.
      {"{\"cluster\": {\"nodes\": 2}}", std::nullopt},
      {"{\"cluster\": {\"gpu_type\": \"v100\"}}", std::nullopt},
      {"{}", std::nullopt},
      {"{\"a100\": {", std::nullopt},
      {"group,gpu,sharing\n", std::nullopt},
      {"group,job,submit_s,solo_s\n", std::nullopt},
      {"", std::nullopt},
      {"\n", std::nullopt},
      {"kind: corun knowledge base\n", std::nullopt},
      {"job,submit_s,solo_s\n", std::nullopt},
      {"a,b\nsolo_k80_a\n", std::nullopt},
  };
  for (const auto& [text, form] : cases) {
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(measurement_form(path), form) << text;
  }
  std::filesystem::remove(path);
  EXPECT_EQ(measurement_form(path), std::nullopt);
  EXPECT_EQ(measurement_form(testing::TempDir()), std::nullopt);
  EXPECT_EQ(measurement_form("/dev/null"), std::nullopt);
}

TEST(Measurements, CorunsAsRunsKeepGroupsAndTimes) {
  WorkloadKeys keys;
  std::istringstream in(kCorun);
  const Measurements table = read_measurements(in, "t.corun.csv", keys, CorunsAs::kRuns);
  ASSERT_EQ(table.runs.size(), 3U);
  EXPECT_EQ(table.runs[2].members.size(), 3U);
  EXPECT_EQ(table.runs[0].members[1].corun_s, 300);
  EXPECT_TRUE(table.speeds.rows.empty());
  EXPECT_TRUE(table.is_measured());
  std::istringstream lucid(kLucid);
  EXPECT_EQ(read_measurements(lucid, "t.csv", keys, CorunsAs::kRuns).speeds.rows.size(), 3U);
}

}  // namespace
}  // namespace corun::measurements_test
