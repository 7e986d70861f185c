#include "traces/tables/profile_csv.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/public_data.hpp"

namespace corun::profile_csv_test {
namespace {

// Code that clusters, believes or schedules must not get a job's origin: its type Profile has no field for
// it, and an origin does not convert to a profile.
template <typename T>
concept TellsModel = requires(T x) {
  x.model;
};
template <typename T>
concept TellsDataset = requires(T x) {
  x.dataset;
};
template <typename T>
concept TellsEpochs = requires(T x) {
  x.epochs;
};
template <typename T>
concept TellsEpoch = requires(T x) {
  x.epoch;
};
template <typename T>
concept TellsBatchSize = requires(T x) {
  x.batch_size;
};
template <typename T>
concept TellsName = requires(T x) {
  x.name;
};
static_assert(TellsModel<WorkloadOrigin> && TellsDataset<WorkloadOrigin> &&
              TellsEpochs<WorkloadOrigin> && TellsBatchSize<WorkloadOrigin>);
static_assert(!TellsModel<Profile> && !TellsDataset<Profile> && !TellsEpochs<Profile> &&
              !TellsEpoch<Profile> && !TellsBatchSize<Profile> && !TellsName<Profile>);
static_assert(!std::is_convertible_v<WorkloadOrigin, Profile> &&
              !std::is_constructible_v<Profile, WorkloadOrigin> &&
              !std::is_assignable_v<Profile&, WorkloadOrigin> &&
              !std::is_base_of_v<WorkloadOrigin, Profile> &&
              !std::is_base_of_v<Profile, WorkloadOrigin>);

ProfileTable read(const std::string& text) {
  std::istringstream in(text);
  return read_profile_csv(in, "t.csv");
}

std::string write(const ProfileTable& table) {
  std::ostringstream out;
  write_profile_csv(out, table);
  return out.str();
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void expect_same(const ProfileTable& a, const ProfileTable& b) {
  EXPECT_EQ(a.jobs, b.jobs);
  EXPECT_EQ(a.profiles, b.profiles);
  EXPECT_EQ(a.attributes, b.attributes);
  EXPECT_TRUE(std::ranges::equal(a.values, b.values, same));
  ASSERT_EQ(a.origins.size(), b.origins.size());
  for (std::size_t i = 0; i < a.origins.size(); ++i) {
    EXPECT_EQ(a.origins[i].model, b.origins[i].model) << a.jobs[i];
    EXPECT_EQ(a.origins[i].dataset, b.origins[i].dataset) << a.jobs[i];
    EXPECT_EQ(a.origins[i].epochs, b.origins[i].epochs) << a.jobs[i];
    EXPECT_EQ(a.origins[i].batch_size, b.origins[i].batch_size) << a.jobs[i];
  }
}

void expect_round_trip(const ProfileTable& table) {
  const std::string text = write(table);
  const ProfileTable again = read(text);
  expect_same(table, again);
  EXPECT_EQ(write(again), text);
}

const std::string kHead = "job,gpu_util_pct,mem_alloc_pct,mem_time_pct";

TEST(ProfileCsv, ReadsTheLeastThatMustBeThere) {
  const ProfileTable table = read("mem_time_pct,job,mem_alloc_pct,gpu_util_pct\n1,a,2,3\n,b,,\n");
  EXPECT_EQ(table.source, "t.csv");
  EXPECT_EQ(table.jobs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.profiles[0], (Profile{3, 2, 1, {}, false}));
  EXPECT_EQ(table.profiles[1], Profile{});
  EXPECT_EQ(table.origins[0].model, "");
  EXPECT_EQ(table.origins[0].batch_size, std::nullopt);
  EXPECT_EQ(table.attributes,
            (std::vector<std::string>{"mem_time_pct", "mem_alloc_pct", "gpu_util_pct"}));
  ASSERT_EQ(table.values.size(), 6u);
  EXPECT_EQ(table.values[2], 3);
  EXPECT_TRUE(std::isnan(table.values[3]));
}

TEST(ProfileCsv, ReadsEverythingAndWritesItBack) {
  const ProfileTable table = read(
      "model,job,Sys_Mem,gpu_util_pct,mem_alloc_pct,mem_used_mib,mem_time_pct,imputed,dataset,"
      "epochs,batch_size,\" reads, per s \"\n"
      "DCGAN,\"a, b\",1e-3,42.16,140.7,2048.5,13.78,1,\"MN,IST\",20,256,-7\n"
      ",c,,0.5,,,0,0,,,,\n");
  EXPECT_EQ(table.jobs, (std::vector<std::string>{"a, b", "c"}));
  EXPECT_EQ(table.profiles[0], (Profile{42.16, 140.7, 13.78, 2048.5, true}));
  EXPECT_EQ(table.profiles[1], (Profile{0.5, {}, 0, {}, false}));
  EXPECT_EQ(table.origins[0].model, "DCGAN");
  EXPECT_EQ(table.origins[0].dataset, "MN,IST");
  EXPECT_EQ(table.origins[0].epochs, 20);
  EXPECT_EQ(table.origins[0].batch_size, 256);
  EXPECT_EQ(table.origins[1].epochs, std::nullopt);
  EXPECT_EQ(table.attributes,
            (std::vector<std::string>{"Sys_Mem", "gpu_util_pct", "mem_alloc_pct", "mem_used_mib",
                                      "mem_time_pct", "reads, per s"}));
  EXPECT_EQ(table.values[0], 1e-3);
  EXPECT_EQ(table.values[5], -7);
  EXPECT_TRUE(std::isnan(table.values[6]));
  expect_round_trip(table);
}

TEST(ProfileCsv, ATraceOfJobsIsATableOfProfiles) {
  const ProfileTable table = read(
      "job,submit_s,solo_s,gpus,priority,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,"
      "cpu_milli,memory_mib,epoch_s,workload,cluster,uncertainty,imputed,gpu_milli,gpu_models,"
      "virtual_cluster,steps,solo_s@T4,mem_used_mib@T4,gpu_type\n"
      "a,1,2,4,-3,42,50,13,2048,6000,12288,0.1,DCGAN/bs=205/epochs=20,1,133.11,0,1000,T4|A10,vc,90,"
      "-,900,V100\n");
  EXPECT_EQ(table.profiles[0], (Profile{42, 50, 13, 2048, false}));
  EXPECT_EQ(table.origins[0].model, "");
  EXPECT_EQ(table.attributes, (std::vector<std::string>{"gpu_util_pct", "mem_alloc_pct",
                                                        "mem_time_pct", "mem_used_mib"}));
  expect_round_trip(table);
}

TEST(ProfileCsv, SoAreCoRunMeasurements) {
  const ProfileTable table = read(
      "group,gpu,sharing,session,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,solo_s,"
      "corun_s,isd,source\n"
      "1,V100,time-slicing,,a,42,50,13,,10,12,0.2,by hand\n"
      "1,V100,time-slicing,,b,43,51,14,,10,12,0.2,by hand\n");
  EXPECT_EQ(table.jobs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.attributes.size(), 4u);
}

TEST(ProfileCsv, WritesTablesMadeByHand) {
  ProfileTable table;
  table.jobs = {"a", "b"};
  table.profiles = {{50, 60, 70, {}, false}, {51, {}, 71, 100, false}};
  table.origins.resize(2);
  table.attributes = {"MGMAP", "flops"};
  table.values = {60, 1, std::numeric_limits<double>::quiet_NaN(), 2};
  EXPECT_EQ(write(table),
            "job,mem_alloc_pct,flops,gpu_util_pct,mem_time_pct,mem_used_mib\n"
            "a,60,1,50,70,\nb,,2,51,71,100\n");
  expect_round_trip(read(write(table)));
  table.values.pop_back();
  EXPECT_THROW(write(table), std::invalid_argument);
}

TEST(ProfileCsv, RoundTripKeepsAPublicNameBesideOurOwn) {
  expect_round_trip(read(kHead + ",MGUP\na,10,20,30,40\n"));
}

TEST(ProfileCsv, FractionsAreNoPercentages) {
  const std::string fractions = kHead + "\na,0.5,20,30\nb,1,20,30\nc,0,20,30\n";
  EXPECT_EQ(error_of(fractions),
            "t.csv:1:5: all 3 values of column 'gpu_util_pct' lie between 0 and 1, expected "
            "percentages: fractions? write percent");
  EXPECT_EQ(error_of(fractions + "d,,20,30\n").substr(0, 18), "t.csv:1:5: all 3 v");
  // One job that needs more than 1 % shows that the column is in percent,
  EXPECT_EQ(error_of(fractions + "d,1.1,20,30\n"), "no error");
  // whole numbers may be idle jobs, and two values are too few to decide.
  EXPECT_EQ(error_of(kHead + "\na,0,20,30\nb,1,20,30\nc,0,20,30\n"), "no error");
  EXPECT_EQ(error_of(kHead + "\na,0.1,20,30\nb,0.1,20,30\n"), "no error");
  EXPECT_EQ(error_of(kHead + "\na,1,0.2,3\nb,5,0.2,3\nc,5,0.2,3\n").substr(0, 30),
            "t.csv:1:18: all 3 values of co");
}

TEST(ProfileCsv, NamesThePlaceOfEveryMistake) {
  const std::string futurewei = "ID,Model,Dataset,Epoch,BS,Run_Env,MGUP,MaGTSAMP,MGMAP";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "t.csv:1:1: the file is empty, expected a header line; write one"},
      {kHead + "\n", "t.csv:1:1: no rows after the header, expected one per job; add jobs"},
      {"job,gpu_util_pct,mem_alloc_pct\na,1,2\n",
       "t.csv:1:1: the header has no column 'mem_time_pct', expected at least job, gpu_util_pct, "
       "mem_alloc_pct, mem_time_pct; add it"},
      {"job,gpu_utl_pct,mem_alloc_pct,mem_time_pct\na,1,2,3\n",
       "t.csv:1:1: the header has no column 'gpu_util_pct', expected at least job, gpu_util_pct, "
       "mem_alloc_pct, mem_time_pct; did you mean it by 'gpu_utl_pct'?"},
      {"a,b\n1,2\n", "t.csv:1:1: the header has no column 'job'"},
      {kHead + "\na,1,2,3\nb,1,2,3\na,1,2,3\n",
       "t.csv:4:1: column 'job' is 'a', expected names that differ, and line 2 has this one; "
       "rename one of the two"},
      {kHead + "\n,1,2,3\n", "t.csv:2:1: column 'job' is empty, expected the name of a job"},
      {kHead + "\na,101,2,3\n",
       "t.csv:2:3: column 'gpu_util_pct' is '101', expected a percentage, from 0 to 100; correct "
       "it or leave it empty"},
      {kHead + "\na,1,-2,3\n",
       "t.csv:2:5: column 'mem_alloc_pct' is '-2', expected a percentage, from 0 to 1000; "},
      {kHead + "\na,1,2,nan\n", "t.csv:2:7: column 'mem_time_pct' is 'nan', expected"},
      {kHead + "\na,1,2,inf\n", "t.csv:2:7: column 'mem_time_pct' is 'inf', expected"},
      {kHead + "\na,1,2,3 %\n", "t.csv:2:7: column 'mem_time_pct' is '3 %', expected"},
      {kHead + ",flops\na,1,2,3,many\n",
       "t.csv:2:9: column 'flops' is 'many', expected a number; correct it or leave it empty"},
      {kHead + ",flops\na,1,2,3,1e999\n", "t.csv:2:9: column 'flops' is '1e999', expected"},
      {kHead + ",imputed\na,1,2,3,yes\n", "t.csv:2:9: column 'imputed' is 'yes', expected a flag"},
      {kHead + ",batch_size\na,1,2,3,0\n",
       "t.csv:2:9: column 'batch_size' is '0', expected a batch size, above 0; "},
      {kHead + ",mem_used_mib\na,1,2,3,-1\n", "t.csv:2:9: column 'mem_used_mib' is '-1', expected"},
      {kHead + "\na,1,2\n", "t.csv:2:1: the row has 3 fields, expected 4 fields"},
      {kHead + "\na,1,2,3,4\n", "t.csv:2:9: the row goes on after 4 fields, expected 4"},
      {kHead + ",x,x\na,1,2,3,4,5\n", "t.csv:1:47: column 'x' is named a second time"},
      {kHead + ",x, x \na,1,2,3,4,5\n",
       "t.csv:1:47: column 'x' is named a second time, blanks aside, expected each once; remove "
       "one"},
      {kHead + ",\na,1,2,3,4\n",
       "t.csv:1:45: a column without a name, expected one; name or remove it"},
      {kHead + ",\"x\ny\"\na,1,2,3,4\n", "t.csv:1:45: the name of column 'x\\x0ay' is broken"},
      {kHead + ",BS\na,1,2,3,4\n",
       "t.csv:1:45: column 'BS' would be an attribute of the profile, expected 'batch_size', which "
       "is held apart; rename it"},
      {kHead + ",Epochs\na,1,2,3,4\n", "t.csv:1:45: column 'Epochs' would be an attribute"},
      {"ID,Model,BS,MGUP,MGMAP\n1,DCGAN,256,2,3\n",
       "t.csv:1:1: the header has no column 'MaGTSAMP', expected at least Model, BS, MGUP, MGMAP, "
       "MaGTSAMP; add it"},
      {futurewei + "\n1,DCGAN,MNIST,5,2,Standard,1,2,3\n2, DCGAN ,MNIST,9,2,Standard,1,2,3\n",
       "t.csv:3:3: a second job 'DCGAN-2' (first on line 2), expected each model and batch size "
       "once; remove one"},
      {futurewei + "\n1, ,MNIST,5,2,Standard,1,2,3\n",
       "t.csv:2:3: column 'Model' is ' ', expected the name of a model"},
      {futurewei + "\n1,DCGAN,MNIST,5,,Standard,1,2,3\n", "t.csv:2:17: column 'BS' is empty"},
      {futurewei + "\n1,DCGAN,MNIST,5,2,Standard,1,200,3\n",
       "t.csv:2:30: column 'MaGTSAMP' is '200', expected a percentage, from 0 to 100"},
      {"id,job,bs,is_real,mgup_pct,mgmap_pct,magtsamp_pct\n1,DCGAN,2,2,1,2,3\n",
       "t.csv:2:11: column 'is_real' is '2', expected a flag"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = error_of(text);
    EXPECT_TRUE(error.starts_with(expected)) << error << "\nis not\n" << expected;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
  EXPECT_THROW(read_profile_csv("/nowhere/profiles.csv"), InputError);
}

TEST(ProfileCsv, ReadsPublicForms) {
  const ProfileTable table = read(
      "ID,Model,Dataset,Epoch,BS,Run_Env,Max_CPU_Util_% ,MGUP,MaGTSAMP,MGMAP\n"
      "7,Reinforcement Learning ,Cart Pole Problem,20000,1024,Standard,99.5,1,2,3\n"
      "8,small_bert/ bert_en_uncased_L-2_H-768_A-12 ,IMDB,3,256,Standard,80,4,5,6\n"
      "9,New Net,IMDB,3,0.5,Standard,80,4,5,6\n");
  EXPECT_EQ(table.jobs, (std::vector<std::string>{"RL-CartPole-1024", "SmallBERT-L2-H768-A12-256",
                                                  "New Net-0.5"}));
  EXPECT_EQ(table.attributes,
            (std::vector<std::string>{"Max_CPU_Util_%", "MGUP", "MaGTSAMP", "MGMAP"}));
  EXPECT_EQ(table.values[2], 2);
  EXPECT_EQ(table.profiles[0], (Profile{1, 3, 2, {}, false}));
  EXPECT_EQ(table.origins[1].model, "SmallBERT-L2-H768-A12");
  EXPECT_EQ(table.origins[1].epochs, 3);
  const ProfileTable ours = read(write(table));
  EXPECT_EQ(ours.attributes, (std::vector<std::string>{"Max_CPU_Util_%", "gpu_util_pct",
                                                       "mem_time_pct", "mem_alloc_pct"}));
  EXPECT_EQ(ours.values, table.values);
  EXPECT_EQ(ours.profiles, table.profiles);
  expect_round_trip(ours);
}

TEST(ProfileCsv, SurvivesPrefixesAndMutations) {
  const std::vector<std::string> texts = {
      kHead + ",imputed,model,batch_size,flops\na,1,2,3,0,DCGAN,2,5e9\n\"b\",4,5,6,1,,,\n",
      "ID,Model,Dataset,Epoch,BS,Run_Env,MGUP,MGMAP,MaGTSAMP\n1,DCGAN,MNIST,5,2,High-RAM,1,2,3\n",
      "id,job,bs,is_real,mgup_pct,mgmap_pct,magtsamp_pct\n1,DCGAN,2,1,1,2,3\n"};
  const std::string alphabet = ",\"\n\r\t 0.-eN\xc3\xa9";
  Rng rng(1, Stream::kTest);
  const auto survives = [](const std::string& text) {
    const std::string error = error_of(text);  // anything but an InputError ends the test
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    if (error == "no error") expect_round_trip(read(write(read(text))));
  };
  for (const std::string& text : texts) {
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
}

TEST(ProfileCsv, FutureweiDataSet) {
  for (const char* file : {"alnair/alnair_dataset.csv", "alnair/alnair_clustering_175.csv"}) {
    if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  }
  const std::string path = test::public_data("alnair/alnair_dataset.csv");
  const std::string samples_path = test::public_data("alnair/alnair_clustering_175.csv");
  const ProfileTable table = read_profile_csv(path);
  EXPECT_EQ(table.source, "alnair_dataset.csv");
  ASSERT_EQ(table.jobs.size(), 49u);
  EXPECT_EQ(table.attributes.size(), 60u);
  EXPECT_EQ(table.values.size(), 49u * 60u);
  EXPECT_TRUE(std::ranges::none_of(table.values, [](double v) { return std::isnan(v); }));
  EXPECT_EQ(table.attributes.front(), "CPU_Util_%_ran");
  EXPECT_EQ(table.attributes.back(), "NIO_dropout");
  EXPECT_EQ(table.profiles[0], (Profile{46.07, 98.05, 30.6, {}, false}));
  EXPECT_EQ(table.jobs[0], "MobileNet-1024");
  EXPECT_EQ(table.jobs[25], "SmallBERT-L4-H512-A8-256");
  EXPECT_EQ(table.origins[33].model, "DCGAN");
  EXPECT_EQ(table.origins[33].dataset, "MNIST");
  EXPECT_EQ(table.origins[33].epochs, 50);
  EXPECT_EQ(table.origins[33].batch_size, 256);
  double sum = 0;
  for (const Profile& profile : table.profiles) sum += profile.gpu_util_pct.value();
  EXPECT_NEAR(sum, 2601.27, 1e-6);

  const ProfileTable samples = read_profile_csv(samples_path);
  ASSERT_EQ(samples.jobs.size(), 175u);
  EXPECT_EQ(std::ranges::count(samples.profiles, true, &Profile::imputed), 129);
  EXPECT_EQ(samples.attributes,
            (std::vector<std::string>{"mgup_pct", "mgmap_pct", "magtsamp_pct"}));
  // Both files name the models alike; a sample marked as real has a measured job.
  std::set<std::string> models;
  for (const WorkloadOrigin& origin : table.origins) models.insert(origin.model);
  for (const WorkloadOrigin& origin : samples.origins) {
    EXPECT_TRUE(models.contains(origin.model)) << origin.model;
  }
  EXPECT_EQ(models.size(), 15u);
  std::map<std::string, Profile> measured;
  for (std::size_t i = 0; i < table.jobs.size(); ++i) measured[table.jobs[i]] = table.profiles[i];
  int known = 0;
  for (std::size_t i = 0; i < samples.jobs.size(); ++i) {
    if (samples.profiles[i].imputed || !measured.contains(samples.jobs[i])) continue;
    ++known;
    if (samples.jobs[i] == "MobileNet-128") {  // the one value in which the files differ
      EXPECT_EQ(measured[samples.jobs[i]].mem_time_pct, 24.67);
      EXPECT_EQ(samples.profiles[i].mem_time_pct, 24.05);
      continue;
    }
    EXPECT_EQ(samples.profiles[i], measured[samples.jobs[i]]) << samples.jobs[i];
  }
  EXPECT_EQ(known, 46);
  expect_round_trip(read(write(table)));
  expect_round_trip(read(write(samples)));
}

}  // namespace
}  // namespace corun::profile_csv_test
