#include "traces/tables/lucid_colocation.hpp"

#include <functional>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/public_data.hpp"
#include "tests/helpers/temporary_directory.hpp"
#include "traces/csv_reader.hpp"
#include "traces/tables/lucid_pairs.hpp"
#include "traces/tables/measurements.hpp"

/// Lucid's own tables in the form that corun reads.
namespace corun::lucid_colocation_test {
namespace {

const std::string kHeader =
    ",model1,dataset1,gpu_num1,batchsize1,amp1,speed1,model2,dataset2,gpu_num2,batchsize2,amp2,"
    "speed2,"
    "gpu_util,gmem_util,gmem\n";
const std::string kPair = "0,Net,Set,1,32,0,0.8,Other,\"Set, 2\",1,64,1,1.034,64.789,29.461,5106\n";
const std::string kSelf = "1,Net,Set,1,32,0,0.5,Net,Set,1,32,0,0.50,99.5,,\n";
const std::string kSoloHeader = "model,dataset,batchsize,amp,speed,gpu_util,gmem_util,gmem,label\n";
const std::string kSolo =
    "Net,Set,32,0,1304.503,45.409,19.727,2694.0,0\nOther,\"Set, 2\",64,1,5.0,12.0,0.0,2051.0,2\n";

std::string pairs_of(const std::string& colocation, const std::string& solo = "") {
  const test::TemporaryDirectory directory;
  std::ostringstream out;
  const std::string path = directory.write("c.csv", colocation);
  if (solo.empty()) {
    write_lucid_pairs(out, path, nullptr);
  } else {
    const LucidSolo table = read_lucid_solo(directory.write("s.csv", solo));
    write_lucid_pairs(out, path, &table);
  }
  return out.str();
}

/// Message of a mistake, without the path.
std::string refusal(const std::string& colocation, const std::string& solo = "") {
  try {
    pairs_of(colocation, solo);
  } catch (const InputError& e) {
    const std::string text = e.what();
    const std::size_t at = text.find(".csv:");
    return at == std::string::npos ? text : text.substr(at - 1);
  }
  return "accepted";
}

/// A pair whose second job has this speed.
std::string with_second_speed(const std::string& speed) {
  std::string row = "0,Net,Set,1,32,0,1,Net,Set,1,32,0,";
  row.append(speed).append(",1,1,1\n");
  return row;
}

TEST(LucidColocation, RowsWithWhatJobsShowAlone) {
  const std::string text = pairs_of(kHeader + kPair + kSelf, kSoloHeader + kSolo);
  const std::string net = "Net|Set|32|0,Net,Set,32,0,1304.503,45.409,19.727,2694.0,0";
  const std::string other = "\"Other|Set, 2|64|1\",Other,\"Set, 2\",64,1,5.0,12.0,0.0,2051.0,2";
  EXPECT_EQ(text.substr(text.find('\n') + 1),
            "0," + net + ",0.8,25.0," + other + ",1.034,-3.2882,64.789,29.461,5106\n" + "1," + net +
                ",0.5,100.0," + net + ",0.50,100.0,99.5,,\n");
}

TEST(LucidColocation, WithoutATableOfSingleJobsTheirColumnsAreEmpty) {
  const std::string text = pairs_of(kHeader + kSelf);
  EXPECT_EQ(text.substr(text.find('\n') + 1),
            "0,Net|Set|32|0,Net,Set,32,0,,,,,,0.5,100.0,Net|Set|32|0,Net,Set,32,0,,,,,,0.50,100.0,"
            "99.5,,\n");
}

TEST(LucidColocation, WhatIsWrittenReadsAsTheOriginal) {
  const test::TemporaryDirectory directory;
  const std::string original = directory.write("c.csv", kHeader + kPair + kSelf);
  const std::string derived =
      directory.write("p.csv", pairs_of(kHeader + kPair + kSelf, kSoloHeader + kSolo));
  WorkloadKeys keys;
  const auto a = read_lucid_rates(original, keys);
  const auto b = read_lucid_rates(derived, keys);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].workloads, b[i].workloads);
    EXPECT_EQ(a[i].speeds, b[i].speeds);
  }
  const Measurements table = read_measurements(derived, keys);
  EXPECT_EQ(table.names, (std::vector<std::string>{"Net|Set|32|0", "Other|Set, 2|64|1"}));
}

TEST(LucidColocation, MistakesAreNamedByPlace) {
  EXPECT_EQ(
      refusal(kHeader + "0,Net,Set,1,32,0,zero,Net,Set,1,32,0,1,1,1,1\n").rfind("c.csv:2:18: ", 0),
      0U)
      << refusal(kHeader + "0,Net,Set,1,32,0,zero,Net,Set,1,32,0,1,1,1,1\n");
  for (const std::string speed : {"0", "-1", "11", "nan", ""}) {
    const std::string said = refusal(kHeader + kPair + with_second_speed(speed));
    EXPECT_EQ(said.rfind("c.csv:3:35: ", 0), 0U) << said;
  }
  EXPECT_EQ(refusal(kHeader + "0,,Set,1,32,0,1,Net,Set,1,32,0,1,1,1,1\n").rfind("c.csv:2:3: ", 0),
            0U);
  EXPECT_EQ(
      refusal(kHeader + "0,Net,Set,1,32,0,1,Net,Set,1,32,0,1,101,1,1\n").rfind("c.csv:2:37: ", 0),
      0U);
  EXPECT_EQ(refusal(kHeader + "0,Net\n").rfind("c.csv:2:", 0), 0U);
  EXPECT_EQ(refusal(kHeader),
            "c.csv:1:1: no rows after the header, expected one per pair; is it whole?");
  EXPECT_NE(refusal("a,b\n1,2\n").find("model1"), std::string::npos);
  EXPECT_EQ(
      refusal(kHeader + kPair, kSoloHeader + "Net,Set,32,0,1,1,1,1,0\n"),
      "c.csv:2:22: found job 'Other|Set, 2|64|1', expected one of the table of single jobs; add it "
      "there, or read no such table");
  EXPECT_EQ(
      refusal(kHeader + kPair, kSoloHeader + kSolo + "Net,Set,32,0,1,1,1,1,0\n"),
      "s.csv:4:1: found job 'Net|Set|32|0' a second time, expected each once; remove one of them");
  EXPECT_EQ(
      refusal(kHeader + kPair, kSoloHeader + "Net,Set,32,0,1,1,1,1,3\n").rfind("s.csv:2:22: ", 0),
      0U);
  EXPECT_EQ(refusal(kHeader + kPair, kSoloHeader),
            "s.csv:1:1: no rows after the header, expected one per job; is it whole?");
}

/// The public table in the form of colocate_info.csv.
std::string as_colocation(const std::string& path, std::string& ids) {
  CsvReader csv(path, {}, kAnyColumns);
  const auto text = [&](const char* name) { return csv_text(csv.text(csv.add_column(name))); };
  std::string out = kHeader;
  while (csv.next()) {
    out += text("pair_id");
    ids += text("pair_id") + "\n";
    for (const std::string side : {"_a", "_b"}) {
      const auto of = [&](const char* stem) { return ',' + text((stem + side).c_str()); };
      out += of("model") + of("dataset") + ",1" + of("bs") + of("amp") + of("norm");
    }
    out += ',' + text("corun_gpu_util") + ',' + text("corun_gmem_util") + ',' +
           text("corun_gmem_mib") + '\n';
  }
  return out;
}

// Only the row numbers differ: the public table is a part of Lucid's.
TEST(LucidColocation, PublicTablesComeBackFromLucidsForm) {
  const std::string pairs = "lucid/lucid_pairs.csv";
  const std::string singles = "lucid/lucid_solo.csv";
  for (const std::string& file : {pairs, singles}) {
    if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  }
  const LucidSolo solo = read_lucid_solo(test::public_data(singles));
  EXPECT_EQ(solo.jobs.size(), 66U);
  std::ostringstream again;
  write_lucid_solo(again, solo);
  EXPECT_TRUE(again.str() == test::read_file(test::public_data(singles)));

  const test::TemporaryDirectory directory;
  std::string ids;
  const std::string colocation =
      directory.write("c.csv", as_colocation(test::public_data(pairs), ids));
  std::ostringstream derived;
  EXPECT_EQ(write_lucid_pairs(derived, colocation, &solo), 982U);
  std::istringstream ours(derived.str());
  std::istringstream theirs(test::read_file(test::public_data(pairs)));
  std::istringstream id(ids);
  std::string a;
  std::string b;
  std::getline(ours, a);
  std::getline(theirs, b);
  EXPECT_EQ(a, b);
  for (std::string number; std::getline(id, number);) {
    std::getline(ours, a);
    std::getline(theirs, b);
    ASSERT_EQ(number + a.substr(a.find(',')), b);
  }
}

}  // namespace
}  // namespace corun::lucid_colocation_test
