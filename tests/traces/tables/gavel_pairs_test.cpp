#include "traces/tables/gavel_pairs.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/public_data.hpp"
#include "tests/helpers/temporary_directory.hpp"
#include "traces/csv_reader.hpp"

/// Gavel's rates as tables of pairs and of single jobs.
namespace corun::gavel_pairs_test {
namespace {

// The file has the pair of A and B under B first; types of two GPUs are not in a pair of one GPU.
const std::string kRates = R"json({
 "p100": {"('A (batch size 16)', 1)": {"null": 2}},
 "v100": {
  "('B, \"x\"', 1)": {"null": 4, "('A (batch size 16)', 1)": [3, 8], "('B, \"x\"', 1)": [0, 0]},
  "('A (batch size 16)', 1)": {"null": 8.125, "('A (batch size 16)', 1)": [8.125, 8.125]},
  "('A (batch size 16)', 2)": {"null": 9, "('B, \"x\"', 1)": [4.5, 2]}
 }
})json";

GavelThroughputs rates(const std::string& text, std::string_view gpu = "v100") {
  static WorkloadKeys keys;
  return parse_gavel_throughputs(text, "r.json", gpu, keys);
}

TEST(GavelPairs, EachPairOfOneGpuOnceInTheFilesOrder) {
  std::ostringstream out;
  EXPECT_EQ(write_gavel_pairs(out, rates(kRates)), 3U);
  const std::string b = R"("B, ""x""","B, ""x""",-1)";
  const std::string a = "A (batch size 16),A,16";
  const std::string text = out.str();
  EXPECT_EQ(
      text.substr(text.find('\n') + 1),
      "v100," + b + "," + b + ",4.0,,,4.0,,,0.0,0.0,1,0.0,,0,0.0,,0,0.0\n" + "v100," + b + "," + a +
          ",4.0,,,8.125,2.0,,3.0,8.0,0,0.75,33.3333,0,0.984615,1.5625,0,1.734615\n" + "v100," + a +
          "," + a + ",8.125,2.0,,8.125,2.0,,8.125,8.125,0,1.0,0.0,1,1.0,0.0,1,2.0\n");
}

TEST(GavelPairs, SoloHasTheJobsOfOneGpu) {
  std::ostringstream out;
  EXPECT_EQ(write_gavel_solo(out, rates(kRates)), 2U);
  EXPECT_EQ(out.str(),
            "job,family,bs,solo_v100,solo_p100,solo_k80\n"
            "\"B, \"\"x\"\"\",\"B, \"\"x\"\"\",-1,4.0,,\n"
            "A (batch size 16),A,16,8.125,2.0,\n");
}

TEST(GavelPairs, AFileWithoutPairsIsRefused) {
  std::ostringstream out;
  try {
    write_gavel_pairs(out, rates(kRates, "p100"));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()),
              "r.json:1:1: found no pair of jobs of one GPU for 'p100', expected some; is the file "
              "whole?");
  }
}

TEST(GavelPairs, PublicTablesAreTheseByteForByte) {
  const std::string file = "gavel/simulation_throughputs.json";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  WorkloadKeys keys;
  for (const std::string gpu : {"v100", "p100", "k80"}) {
    const std::string table = "gavel/gavel_" + gpu + "_pairs.csv";
    if (!test::has_public_data(table)) GTEST_SKIP() << test::not_checked(table);
    std::ostringstream out;
    const auto read = read_gavel_throughputs(test::public_data(file), gpu, keys);
    EXPECT_EQ(write_gavel_pairs(out, read), 351U);
    EXPECT_TRUE(out.str() == test::read_file(test::public_data(table))) << gpu;
  }
}

// The public table of single jobs has lost the last digit of a few rates on its way.
TEST(GavelPairs, PublicTableOfSingleJobsIsThisToTheLastDigit) {
  const std::string file = "gavel/simulation_throughputs.json";
  const std::string table = "gavel/gavel_solo.csv";
  for (const std::string& needed : {file, table}) {
    if (!test::has_public_data(needed)) GTEST_SKIP() << test::not_checked(needed);
  }
  WorkloadKeys keys;
  std::ostringstream written;
  EXPECT_EQ(write_gavel_solo(written, read_gavel_throughputs(test::public_data(file), "k80", keys)),
            26U);
  std::istringstream in(written.str());
  CsvReader ours(in, "ours", {{"job", true}}, kAnyColumns);
  CsvReader theirs(test::public_data(table), {{"job", true}}, kAnyColumns);
  ASSERT_EQ(ours.header(), theirs.header());
  const std::vector<std::string> names = ours.header();
  while (theirs.next()) {
    ASSERT_TRUE(ours.next());
    for (const std::string& name : names) {
      const auto a = ours.add_column(name);
      const auto b = theirs.add_column(name);
      if (!name.starts_with("solo_")) {
        EXPECT_EQ(ours.text(a), theirs.text(b));
        continue;
      }
      const double expected = theirs.required_number(b, {"a rate"});
      EXPECT_NEAR(ours.required_number(a, {"a rate"}), expected, 1e-15 * expected) << ours.line();
    }
  }
  EXPECT_FALSE(ours.next());
}

}  // namespace
}  // namespace corun::gavel_pairs_test
