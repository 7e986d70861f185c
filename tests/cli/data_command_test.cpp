#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/inputs/public_data_sets.hpp"
#include "tests/helpers/program.hpp"
#include "tests/helpers/public_data.hpp"

namespace corun::data_command_test {
namespace {

using Json = nlohmann::json;
using test::run_corun;

const std::string kLucidRow =
    ",model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2,gpu_util,gmem_"
    "util,gmem\n"
    "0,Net,Set,32,0,0.8,Net,Set,32,0,0.8,64.789,29.461,5106\n";
const std::string kLucidJob =
    "model,dataset,batchsize,amp,speed,gpu_util,gmem_util,gmem,label\nNet,Set,32,0,5.0,12.5,3.0,"
    "2051.0,0\n";

TEST(DataCommand, ListsWithoutADirectory) {
  const test::TemporaryDirectory empty;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"data"}, {"data", "list"}}) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.end(), {"--data", empty.path(), "--format", "json"});
    const auto run = run_corun(arguments);
    ASSERT_EQ(run.code, 0) << run.err;
    const Json json = Json::parse(run.out);
    ASSERT_EQ(json["files"].size(), public_data_sets().size());
    for (const Json& file : json["files"]) {
      EXPECT_EQ(file["present"], false);
      EXPECT_EQ(file["checksum"], "-");
      EXPECT_TRUE(file["sha256"].is_null());
    }
  }
}

TEST(DataCommand, SaysWhatIsThereAndWhetherItIsTheSame) {
  const test::TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path("lucid"));
  directory.write("lucid/lucid_solo.csv", "not it\n");
  const auto csv = run_corun({"data", "--data", directory.path(), "--format", "csv"});
  ASSERT_EQ(csv.code, 0) << csv.err;
  EXPECT_EQ(
      csv.out.rfind(
          "file,holds,licence,repository,path,made,present,bytes,sha256,tested_sha256,checksum\n",
          0),
      0U);
  const std::size_t row = csv.out.find("\nlucid/lucid_solo.csv,");
  ASSERT_NE(row, std::string::npos);
  const std::string line = csv.out.substr(row + 1, csv.out.find('\n', row + 1) - row - 1);
  EXPECT_NE(line.find(",corun data derive lucid,1,7,"), std::string::npos) << line;
  EXPECT_TRUE(line.ends_with(",different")) << line;
  const auto table = run_corun({"data", "--data", directory.path()});
  EXPECT_NE(table.out.find(std::to_string(public_data_sets().size()) + " files, 1 present in " +
                           directory.path() + ", 0 of them as corun was tested with\n"),
            std::string::npos)
      << table.out;
}

TEST(DataCommand, DerivesLucidsTables) {
  const test::TemporaryDirectory directory;
  directory.write("c.csv", kLucidRow);
  directory.write("s.csv", kLucidJob);
  const auto run = run_corun({"data", "derive", "lucid", "--from", "c.csv", "--solo", "s.csv",
                              "--out", "new/lucid", "--format", "csv"},
                             directory.path());
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out.rfind("file,rows,sha256,checksum\nnew/lucid/lucid_pairs.csv,1,", 0), 0U)
      << run.out;
  EXPECT_NE(run.out.find(",different\nnew/lucid/lucid_solo.csv,1,"), std::string::npos) << run.out;
  EXPECT_EQ(test::read_file(directory.path("new/lucid/lucid_solo.csv")),
            "job,model,dataset,batchsize,amp,speed,gpu_util,gmem_util,gmem,label\n"
            "Net|Set|32|0,Net,Set,32,0,5.0,12.5,3.0,2051.0,0\n");
  const std::string pairs = test::read_file(directory.path("new/lucid/lucid_pairs.csv"));
  EXPECT_NE(pairs.find("\n0,Net|Set|32|0,Net,Set,32,0,5.0,12.5,3.0,2051.0,0,0.8,25.0,"),
            std::string::npos);

  const auto alone =
      run_corun({"data", "derive", "lucid", "--from", "c.csv", "--out", "alone"}, directory.path());
  EXPECT_EQ(alone.code, 0);
  EXPECT_NE(alone.err.find("note: without --solo"), std::string::npos) << alone.err;
  EXPECT_FALSE(std::filesystem::exists(directory.path("alone/lucid_solo.csv")));
}

TEST(DataCommand, DerivesGavelsTables) {
  const std::string file = "gavel/simulation_throughputs.json";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  const test::TemporaryDirectory directory;
  const auto run =
      run_corun({"data", "derive", "gavel", "--from", file, "--out", directory.path("out"),
                 "--data", test::public_data("."), "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Json json = Json::parse(run.out);
  ASSERT_EQ(json.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(json[i]["rows"], 351);
    EXPECT_EQ(json[i]["checksum"], "same") << json[i];
  }
  EXPECT_EQ(json[3]["file"], directory.path("out/gavel_solo.csv"));
  EXPECT_EQ(json[3]["checksum"], "-");
}

TEST(DataCommand, RefusesInOneLine) {
  const test::TemporaryDirectory directory;
  directory.write("c.csv", kLucidRow);
  directory.write("bad.csv", kLucidRow + "1,Net,Set,32,0,fast,Net,Set,32,0,0.8,1,1,1\n");
  directory.write("lucid_solo.csv", kLucidJob);
  directory.write("r.json", "{\"v100\": {\"('A', 1)\": {\"null\": -1}}}");
  const auto refused = [&](const std::vector<std::string>& words, const std::string& begin) {
    std::vector<std::string> arguments{"data"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const auto run = run_corun(arguments, directory.path());
    EXPECT_EQ(run.code, 2) << begin;
    EXPECT_EQ(run.out, "") << begin;
    EXPECT_EQ(run.err.rfind(begin, 0), 0U) << run.err;
    EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << run.err;
  };
  refused({"deriv"}, "corun data: no word 'deriv': did you mean 'derive'?");
  refused({"--dat"}, "--dat: no such option of corun data list; did you mean");
  refused({"--data", "none"}, "--data: 'none' is not a directory");
  refused({"derive"}, "corun data derive: needs a name: gavel or lucid");
  refused({"derive", "lucd"}, "corun data derive: no data set 'lucd': did you mean 'lucid'?");
  refused({"derive", "lucid"}, "corun data derive: needs the authors' file; give --from FILE");
  refused({"derive", "lucid", "--from", "c.csv"},
          "corun data derive: needs a folder for its tables; give --out DIR");
  refused({"derive", "lucid", "--from", "none", "--out", "o"}, "--from: no file 'none'");
  refused({"derive", "gavel", "--from", "r.json", "--solo", "c.csv", "--out", "o"},
          "--solo: is for lucid");
  refused({"derive", "gavel", "--from", "r.json", "--out", "o"},
          "r.json:1:32: found -1, expected a rate");
  refused({"derive", "lucid", "-q", "--from", "bad.csv", "--out", "o"},
          "bad.csv:3:16: column 'speed1' is 'fast'");
  EXPECT_FALSE(std::filesystem::exists(directory.path("o")))
      << "nothing is made for what is refused";
  refused({"derive", "lucid", "-q", "--from", "c.csv", "--out", "c.csv"}, "--out: ");
  refused({"derive", "lucid", "--from", "c.csv", "--solo", "lucid_solo.csv", "--out", "."},
          "--out: ");
  EXPECT_EQ(test::read_file(directory.path("lucid_solo.csv")), kLucidJob);
  EXPECT_FALSE(std::filesystem::exists(directory.path("lucid_pairs.csv")));
}

}  // namespace
}  // namespace corun::data_command_test
