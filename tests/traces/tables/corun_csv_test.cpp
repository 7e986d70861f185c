#include "traces/tables/corun_csv.hpp"

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::corun_csv_test {
namespace {

const std::string kHeader =
    "group,gpu,sharing,session,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,solo_s,"
    "corun_s,isd,source\n";

CorunFile read(const std::string& text, WorkloadKeys& keys) {
  std::istringstream in(text);
  return read_corun_csv(in, "t.corun.csv", keys);
}

std::string write(const CorunFile& file, const WorkloadKeys& keys) {
  std::ostringstream out;
  write_corun_csv(out, file, keys);
  return out.str();
}

std::string error_of(const std::string& text) {
  try {
    WorkloadKeys keys;
    read(text, keys);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// One of two jobs may gain, and both a little; in groups b and d all jobs gain more.
TEST(CorunCsv, NotesCoRunsThatAreFasterThanAlone) {
  WorkloadKeys keys;
  const auto row = [](const char* group, const char* job, const char* solo, const char* corun) {
    return std::string(group) + ",V100,mps,," + job + ",,,,," + solo + ',' + corun + ",,\n";
  };
  const std::string few = row("a", "x", "10", "5") + row("a", "y", "10", "10") +
                          row("c", "x", "10", "8") + row("c", "y", "20", "16");
  EXPECT_TRUE(read(kHeader + few, keys).notes.empty());
  const CorunFile file =
      read(kHeader + few + row("b", "x", "10", "5") + row("b", "y", "20", "10") +
               row("d", "x", "10", "7.9") + row("d", "y", "20", "15") + row("d", "z", "9", "1"),
           keys);
  ASSERT_EQ(file.notes.size(), 1U);
  EXPECT_TRUE(file.notes[0].starts_with("t.corun.csv:6:1: here and in 1 other of 4 co-runs"))
      << file.notes[0];
  WorkloadKeys of_papers;
  std::istringstream papers(write({paper_measurements(of_papers), {}, {}}, of_papers));
  EXPECT_TRUE(read_corun_csv(papers, "papers", keys).notes.empty());
}

TEST(CorunCsv, ReadsGroupsOfAnySize) {
  WorkloadKeys keys;
  const WorkloadKey known = keys.of("DCGAN", 205, 20);
  const CorunFile file = read(kHeader +
                                  "p,H200,mps,s1,DCGAN/bs=205/epochs=20,42.16,14.07,13.78,2048,100,"
                                  "110,0.1,here\n"
                                  "p,H200,mps,s1,mine,,,,,50,52.5,,here\n"
                                  "t,V100-16GB,time-slicing,,mine,,,,,1,1,0,\n"
                                  "t,V100-16GB,time-slicing,,mine,,,,,1,0.5,-0.5,\n"
                                  "t,V100-16GB,time-slicing,,other,,,,,1,3,2.01,\n",
                              keys);
  ASSERT_EQ(file.measurements.size(), 2u);
  EXPECT_EQ(file.groups, (std::vector<std::string>{"p", "t"}));
  EXPECT_EQ(file.sessions, (std::vector<std::string>{"s1", ""}));
  const CorunMeasurement& pair = file.measurements[0];
  EXPECT_EQ(pair.source, "here");
  EXPECT_EQ(pair.gpu_type, "H200");
  EXPECT_EQ(pair.sharing, "mps");
  ASSERT_EQ(pair.members.size(), 2u);
  EXPECT_EQ(pair.members[0].workload, known);
  EXPECT_EQ(pair.members[0].profile, (Profile{42.16, 14.07, 13.78, 2048.0, false}));
  EXPECT_EQ(pair.members[0].solo_s, 100);
  EXPECT_EQ(pair.members[0].corun_s, 110);
  EXPECT_EQ(pair.members[0].cluster, -1);
  EXPECT_EQ(pair.members[1].profile, Profile{});
  const CorunMeasurement& triple = file.measurements[1];
  EXPECT_EQ(triple.source, "t.corun.csv group t");
  ASSERT_EQ(triple.members.size(), 3u);
  EXPECT_EQ(triple.members[0].workload, pair.members[1].workload);
  EXPECT_NE(triple.members[2].workload, pair.members[1].workload);
}

TEST(CorunCsv, TheRequiredColumnsAreEnough) {
  WorkloadKeys keys;
  const CorunFile file =
      read("job,group,gpu,sharing,corun_s,solo_s\na,1,G,ts,2,1\nb,1,G,ts,2,1\n", keys);
  EXPECT_EQ(file.measurements.at(0).members.size(), 2u);
}

TEST(CorunCsv, SessionsMayNumberTheirGroupsAlike) {
  WorkloadKeys keys;
  const CorunFile file = read(kHeader +
                                  "1,G,ts,mon,a,,,,,1,2,,\n1,G,ts,mon,b,,,,,1,2,,\n"
                                  "1,G,ts,tue,a,,,,,1,2,,\n1,G,ts,tue,b,,,,,1,2,,\n",
                              keys);
  EXPECT_EQ(file.measurements.size(), 2u);
}

TEST(CorunCsv, NamesThePlaceOfEveryMistake) {
  const std::string a = "g,G,ts,s,a,,,,,100,110,,x\n";
  const std::string b = "g,G,ts,s,b,,,,,100,110,,x\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {kHeader, "t.corun.csv:1:1: no rows after the header"},
      {kHeader + a,
       "t.corun.csv:2:1: group 'g' has one row, expected two or more jobs that ran together; a "
       "solo measurement does not belong here, remove the row"},
      {kHeader + a + b + "h,G,ts,s,a,,,,,1,1,,x\ni,G,ts,s,a,,,,,1,1,,x\n",
       "t.corun.csv:4:1: group 'h' has one row"},
      {kHeader + a + b + "h,G,ts,s,a,,,,,1,1,,x\n", "t.corun.csv:4:1: group 'h' has one row"},
      {kHeader + a + b + "h,G,ts,s,a,,,,,1,1,,x\nh,G,ts,s,a,,,,,1,1,,x\n" + a,
       "t.corun.csv:6:1: column 'group' is 'g', expected the rows of a group to stand together, "
       "and this one began on line 2"},
      {kHeader + a + "g,H,ts,s,b,,,,,100,110,,x\n",
       "t.corun.csv:3:3: column 'gpu' is 'H', expected 'G' as on line 2, where the group begins; "
       "correct it, or give the row another group"},
      {kHeader + a + "g,G,mps,s,b,,,,,100,110,,x\n",
       "t.corun.csv:3:5: column 'sharing' is 'mps', expected 'ts' as on line 2"},
      {kHeader + a + "g,G,ts,s,b,,,,,100,110,,y\n",
       "t.corun.csv:3:25: column 'source' is 'y', expected 'x' as on line 2"},
      {kHeader + ",G,ts,s,a,,,,,100,110,,x\n", "t.corun.csv:2:1: column 'group' is empty"},
      {kHeader + "g,,ts,s,a,,,,,100,110,,x\n", "t.corun.csv:2:3: column 'gpu' is empty"},
      {kHeader + "g,G,,s,a,,,,,100,110,,x\n", "t.corun.csv:2:5: column 'sharing' is empty"},
      {kHeader + "g,G,ts,s,,,,,,100,110,,x\n",
       "t.corun.csv:2:10: column 'job' is empty, expected the name of a workload; fill it in"},
      {kHeader + "g,G,ts,s,a,101,,,,100,110,,x\n", "t.corun.csv:2:12: column 'gpu_util_pct' is"},
      {kHeader + "g,G,ts,s,a,,,,,0,110,,x\n",
       "t.corun.csv:2:16: column 'solo_s' is '0', expected a number of seconds, above 0; "},
      {kHeader + "g,G,ts,s,a,,,,,100,,,x\n",
       "t.corun.csv:2:20: column 'corun_s' is empty, expected a number of seconds, above 0; "},
      {kHeader + "g,G,ts,s,a,,,,,100,110,10,x\n",
       "t.corun.csv:2:24: column 'isd' is '10', expected about 0.1, the fraction (corun_s - "
       "solo_s) / solo_s of this row; correct one of the three or leave isd empty"},
      {kHeader + "g,G,ts,s,a,,,,,100,110,0.088,x\n", "t.corun.csv:2:24: column 'isd' is '0.088'"},
      {kHeader + "g,G,ts,s,a,,,,,100,110,-2,x\n",
       "t.corun.csv:2:24: column 'isd' is '-2', expected a slowdown as a fraction, -1 or more"},
      {"group,gpu,sharing,job,solo_s\n", "t.corun.csv:1:1: the header has no column 'corun_s'"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = error_of(text);
    EXPECT_EQ(error.substr(0, expected.size()), expected) << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << text;
  }
  // Within one per cent of corun_s.
  EXPECT_EQ(error_of(kHeader + "g,G,ts,s,a,,,,,100,110,0.09,x\n" + b), "no error");
  EXPECT_EQ(error_of(kHeader + "g,G,ts,s,a,,,,,100,110,0.11,x\n" + b), "no error");
}

TEST(CorunCsv, ThePapersSurviveTheFile) {
  WorkloadKeys keys;
  CorunFile file;
  file.measurements = paper_measurements(keys);
  const std::string text = write(file, keys);
  WorkloadKeys fresh;
  const CorunFile again = read(text, fresh);
  ASSERT_EQ(again.measurements.size(), file.measurements.size());
  EXPECT_EQ(again.groups.at(0), "1");
  for (std::size_t i = 0; i < file.measurements.size(); ++i) {
    const CorunMeasurement& x = file.measurements[i];
    const CorunMeasurement& y = again.measurements[i];
    EXPECT_EQ(x.source, y.source);
    EXPECT_EQ(x.gpu_type, y.gpu_type);
    EXPECT_EQ(x.sharing, y.sharing);
    ASSERT_EQ(x.members.size(), y.members.size());
    for (std::size_t k = 0; k < x.members.size(); ++k) {
      EXPECT_EQ(keys.text(x.members[k].workload), fresh.text(y.members[k].workload));
      EXPECT_EQ(x.members[k].solo_s, y.members[k].solo_s);
      EXPECT_EQ(x.members[k].corun_s, y.members[k].corun_s);
      const Profile measured = x.members[k].profile.imputed ? Profile{} : x.members[k].profile;
      EXPECT_EQ(measured, y.members[k].profile);
    }
  }
  EXPECT_EQ(write(again, fresh), text);
}

TEST(CorunCsv, SurvivesPrefixesAndMutations) {
  WorkloadKeys keys;
  CorunFile file;
  file.measurements = paper_measurements(keys, {false, false, true, false});
  const std::string text = write(file, keys);
  int refused = 0;
  const auto check = [&](const std::string& hostile) {
    const std::string message = error_of(hostile);  // any other exception fails the test
    if (message == "no error") return;
    ++refused;
    EXPECT_TRUE(message.starts_with("t.corun.csv:")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  for (std::size_t n = 0; n <= text.size(); ++n) check(text.substr(0, n));
  for (std::uint64_t i = 0; i < 5000; ++i) {
    Rng rng(5, Stream::kTest, i);
    std::string hostile = text;
    for (std::uint32_t k = rng.below(3) + 1; k > 0; --k) {
      const std::size_t at = rng.below(static_cast<std::uint32_t>(hostile.size()));
      const char likely = "\",\n\r-.e9"[rng.below(8)];
      hostile[at] = rng.below(2) == 0 ? likely : static_cast<char>(rng.below(256));
    }
    check(hostile);
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace corun::corun_csv_test
