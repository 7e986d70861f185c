#include "traces/tables/group_table.hpp"

#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/temporary_directory.hpp"
#include "traces/gpu_catalog.hpp"
#include "traces/tables/append_measurements.hpp"
#include "traces/tables/predictions_csv.hpp"

namespace corun::group_table_test {
namespace {

const std::string kHead = "group,gpu,sharing,job,model,mig_slices,solo_rate,norm\n";
const std::string kMembers = kHead +
                             "g1,A100,MPS,a,A,7,11.5,0.7\n"
                             "g2,A100,MPS,a,A,7,11.5,0.6\n"
                             "g1,A100,MPS,b,B,,31,0.8\n"
                             "g2,A100,MPS,a,A,7,11.5,0.5\n"
                             "g2,A100,MPS,b,B,,31,\n"
                             "g3,A100,time-slicing,a,A,7,12,0.4\n"
                             "g3,A100,time-slicing,a,A,7,12,0.4\n"
                             "g3,A100,time-slicing,a,A,7,12,0.4\n";
const std::string kProcesses =
    "group,gpu,sharing,k,job,norm,slowdown_pct\n"
    "0,A100,MPS in a MIG slice,2,a|1,0.7,42\n"
    "1,A100,MPS in a MIG slice,4,a|1,0.3,233\n";

Measurements read(const std::string& text) {
  std::istringstream in(text);
  WorkloadKeys keys;
  return read_measurements(in, "g.csv", keys);
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(GroupTable, ReadsARowPerMember) {
  const Measurements table = read(kMembers);
  EXPECT_EQ(table.names, (std::vector<std::string>{"a (MPS)", "b (MPS)", "a (time-slicing)"}));
  EXPECT_EQ(table.families, (std::vector<std::string>{"A", "B", "A"}));
  ASSERT_EQ(table.speeds.rows.size(), 1U);
  EXPECT_EQ(table.speeds.rows[0].speed_a, 0.7);
  EXPECT_EQ(table.speeds.rows[0].speed_b, 0.8);
  ASSERT_EQ(table.speeds.groups.size(), 2U);
  EXPECT_EQ(table.speeds.groups[0].jobs, (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(table.speeds.groups[0].sharing, Sharing::kMps);
  EXPECT_TRUE(std::isnan(table.speeds.groups[0].speeds[2]));
  EXPECT_EQ(table.speeds.groups[1].sharing, Sharing::kTimeSlicing);
  EXPECT_EQ(table.speeds.sharing(), Sharing::kUnknown);  // two modes
  const double* a = table.speeds.of(0);
  const auto feature = [&](const std::string& name) {
    for (std::size_t f = 0; f < table.speeds.features.size(); ++f) {
      if (table.speeds.features[f].name == name) return a[f];
    }
    return -1.0;
  };
  EXPECT_EQ(feature("sm_share_pct"), 100);
  EXPECT_EQ(feature("solo_rate"), 11.5);
  EXPECT_EQ(feature("mps"), 1);
  EXPECT_TRUE(std::isnan(feature("gpu_util_pct")));
  std::vector<std::vector<double>> predicted;
  for (std::size_t line = 0; line < 8; ++line) predicted.push_back({0.1 * (1. + line), 0.5});
  std::ostringstream out;
  write_predictions(out, table, predicted);
  EXPECT_NE(out.str().find("g2,A100,MPS,b,B,,31,,0.5,0.5\n"), std::string::npos) << out.str();
  EXPECT_EQ(table.scored, std::vector<bool>{true});
  EXPECT_EQ(table.forms, std::vector<MeasurementForm>(2, MeasurementForm::kGroups));
  ASSERT_EQ(table.lines.size(), 8U);
  EXPECT_TRUE(table.lines[2].is_pair);
  EXPECT_EQ(table.lines[2].member, 1U);
  EXPECT_EQ(table.lines[4].member, 2U);
}

TEST(GroupTable, ReadsARowPerGroup) {
  const Measurements table = read(kProcesses);
  EXPECT_EQ(table.speeds.rows.size(), 1U);
  EXPECT_EQ(table.speeds.rows[0].speed_b, 0.7);
  ASSERT_EQ(table.speeds.groups.size(), 1U);
  EXPECT_EQ(table.speeds.groups[0].jobs.size(), 4U);
  EXPECT_EQ(table.speeds.sharing(), Sharing::kMps);
  EXPECT_EQ(table.lines.size(), 2U);
  EXPECT_TRUE(read("group,gpu,sharing,k,job\n1,A,,3,x\n").speeds.groups[0].sharing ==
              Sharing::kUnknown);
}

TEST(GroupTable, JobsOfThePlainModeHaveTheirNameAlone) {
  const test::TemporaryDirectory folder;
  WorkloadKeys keys;
  const Measurements table =
      read_measurements(folder.write("g.csv", kMembers), keys, CorunsAs::kSpeeds, Sharing::kMps);
  EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b", "a (time-slicing)"}));
}

TEST(GroupTable, GroupsOfSeveralGpuTypesAndModes) {
  const std::string text = kHead +
                           "g1,A100,MPS,a,A,7,10,0.7\ng1,A100,MPS,a,A,7,10,0.7\n"
                           "g2,V100,MPS,a,A,7,8,0.6\ng2,V100,MPS,a,A,7,8,0.6\n"
                           "g3,,,a,A,7,8,0.6\ng3,,,a,A,7,8,0.6\ng3,,,a,A,7,8,0.6\n";
  const Measurements table = read(text);
  EXPECT_EQ(table.names, (std::vector<std::string>{"a (MPS)", "a"}));
  EXPECT_EQ(table.speeds.campaigns,
            (std::vector<SpeedTable::Campaign>{campaign_on("A100", Sharing::kMps),
                                               campaign_on("V100", Sharing::kMps),
                                               {"", Sharing::kUnknown}}));
  ASSERT_EQ(table.speeds.rows.size(), 2U);
  EXPECT_EQ(table.speeds.rows[1].campaign, 1U);
  EXPECT_EQ(table.speeds.groups[0].campaign, 2U);
  EXPECT_EQ(table.gpu, "");
  EXPECT_NE(refusal(text + "g4,V100,MPS,a,A,7,9,0.6\n").find("expected 8, which job 'a (MPS)'"),
            std::string::npos);
}

TEST(GroupTable, JoinsPairs) {
  WorkloadKeys keys;
  std::istringstream pairs(
      "job_a,solo_gpu_util_a,solo_gmem_util_a,solo_gmem_mib_a,model_a,norm_a,job_b,solo_gpu_util_b,"
      "solo_gmem_util_b,solo_gmem_mib_b,model_b,norm_b\np,40,20,2000,P,0.9,q,60,30,3000,Q,0.8\n");
  Measurements all = read_measurements(pairs, "p.csv", keys);
  std::istringstream groups(kMembers);
  append(all, read_measurements(groups, "g.csv", keys), keys);
  EXPECT_EQ(all.names.size(), 5U);
  ASSERT_EQ(all.speeds.rows.size(), 2U);
  EXPECT_EQ(all.scored.size(), 2U);
  EXPECT_EQ(all.speeds.rows[1].a, 2U);
  EXPECT_EQ(all.speeds.rows[1].campaign, 1U);
  ASSERT_EQ(all.speeds.groups.size(), 2U);
  EXPECT_EQ(all.speeds.groups[0].jobs, (std::vector<std::uint32_t>{2, 2, 3}));
  EXPECT_EQ(all.speeds.groups[1].campaign, 2U);
  EXPECT_EQ(all.speeds.features.size(), 7U);
  EXPECT_EQ(all.speeds.values.size(), 5U * 7U);
  EXPECT_EQ(all.source, "p.csv, g.csv");
  // Programs come along, and jobs of the other table have none.
  std::istringstream with_batches("group,gpu,sharing,k,job,model,bs\n0,A100,MPS,3,z,Z,8\n");
  append(all, read_measurements(with_batches, "b.csv", keys), keys);
  ASSERT_EQ(all.names.size(), 6U);
  EXPECT_EQ(all.speeds.program_of(0), 0U);
  EXPECT_EQ(all.speeds.program_of(2), 0U);
  EXPECT_NE(all.speeds.program_of(5), 0U);
}

// Equal batch sizes of one model are one program; the number itself goes nowhere.
TEST(GroupTable, BatchSizesTellPrograms) {
  const std::string head = "group,gpu,sharing,k,job,model,bs,norm\n";
  const Measurements table = read(head +
                                  "0,A100,MPS,2,a-small,A,8,0.7\n"
                                  "1,A100,MPS,2,a-large,A,8,0.8\n"
                                  "2,A100,MPS,2,a-other,A,16,0.8\n"
                                  "3,A100,MPS,2,b,B,8,0.8\n"
                                  "4,A100,MPS,2,c,,8,0.8\n"
                                  "5,A100,MPS,2,d,A,,0.8\n");
  const std::vector<std::uint64_t>& programs = table.speeds.programs;
  ASSERT_EQ(programs.size(), 6U);
  EXPECT_EQ(programs[0], programs[1]);
  EXPECT_NE(programs[0], programs[2]);
  EXPECT_NE(programs[0], programs[3]);
  EXPECT_NE(programs[0], 0U);
  EXPECT_EQ(programs[4], 0U);
  EXPECT_EQ(programs[5], 0U);
  EXPECT_EQ(read(kProcesses).speeds.program_of(0), 0U);
}

TEST(GroupTable, RefusesInOneLine) {
  const struct {
    std::string text, says;
  } cases[] = {
      {"", "empty"},
      {kHead, "g.csv:1:1: no rows"},
      {"group,gpu,sharing\n1,a,b\n", "no column 'job'"},
      {"group,gpu,Sharing,job\n1,a,b,c\n", "did you mean it by 'Sharing'"},
      {kHead + "g,A,MPS,a,,,,0.5\n", "g.csv:2:1: group 'g' has one job"},
      {kHead + "g,A,by luck,a,,,,0.5\n", "g.csv:2:5: column 'sharing' is 'by luck'"},
      {kHead + "g,A,MPS,a,,,,0.5\ng,A,,a,,,,0.5\n", "g.csv:3:"},
      {kHead + "g,A,MPS,a,,,,0.5\ng,B,MPS,a,,,,0.5\n",
       "column 'gpu' is 'B', expected 'A', as on line 2 of the same group"},
      {kHead + "g,A,MPS,a,,,,0\n", "does not fit"},
      {kHead + "g,A,MPS,a,,,,70\n", "a percentage or a slowdown?"},
      {kHead + "g,A,MPS,a,,,,nan\n", "g.csv:2:14"},
      {kHead + "g,A,MPS,a,,8,,0.5\n", "from 1 to 7"},
      {kHead + "g,A,MPS,a,,7,2,0.5\ng,A,MPS,a,,7,3,0.5\n", "expected 2, which job 'a (MPS)'"},
      {kHead + "g,A,MPS,,,,,0.5\n", "the name of a job"},
      {"group,gpu,sharing,k,job\n1,A,MPS,1,x\n", "from 2 to 64"},
      {"group,gpu,sharing,k,job\n1,A,MPS,65,x\n", "from 2 to 64"},
      {"group,gpu,sharing,k,job\n1,A,MPS,2,x\n1,A,MPS,3,x\n", "stands on line 2, too"},
  };
  for (const auto& c : cases) {
    const std::string found = refusal(c.text);
    EXPECT_NE(found.find(c.says), std::string::npos) << c.says << "\n" << found;
    EXPECT_EQ(found.find('\n'), std::string::npos);
  }
  std::string many = kHead;
  for (int line = 0; line < 1000; ++line) many += "g,A,MPS,a,,,,0.5\n";
  EXPECT_NE(refusal(many).find("more than 64 jobs"), std::string::npos);
}

TEST(GroupTable, PredictionsAreNotWrittenTwice) {
  const Measurements table = read("group,gpu,sharing,k,job,pred_norm\n1,A,MPS,3,x,0.5\n");
  std::ostringstream out;
  EXPECT_THROW(write_predictions(out, table, std::vector<std::vector<double>>(1, {1, 1})),
               InputError);
}

}  // namespace
}  // namespace corun::group_table_test
