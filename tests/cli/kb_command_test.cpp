#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "evaluation/paper_sections/cluster_variants.hpp"
#include "evaluation/paper_sections/leave_one_pair_out.hpp"
#include "evaluation/paper_sections/paper_groups.hpp"
#include "knowledge/corun_learning.hpp"
#include "knowledge/knowledge_file.hpp"
#include "knowledge/profile_clustering.hpp"
#include "sim/error.hpp"
#include "tests/helpers/gzip.hpp"
#include "tests/helpers/program.hpp"
#include "tests/helpers/public_data.hpp"
#include "traces/csv_reader.hpp"
#include "traces/measured/paper_tables.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::kb_command_test {
namespace {

using Json = nlohmann::json;

const std::string kSource = CORUN_SOURCE_DIR;

const std::string kDataSet = "alnair/alnair_dataset.csv";

std::string data_directory() { return test::public_data("."); }

#define NEED_DATA_SET() \
  if (!test::has_public_data(kDataSet)) GTEST_SKIP() << test::not_checked(kDataSet)

ProfileTable data_set() { return read_profile_csv(test::public_data(kDataSet)); }

// ---- from raw profiles to recommendations -------------------------------------------------------

/// The groups that `corun recommend` prints, each sorted.
std::set<std::vector<std::string>> groups_of(const Json& json) {
  std::set<std::vector<std::string>> groups;
  for (const Json& group : json["groups"]) {
    auto jobs = group["jobs"].get<std::vector<std::string>>();
    std::sort(jobs.begin(), jobs.end());
    groups.insert(jobs);
  }
  return groups;
}

std::size_t printed_groups(const Json& json, std::string_view table) {
  const auto ours = groups_of(json);
  std::size_t found = 0;
  for (PaperScheduleGroup group : paper_schedule(table).groups) {
    std::sort(group.jobs.begin(), group.jobs.end());
    found += ours.count(group.jobs);
  }
  return found;
}

/// A knowledge base of this table of co-runs over the printed clusters, from the raw data set.
std::string build_printed(const test::TemporaryDirectory& directory, const std::string& coruns) {
  std::string path = directory.path(coruns + ".kb.yaml");
  const auto built = test::run_corun(
      {"kb", "build", "--data", data_directory(), "--profiles", "alnair/alnair_dataset.csv",
       "--synthetic", "paper", "--centres", kSource + "/experiments/jrs/centres-labels.csv",
       "--distance-centres", kSource + "/experiments/jrs/centres-distances.csv", "--coruns", coruns,
       "--output", path});
  EXPECT_EQ(built.code, 0) << built.err;
  EXPECT_NE(built.out.find("a fixed point"), std::string::npos) << built.out;
  return path;
}

TEST(KbEndToEnd, FromRawProfilesComeTablesFourAndSeven) {
  NEED_DATA_SET();
  const test::TemporaryDirectory directory;
  struct Case {
    std::string coruns, objective, pairing, table;
    std::size_t alone;  ///< groups found without overrides
  };
  for (const Case& c : {Case{"jrs", "min-slowdown", "matching", "JRS-IV", 8},
                        Case{"prirect", "balance", "greedy-rank", "JRS-VII", 7}}) {
    const std::string kb = build_printed(directory, c.coruns);
    const std::vector<std::string> command{"recommend", "--queue",     "jrs-queue", "--kb",
                                           kb,          "--objective", c.objective, "--pairing",
                                           c.pairing,   "--format",    "json"};
    std::vector<std::string> with = command;
    with.insert(with.end(), {"--overrides", kSource + "/experiments/jrs/overrides.csv"});
    const auto overridden = test::run_corun(with);
    ASSERT_EQ(overridden.code, 0) << overridden.err;
    const Json json = Json::parse(overridden.out);
    EXPECT_EQ(printed_groups(json, c.table), 12u) << c.table;
    // The output names the jobs with overrides.
    std::size_t named = 0;
    for (const Json& group : json["groups"]) {
      named += group["overridden"].size();
      if (!group["overridden"].empty()) {
        EXPECT_NE(group["reason"].get<std::string>().find("by --overrides"), std::string::npos);
      }
    }
    EXPECT_EQ(named, 5u);
    EXPECT_NE(overridden.err.find("5 of 24 jobs take their cluster or uncertainty from"),
              std::string::npos)
        << overridden.err;
    const auto bare = test::run_corun(command);
    ASSERT_EQ(bare.code, 0) << bare.err;
    EXPECT_EQ(printed_groups(Json::parse(bare.out), c.table), c.alone) << c.table;
    EXPECT_NE(bare.out.find("no profile of J"), std::string::npos) << bare.out;
  }
}

TEST(KbEndToEnd, TheQueueAsATableOfGeneratedProfiles) {
  NEED_DATA_SET();
  // The embedded queue's profiles are transcribed; those generated from the data set must be the same.
  const SampleSet samples = draw_samples(data_set(), {"paper", SampleAxis::kRow, 4});
  const std::vector<Profile> generated = queue_profiles(samples);
  WorkloadKeys keys;
  const Trace queue = jrs_queue_trace(keys);
  ASSERT_EQ(generated.size(), queue.jobs.size());
  for (std::size_t j = 0; j < generated.size(); ++j) {
    const Profile& embedded = queue.jobs[j].spec.profile;
    if (embedded.imputed) {
      EXPECT_FALSE(has_features(generated[j])) << queue.jobs[j].name;
      continue;
    }
    ASSERT_TRUE(has_features(generated[j])) << queue.jobs[j].name;
    EXPECT_NEAR(*generated[j].gpu_util_pct, *embedded.gpu_util_pct, 0.011) << queue.jobs[j].name;
    EXPECT_NEAR(*generated[j].mem_alloc_pct, *embedded.mem_alloc_pct, 0.011) << queue.jobs[j].name;
    EXPECT_NEAR(*generated[j].mem_time_pct, *embedded.mem_time_pct, 0.011) << queue.jobs[j].name;
  }
}

TEST(KbEndToEnd, EveryPrintedDistanceOfAProfiledJob) {
  NEED_DATA_SET();
  const SampleSet samples = draw_samples(data_set(), {"paper", SampleAxis::kRow, 4});
  ClusteringOptions options;
  options.start = printed_clusters().centres;
  const Clusters labels = cluster_samples(samples, options).clusters;
  Clusters clusters = labels;
  clusters.distance_centres = cluster_samples(samples, {}).clusters.centres;
  EXPECT_EQ(printed_labels_kept(clusters), 52u);
  std::map<std::string, Profile> by_name;
  for (std::size_t i = 0; i < samples.names.size(); ++i) {
    by_name[samples.names[i]] = samples.profiles[i];
  }
  int checked = 0;
  const auto check = [&](std::string_view model, int batch_size, double printed) {
    const std::string name = std::string(model) + "-" + std::to_string(batch_size);
    if (std::isnan(printed) || !by_name.contains(name)) return;
    if (name == "InceptionV3-869") return;  // carries another job's distance
    EXPECT_NEAR(assign_cluster(clusters, by_name[name]).all_centres, printed, 0.1) << name;
    ++checked;
  };
  for (const auto pairs : {jrs_pairs(), prirect_pairs()}) {
    for (const PaperPair& pair : pairs) {
      for (const PaperSide* s : {&pair.a, &pair.b}) check(s->model, s->batch_size, s->uncertainty);
    }
  }
  for (const QueueJob& job : jrs_queue()) check(job.model, job.batch_size, job.uncertainty);
  EXPECT_GT(checked, 100);
}

TEST(KbEvaluation, AnotherAnalystGetsOtherRecommendations) {
  NEED_DATA_SET();
  const std::vector<ClusterVariant> variants = cluster_variants(data_set());
  ASSERT_GE(variants.size(), 8u);
  EXPECT_EQ(variants[0].labels, 52u);
  EXPECT_EQ(variants[0].table_iv, 12u);
  EXPECT_EQ(variants[0].table_vii, 12u);
  EXPECT_EQ(variants[1].labels, 48u);
  EXPECT_NEAR(variants[1].inertia, 105469, 1);
  for (std::size_t i = 1; i < variants.size(); ++i) {
    // No other clustering reproduces even half of either table.
    EXPECT_LT(variants[i].table_iv, 6u) << variants[i].name;
    EXPECT_LT(variants[i].table_vii, 6u) << variants[i].name;
    // None predicts ISD much better or worse: the recommendations depend on ties.
    EXPECT_NEAR(variants[i].mae, variants[0].mae, 0.015) << variants[i].name;
  }
}

TEST(KbEvaluation, IntervalsCoverWhatTheyPromise) {
  WorkloadKeys keys;
  const auto jrs = paper_measurements(keys, kJrsKnowledgeBase);
  auto both = jrs;
  for (const auto& row : paper_measurements(keys, kPrirectKnowledgeBase)) both.push_back(row);
  const LeaveOneOut l = leave_one_pair_out(both, paper_clusters(), Labels::kPrinted);
  EXPECT_EQ(l.pairs, 78u);
  EXPECT_EQ(l.intervals_isd, 156u);
  EXPECT_GE(l.covered_isd(), 0.85);
  EXPECT_LE(l.covered_isd(), 0.97);
  EXPECT_GE(l.covered_ps(), 0.85);
  // So few pairs do not distinguish cluster means from one overall mean.
  EXPECT_LT(l.gain.lo, 0);
  EXPECT_GT(l.gain.hi, 0);
  EXPECT_NEAR(l.gain.mean, l.mae_isd_overall - l.mae_isd, 1e-12);
}

TEST(KbEval, SectionsAnswerTheClaims) {
  NEED_DATA_SET();
  const auto section = [](const std::string& name) {
    const auto run =
        test::run_corun({"kb", "eval", name, "--data", data_directory(), "--format", "json"});
    EXPECT_EQ(run.code, 0) << run.err;
    return Json::parse(run.out);
  };
  const Json synthetic = section("synthetic");
  EXPECT_GE(4 * synthetic["table_two"][0]["agree"].get<int>(),
            3 * synthetic["table_two"][0]["printed"].get<int>());
  EXPECT_TRUE(synthetic["claims"][0]["holds"].get<bool>());
  const Json clusters = section("clusters");
  EXPECT_EQ(clusters["elbow"], 3);
  for (const Json& claim : clusters["claims"]) EXPECT_TRUE(claim["holds"].get<bool>()) << claim;
  EXPECT_EQ(clusters["table_iv"]["with_overrides"], 12);
  EXPECT_EQ(clusters["table_vii"]["with_overrides"], 12);
  const Json interference = section("interference");
  EXPECT_FALSE(interference["claims"][0]["holds"].get<bool>()) << "1 beside 2 is not the least ISD";
  EXPECT_TRUE(interference["claims"][1]["holds"].get<bool>()) << "1 with 2 saves the most";
  const Json privacy = section("privacy");
  EXPECT_FALSE(privacy["claims"][0]["holds"].get<bool>());
}

TEST(KbEval, MemoryAccessTellsMostOfUtilisation) {
  NEED_DATA_SET();
  const auto run =
      test::run_corun({"kb", "eval", "features", "--data", data_directory(), "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["rankings"]["utilisation_without_its_parts"]["attributes"][0]["attribute"],
            "MaGTSAMP");
  const std::vector<bool> expected{true, false, true, true};
  ASSERT_EQ(json["claims"].size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(json["claims"][i]["holds"].get<bool>(), expected[i]) << json["claims"][i];
  }
}

// ---- the words of the command -------------------------------------------------------------------

TEST(KbCommand, BuildUpdateShowRecommend) {
  const test::TemporaryDirectory directory;
  const std::string kb = directory.path("kb.yaml");
  const std::string coruns = kSource + "/examples/mine.corun.csv";
  ASSERT_EQ(test::run_corun({"kb", "build", "-o", kb}).code, 0);
  EXPECT_EQ(read_knowledge_file(kb).kb.pairs_observed(), 0);
  const auto learnt = test::run_corun({"kb", "update", kb, "--coruns", coruns});
  ASSERT_EQ(learnt.code, 0) << learnt.err;
  EXPECT_EQ(read_knowledge_file(kb).kb.pairs_observed(), 6);
  // Learning the same file again changes nothing: a co-run counts once.
  const std::string before = test::read_file(kb);
  const auto again = test::run_corun({"kb", "update", kb, "--coruns", coruns});
  EXPECT_EQ(again.code, 0);
  EXPECT_NE(again.err.find("is already in"), std::string::npos) << again.err;
  EXPECT_EQ(test::read_file(kb), before);
  // Learning both tables at once equals learning one after the other.
  const std::string at_once = directory.path("at-once.yaml");
  ASSERT_EQ(test::run_corun({"kb", "build", "--coruns", coruns, "-o", at_once}).code, 0);
  EXPECT_EQ(test::read_file(at_once), before);
  // Knowledge bases of two machines, merged.
  const std::string other = directory.path("other.yaml");
  ASSERT_EQ(test::run_corun({"kb", "build", "--coruns", "jrs", "-o", other}).code, 0);
  const auto merged = test::run_corun({"kb", "update", kb, "--merge", other});
  ASSERT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(read_knowledge_file(kb).kb.pairs_observed(), 52);
  const auto twice = test::run_corun({"kb", "update", kb, "--merge", other});
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("both have learnt from jrs"), std::string::npos) << twice.err;
  const auto shown = test::run_corun({"kb", "show", kb, "--format", "json"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  const Json json = Json::parse(shown.out);
  EXPECT_EQ(json["pairs"], 52);
  EXPECT_EQ(json["isd"].size(), 9u);
  EXPECT_EQ(json["ps"].size(), 6u);
  const auto groups = test::run_corun(
      {"recommend", "--queue", kSource + "/examples/jobs.csv", "--kb", kb, "--format", "json"});
  EXPECT_EQ(groups.code, 0) << groups.err;
}

TEST(KbCommand, ACoRunCountsOnceUnderAnyName) {
  const test::TemporaryDirectory directory;
  const std::string bytes = test::read_file(kSource + "/examples/mine.corun.csv");
  const std::string one = directory.write("one.corun.csv", bytes);
  const std::string two = directory.write("two.corun.csv", bytes);
  const std::string a = directory.path("a.yaml");
  const std::string b = directory.path("b.yaml");
  ASSERT_EQ(test::run_corun({"kb", "build", "--coruns", one, "-o", a}).code, 0);
  ASSERT_EQ(test::run_corun({"kb", "build", "--coruns", two, "-o", b}).code, 0);
  const auto merged = test::run_corun({"kb", "update", a, "--merge", b});
  EXPECT_EQ(merged.code, 2);
  EXPECT_NE(merged.err.find("both have learnt from"), std::string::npos) << merged.err;
  EXPECT_NE(test::run_corun({"kb", "update", a, "--coruns", two}).err.find("is already in"),
            std::string::npos);
  // A file written by hand names no source, and the output says so.
  const auto by_hand = test::run_corun(
      {"kb", "build", "--like", kSource + "/examples/kb.yaml", "-o", directory.path("c.yaml")});
  ASSERT_EQ(by_hand.code, 0) << by_hand.err;
  const auto noted = test::run_corun(
      {"kb", "update", directory.path("c.yaml"), "--merge", kSource + "/examples/kb.yaml"});
  EXPECT_EQ(noted.code, 0) << noted.err;
  EXPECT_NE(noted.err.find("13 of its co-runs name no source"), std::string::npos) << noted.err;
}

/// examples/mine.corun.csv with its groups in reverse order under other names, without the columns session,
/// isd and source, and with other digits and line ends.
std::string rewritten_coruns() {
  std::istringstream lines(test::read_file(kSource + "/examples/mine.corun.csv"));
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> f;
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) f.push_back(field);
    const bool header = rows.empty();
    std::string row = (header ? "" : "g") + f[0];
    for (const std::size_t c : {4, 1, 2, 5, 6, 7, 8}) row += "," + f[c];
    rows.push_back(row + (header ? ",corun_s,solo_s" : "," + f[10] + "e0," + f[9] + ".00") +
                   "\r\n");
  }
  std::string text = rows.front();
  for (std::size_t r = rows.size() - 1; r >= 1; --r) text += rows[r];
  return text;
}

TEST(KbCommand, ACoRunCountsOnceInAnyForm) {
  const test::TemporaryDirectory directory;
  const std::string bytes = test::read_file(kSource + "/examples/mine.corun.csv");
  const std::string kb = directory.path("kb.yaml");
  ASSERT_EQ(
      test::run_corun({"kb", "build", "--coruns", directory.write("a.corun.csv", bytes), "-o", kb})
          .code,
      0);
  const std::string before = test::read_file(kb);
  std::string cr;
  for (const char c : bytes) cr += c == '\n' ? "\r\n" : std::string(1, c);
  for (const std::string& copy : {test::gzip(bytes), cr, rewritten_coruns()}) {
    const std::string path = directory.write("copy.corun.csv", copy);
    const auto again = test::run_corun({"kb", "update", kb, "--coruns", path});
    EXPECT_EQ(again.code, 0);
    EXPECT_NE(again.err.find("is already in"), std::string::npos) << copy << again.err;
    EXPECT_EQ(test::read_file(kb), before);
    const std::string other = directory.path("other.yaml");
    ASSERT_EQ(test::run_corun({"kb", "build", "--force", "--coruns", path, "-o", other}).code, 0);
    EXPECT_EQ(test::run_corun({"kb", "update", kb, "--merge", other}).code, 2);
  }
  // One other time is another table.
  std::string other = bytes;
  other.replace(other.find("268.8,0.0260"), 12, "268.9,0.0263");
  const auto learnt =
      test::run_corun({"kb", "update", kb, "--coruns", directory.write("b.corun.csv", other)});
  EXPECT_EQ(learnt.code, 0);
  EXPECT_EQ(learnt.err.find("is already in"), std::string::npos) << learnt.err;
  EXPECT_EQ(read_knowledge_file(kb).kb.pairs_observed(), 12);
}

// Of a table whose columns solo_s and corun_s are swapped.
TEST(KbCommand, CoRunsThatAreFasterThanAloneAreNoted) {
  const test::TemporaryDirectory directory;
  const std::string text =
      "group,gpu,sharing,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,solo_s,corun_s\n"
      "1,V100-16GB,time-slicing,a,50,10,20,100,50\n1,V100-16GB,time-slicing,b,60,10,20,100,50\n";
  directory.write("fast.corun.csv", text);
  const auto noted = [&](const std::vector<std::string>& arguments) {
    const auto run = test::run_corun(arguments, directory.path());
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.err.find("fast.corun.csv:2:1: here and in 0 other of 1 co-runs"),
              std::string::npos)
        << run.err;
  };
  noted({"kb", "build", "--coruns", "fast.corun.csv", "-o", "kb.yaml"});
  ASSERT_EQ(test::run_corun({"kb", "build", "-o", directory.path("kb2.yaml")}).code, 0);
  noted({"kb", "update", "kb2.yaml", "--coruns", "fast.corun.csv"});
  noted({"model", "fit", "--pairs", "fast.corun.csv", "--model", "measured", "--out", "m"});
  noted({"replay", "--policies", "fifo", "--set", "replications=1", "--set",
         "world.path=fast.corun.csv"});
}

// Knowledge written before co-runs had a digest of their own.
TEST(KbCommand, OlderKnowledgeKnowsItsFilesByTheirBytes) {
  const test::TemporaryDirectory directory;
  const std::string kb = directory.path("kb.yaml");
  const std::string coruns = kSource + "/examples/mine.corun.csv";
  ASSERT_EQ(test::run_corun({"kb", "build", "--coruns", coruns, "-o", kb}).code, 0);
  std::string text = test::read_file(kb);
  const std::size_t rows = text.find(", rows_sha256: ");
  ASSERT_NE(rows, std::string::npos);
  text.erase(rows, text.find(", pairs:") - rows);
  text.erase(text.find("  # sha256"));  // of the text before
  directory.write("kb.yaml", text + "\n");
  const auto again = test::run_corun({"kb", "update", kb, "--coruns", coruns});
  EXPECT_NE(again.err.find("is already in"), std::string::npos) << again.err;
  EXPECT_TRUE(test::read_file(kb).starts_with(text + "  # sha256 "));
}

TEST(KbCommand, WhereItWasMeasuredIsKeptAndSaid) {
  const test::TemporaryDirectory directory;
  const std::string header =
      "group,gpu,sharing,session,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,"
      "solo_s,corun_s,isd,source\n";
  const auto rows = [&](const std::string& gpu) {
    return header + "1," + gpu + ",mps,s,a,80,50,40,,100,120,,x\n1," + gpu +
           ",mps,s,b,20,10,5,,100,110,,x\n";
  };
  const std::string one = directory.write("one.corun.csv", rows("A100"));
  const std::string two = directory.write("two.corun.csv", rows("H100"));
  const std::string kb = directory.path("kb.yaml");
  const auto built = test::run_corun({"kb", "build", "--coruns", one, "--coruns", two, "-o", kb});
  ASSERT_EQ(built.code, 0) << built.err;
  EXPECT_NE(built.err.find("was measured on H100 mps"), std::string::npos) << built.err;
  EXPECT_EQ(read_knowledge_file(kb).sources[1].measured_on, "H100 mps");
  const auto run = test::run_corun({"recommend", "--kb", kb});
  EXPECT_EQ(run.code, 0);
  EXPECT_NE(run.err.find("the belief was learnt on A100 mps"), std::string::npos) << run.err;
}

TEST(KbCommand, NeverWritesOverWhatItReads) {
  const test::TemporaryDirectory directory;
  const std::string profiles = directory.write(
      "p.csv", "job,gpu_util_pct,mem_alloc_pct,mem_time_pct\na,1,2,3\nb,40,50,60\nc,70,80,90\n");
  std::filesystem::create_symlink(profiles, directory.path("link.csv"));
  const std::string kb = directory.path("kb.yaml");
  ASSERT_EQ(test::run_corun({"kb", "build", "--coruns", "jrs", "-o", kb}).code, 0);
  const std::string kept = test::read_file(profiles) + test::read_file(kb);
  const std::string link = directory.path("link.csv");
  const std::string same = directory.path("same");
  const std::vector<std::vector<std::string>> commands{
      {"kb", "build", "--profiles", profiles, "-o", link},
      {"kb", "build", "--profiles", profiles, "--samples", profiles, "-o", same},
      {"kb", "build", "--profiles", profiles, "--samples", same, "-o", same},
      {"kb", "build", "--like", kb, "-o", kb},
      {"kb", "show", kb, "--figure", kb},
      {"kb", "assign", kb, "--profiles", profiles, "-o", kb},
      {"recommend", "--queue", profiles, "--argo", profiles},
      {"recommend", "--kb", kb, "-o", kb},
      {"recommend", "--argo", same, "-o", same},
      {"kb", "eval", "interference", "--figure", same, "-o", same},
      // Nothing is written if another argument is wrong.
      {"kb", "build", "--profiles", profiles, "--clusters", "60", "--samples", same, "-o",
       same + "2"},
      {"kb", "show", kb, "--figure", same, "-o", "x"},
      {"recommend", "--argo", same, "-o", "/nonexistent/x"}};
  for (const auto& command : commands) {
    const auto run = test::run_corun(command, directory.path());
    std::string shown;
    for (const std::string& a : command) shown += a + " ";
    EXPECT_EQ(run.code, 2) << shown << run.err;
    EXPECT_EQ(run.out, "") << shown;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << shown << run.err;
    EXPECT_EQ(test::read_file(profiles) + test::read_file(kb), kept) << shown;
    EXPECT_FALSE(std::filesystem::exists(same)) << shown;
  }
}

TEST(KbCommand, WhatItWritesItReads) {
  // Hundreds of co-runs of one cluster pair, with several rates of decay: old bins vanish.
  const test::TemporaryDirectory directory;
  std::string rows =
      "group,gpu,sharing,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,solo_s,corun_s\n";
  for (int i = 0; i < 500; ++i) {
    const std::string group = std::to_string(i) + ",V,ts,";
    rows += group + "a,60,43,24,100," + std::to_string(100 + i * 37 % 101) + "\n";
    rows += group + "b,20,8,5,100," + std::to_string(100 + i * 53 % 97) + "\n";
  }
  const std::string coruns = directory.write("many.corun.csv", rows);
  for (const char* decay : {"0", "0.01", "0.5", "0.9", "0.95", "0.999"}) {
    const std::string kb = directory.path(std::string("kb-") + decay + ".yaml");
    const auto built =
        test::run_corun({"kb", "build", "--coruns", coruns, "--decay", decay, "-o", kb});
    ASSERT_EQ(built.code, 0) << built.err;
    const auto shown = test::run_corun({"kb", "show", kb, "--format", "json"});
    EXPECT_EQ(shown.code, 0) << decay << ": " << shown.err;
    EXPECT_EQ(Json::parse(shown.out)["pairs"], 500);
    EXPECT_EQ(shown.out.find("inf"), std::string::npos) << decay;
    EXPECT_EQ(test::run_corun({"recommend", "--kb", kb}).code, 0) << decay;
  }
}

TEST(KbCommand, OwnProfilesOwnClusters) {
  const test::TemporaryDirectory directory;
  const std::string kb = directory.path("kb.yaml");
  const auto built = test::run_corun({"kb", "build", "--profiles", kSource + "/examples/jobs.csv",
                                      "--coruns", kSource + "/examples/mine.corun.csv",
                                      "--clusters", "4", "--standardise", "-o", kb});
  ASSERT_EQ(built.code, 0) << built.err;
  const KnowledgeFile file = read_knowledge_file(kb);
  EXPECT_EQ(file.kb.clusters(), 4);
  EXPECT_NE(file.kb.clustering().scale, (FeatureVector{1, 1, 1}));
  // Policies take their clusters from the file: cluster numbers reach 3.
  const auto run = test::run_corun(
      {"recommend", "--queue", kSource + "/examples/jobs.csv", "--kb", kb, "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  std::set<int> clusters;
  const Json json = Json::parse(run.out);
  for (const Json& group : json["groups"]) {
    for (const Json& c : group["clusters"]) clusters.insert(c.get<int>());
  }
  EXPECT_GE(clusters.size(), 3u);
  const auto replay = test::run_corun({"replay", kSource + "/examples/mine.yaml", "--set",
                                       "belief.initial=" + kb, "--set", "replications=2", "-q"});
  EXPECT_EQ(replay.code, 0) << replay.err;
}

TEST(KbCommand, AssignShowsBothUncertainties) {
  const test::TemporaryDirectory directory;
  const std::string profiles = directory.write("p.csv",
                                               "job,gpu_util_pct,mem_alloc_pct,mem_time_pct\nnear,"
                                               "61.423,43.245,24.456\nfar,61.423,43.245,80\n"
                                               "blank,,,\n");
  const auto run =
      test::run_corun({"kb", "assign", "jrs", "--profiles", profiles, "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Json json = Json::parse(run.out)["profiles"];
  EXPECT_EQ(json[0]["own_centre"], 0.0);
  EXPECT_GT(json[0]["all_centres"].get<double>(), 90);
  EXPECT_NEAR(json[1]["all_centres"].get<double>(),
              json[1]["distances"][0].get<double>() + json[1]["distances"][1].get<double>() +
                  json[1]["distances"][2].get<double>(),
              1e-9);
  EXPECT_TRUE(json[2]["all_centres"].is_null());
  EXPECT_FALSE(json[2]["has_profile"].get<bool>());
}

TEST(KbCommand, RecommendsFromATableOfProfiles) {
  const test::TemporaryDirectory directory;
  const std::string profiles = directory.write(
      "p.csv",
      "job,gpu_util_pct,mem_alloc_pct,mem_time_pct,model,batch_size\na,90,60,50,Secret,7\n"
      "b,20,10,5,Secret,8\nc,60,40,20,Hidden,9\nd,22,9,6,Hidden,1\n");
  const auto run = test::run_corun({"recommend", "--queue", profiles, "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["groups"].size(), 2u);
  for (const Json& group : json["groups"]) {
    ASSERT_EQ(group["isd_interval"].size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_LE(group["isd_interval"][i][0].get<double>(), group["isd"][i].get<double>());
      EXPECT_GE(group["isd_interval"][i][1].get<double>(), group["isd"][i].get<double>());
    }
    EXPECT_GT(group["observations"].get<int>(), 0);
  }
  EXPECT_EQ(run.out.find("Secret"), std::string::npos) << "names of models never come out";
}

TEST(KbCommand, WhatAJobIsCalledChangesNothing) {
  // Renaming jobs, models and batch sizes does not change clusters and groups.
  const test::TemporaryDirectory directory;
  const std::string rows[4] = {"90,60,50", "20,10,5", "60,40,20", "22,9,6"};
  std::string plain = "job,gpu_util_pct,mem_alloc_pct,mem_time_pct,model,batch_size\n";
  std::string renamed = plain;
  for (int i = 0; i < 4; ++i) {
    plain += "j" + std::to_string(i) + "," + rows[i] + ",M,8\n";
    renamed += "j" + std::to_string(i) + "," + rows[i] + ",N" + std::to_string(i) + "," +
               std::to_string(1000 - i) + "\n";
  }
  const auto groups = [&](const std::string& name, const std::string& text) {
    const auto run =
        test::run_corun({"recommend", "--queue", directory.write(name, text), "--format", "json"});
    EXPECT_EQ(run.code, 0) << run.err;
    return run.out;
  };
  EXPECT_EQ(groups("plain.csv", plain), groups("renamed.csv", renamed));
}

TEST(KbCommand, BadInputIsOneClearLine) {
  const test::TemporaryDirectory directory;
  const auto write = [&](const std::string& name, const std::string& text) {
    return directory.write(name, text);
  };
  const std::string header = "job,gpu_util_pct,mem_alloc_pct,mem_time_pct\n";
  const std::string good = write("good.csv", header + "a,1,2,3\nb,40,50,60\nc,70,80,90\nd,5,5,5\n");
  const std::string out = directory.path("kb.yaml");
  struct Case {
    std::vector<std::string> arguments;
    std::string expected;
  };
  const std::vector<Case> cases{
      {{"kb"}, "needs a word: one of build, show, assign, update, eval"},
      {{"kb", "biuld"}, "did you mean 'build'?"},
      {{"kb", "build"}, "give --output KB.yaml"},
      {{"kb", "build", "--profiles", "nowhere.csv", "-o", out}, "no file 'nowhere.csv'"},
      {{"kb", "build", "--profiles", good, "--clusters", "5", "-o", out}, "good.csv: "},
      {{"kb", "build", "--profiles", good, "--clusters", "0", "-o", out}, "--clusters: found '0'"},
      {{"kb", "build", "--profiles", write("same.csv", header + "a,1,2,3\nb,1,2,3\nc,1,2,3\n"),
        "--clusters", "2", "-o", out},
       "same.csv: "},
      {{"kb", "build", "--profiles", write("flat.csv", header + "a,1,2,3\nb,2,2,4\nc,9,2,7\n"),
        "--clusters", "2", "--standardise", "-o", out},
       "flat.csv: "},
      {{"kb", "build", "--profiles", write("nan.csv", header + "a,nan,2,3\n"), "-o", out},
       "nan.csv:2:3: "},
      {{"kb", "build", "--profiles", write("twice.csv", header + "a,1,2,3\na,4,5,6\n"), "-o", out},
       "twice.csv:3:1: "},
      {{"kb", "build", "--profiles", write("blank.csv", header + "a,1,,3\nb,,2,\n"), "-o", out},
       "no profile has all of gpu_util_pct, mem_alloc_pct, mem_time_pct"},
      {{"kb", "build", "--profiles",
        write("fractions.csv", header + "a,0.1,0.2,0.3\nb,0.5,0.4,0.9\nc,0.7,0.7,0.1\n"), "-o",
        out},
       "fractions"},
      {{"kb", "build", "--profiles", write("columns.csv", "job,gpu_util_pct\na,1\n"), "-o", out},
       "columns.csv:1:"},
      {{"kb", "build", "--profiles", good, "--synthetic", "magic", "-o", out},
       "--synthetic: found 'magic'"},
      {{"kb", "build", "--profiles", good, "--synthetic", "paper", "-o", out}, "good.csv"},
      {{"kb", "build", "--profiles", good, "--centres",
        write("centres.csv", "gpu_util_pct,mem_alloc_pct,mem_time_pct\n1,2,x\n"), "-o", out},
       "centres.csv:2:5: "},
      {{"kb", "build", "--clusters", "2", "-o", out}, "--clusters: goes with --profiles"},
      {{"kb", "build", "--decay", "1", "-o", out}, "--decay: found '1'"},
      {{"kb", "build", "--coruns",
        write("negative.corun.csv",
              "group,gpu,sharing,session,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,"
              "solo_s,corun_s,isd,source\n1,V100,time-slicing,s,a,1,2,3,,-5,6,,x\n"
              "1,V100,time-slicing,s,b,1,2,3,,5,6,,x\n"),
        "-o", out},
       "negative.corun.csv:2:"},
      {{"kb", "build", "--coruns",
        write("blank.corun.csv",
              "group,gpu,sharing,session,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,"
              "solo_s,corun_s,isd,source\n1,V100,time-slicing,s,a,,,,,5,6,,x\n"
              "1,V100,time-slicing,s,b,1,2,3,,5,6,,x\n"),
        "-o", out},
       "no pair of two profiled jobs"},
      {{"kb", "build", "--coruns",
        write("units.corun.csv",
              "group,gpu,sharing,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,solo_s,corun_s\n"
              "1,V,ts,a,50,50,50,0.00001,30\n1,V,ts,b,5,5,5,20,30\n"),
        "-o", out},
       "units.corun.csv:2:"},
      {{"kb", "build", "--coruns",
        write("fractions.corun.csv",
              "group,gpu,sharing,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,solo_s,corun_s\n"
              "1,V,ts,a,0.5,0.5,0.5,20,30\n1,V,ts,b,0.05,0.1,0.05,20,30\n"
              "2,V,ts,a,0.5,0.5,0.5,20,30\n2,V,ts,b,0.05,0.1,0.05,20,30\n"),
        "-o", out},
       "fractions"},
      {{"kb", "build", "--coruns", kSource + "/examples/groups.csv", "-o", out},
       "groups.csv: is a table of co-runs without run times, expected co-run measurements"},
      {{"kb", "build", "--clusters", "4", "--profiles", good, "--centres",
        write("two.csv", "gpu_util_pct,mem_alloc_pct,mem_time_pct\n1,2,3\n50,60,70\n"), "-o", out},
       "--clusters: is 4, but --centres has 2 rows"},
      {{"kb", "build", "--about", "two\nlines", "-o", out}, "--about: expected one line"},
      {{"recommend", "--kb", "jsr"}, "--kb: no knowledge base 'jsr': did you mean 'jrs'?"},
      {{"recommend", "--objective", "max-packing", "--bin", "J7-205,J7-205"},
       "--bin: job 'J7-205' is named twice"},
      {{"recommend", "--order", "5-5", "--pairing", "given"}, "--order: found cluster 5"},
      {{"recommend", "--gpus", "3"}, "--gpus: goes with --argo"},
      {{"kb", "show", "jsr"}, "did you mean 'jrs'?"},
      {{"kb", "show", write("newer.yaml", "kind: corun knowledge base\nversion: 7\n")},
       "newer.yaml:2:10: 'version' is '7'"},
      {{"kb", "update", "jrs", "--coruns", good}, "never changes"},
      {{"kb", "update", directory.path("none.yaml"), "--coruns", good}, "none.yaml"},
      {{"kb", "assign", "jrs"}, "give --profiles FILE"},
      {{"kb", "eval", "nothing"}, "no section 'nothing'"},
      {{"recommend", "--overrides", write("o.csv", "job,cluster,uncertainty,why\nJ8-257,0,1,x\n")},
       "o.csv:2:1: no job 'J8-257' in the workload: did you mean"},
      {{"recommend", "--overrides", write("p.csv", "job,cluster,uncertainty,why\nJ8-256,3,1,x\n")},
       "p.csv:2:8: "},
  };
  for (const Case& c : cases) {
    const auto run = test::run_corun(c.arguments, directory.path());
    std::string shown;
    for (const std::string& a : c.arguments) shown += a + " ";
    EXPECT_EQ(run.code, 2) << shown << run.err;
    EXPECT_NE(run.err.find(c.expected), std::string::npos) << shown << "\n" << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_EQ(run.out, "") << shown;
    EXPECT_FALSE(std::filesystem::exists(out)) << shown;
  }
}

}  // namespace
}  // namespace corun::kb_command_test
