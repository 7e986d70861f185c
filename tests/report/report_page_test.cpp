#include "report/report_page.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include "policies/catalog.hpp"
#include "report/packed_column.hpp"
#include "sim/error.hpp"
#include "tests/report/report_fixture.hpp"

// The HTML file, and the command that writes it.
namespace corun::report_test {
namespace {

using test::run_corun;

constexpr const char* kNoPage =
    "this program was built without the page of reports: no Node.js, or npm could not fetch";

/// Names that try to be HTML, a formula, a command of a terminal, or text in another direction.
const std::vector<std::string> kHostile{"<script>alert(1)</script>",
                                        "</script><img src=x onerror=alert(2)>",
                                        "\"quotes' & `ticks`",
                                        "=cmd()",
                                        "\u202Egnp.exe\u202C",
                                        std::string(10'000, 'x'),
                                        "<!-- @DATA@",
                                        "\u2028",
                                        "{a|rich}"};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string hostile_jobs() {
  std::string csv = "job,submit_s,solo_s\n";
  for (const std::string& name : kHostile) csv += quoted(name) + ",0,100\n";
  return csv;
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  if (from == std::string::npos) return "";
  const std::size_t at = from + begin.size();
  return text.substr(at, text.find(end, at) - at);
}

TEST(ReportPage, NamesAreDataWhateverTheyHold) {
  const Results results(
      {"replay", "jobs.csv", "--gpus", "2", "--policies", "fifo,exclusive", "--replications", "2"},
      hostile_jobs());
  const Json data = report_json(results.path());
  const std::string html = report_html("<p>@DATA@</p>", data);
  // One "<" for each of the two tags: none comes from a name.
  EXPECT_EQ(std::ranges::count(html, '<'), 2);
  EXPECT_EQ(html.find('\n'), std::string::npos);
  const std::string json = between(html, "<p>", "</p>");
  EXPECT_TRUE(std::ranges::none_of(json, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  })) << "a control character reaches the file";
  const Json names = Json::parse(json)["timeline"]["names"];
  ASSERT_EQ(names.size(), kHostile.size());
  for (std::size_t i = 0; i < kHostile.size(); ++i) {
    EXPECT_EQ(names[i], kHostile[i].substr(0, 200));
  }
}

TEST(ReportPage, WritesNoControlCharacterOfAFileMadeByHand) {
  // Traces with such names are refused, but a results file may hold them.
  const std::vector<std::string> names{"two\nlines", "\x1b[31mred\x1b[0m", "\x7f", "</script>",
                                       "half a letter \xc3"};
  const std::string html = report_html("<p>@DATA@</p>", {{"names", names}});
  EXPECT_TRUE(std::ranges::none_of(
      html, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }));
  EXPECT_EQ(std::ranges::count(html, '<'), 2);
  const Json read = Json::parse(between(html, "<p>", "</p>"))["names"];
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(read[i], names[i]);
  EXPECT_EQ(read[4], "half a letter \ufffd");
}

TEST(ReportPage, ALongNameIsCutBetweenLetters) {
  std::string name;
  for (int i = 0; i < 150; ++i) name += "\u00e9";
  const Results results(
      {"replay", "jobs.csv", "--gpus", "1", "--policies", "fifo", "--replications", "1"},
      "job,submit_s,solo_s\n" + ("x" + name) + ",0,10\n");
  const std::string cut = report_json(results.path())["timeline"]["names"][0];
  EXPECT_EQ(cut, "x" + name.substr(0, 198));
  report_html("@DATA@", report_json(results.path()));  // would throw on half a letter
}

TEST(ReportPage, HasAPolicyThatAllowsItsOwnScriptAlone) {
  const std::string page(report_page());
  if (page.empty()) GTEST_SKIP() << kNoPage;
  const std::string policy =
      between(page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos) << policy;
  EXPECT_EQ(policy.find("http"), std::string::npos) << policy;
  for (const auto& [element, directive] :
       {std::pair{"script", "script-src"}, {"style", "style-src"}}) {
    const std::string text =
        between(page, std::string("<") + element + ">", std::string("</") + element + ">");
    ASSERT_GT(text.size(), 1000U);
    std::vector<std::uint8_t> sum(SHA256_DIGEST_LENGTH);
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), sum.data());
    EXPECT_NE(policy.find(std::string(directive) + " 'sha256-" + base64(sum) + "'"),
              std::string::npos)
        << directive << " of " << policy;
  }
}

TEST(ReportPage, LoadsNothing) {
  const std::string page(report_page());
  if (page.empty()) GTEST_SKIP() << kNoPage;
  const std::string head =
      page.substr(0, page.find("<style>")) + page.substr(page.find("</style>"), 200);
  EXPECT_EQ(head.find("src="), std::string::npos);
  EXPECT_EQ(std::regex_search(head, std::regex("href=\"(?!data:,|#)")), false) << head;
  const std::string style = between(page, "<style>", "</style>");
  EXPECT_EQ(style.find("url("), std::string::npos);
  EXPECT_EQ(style.find("@import"), std::string::npos);
  EXPECT_NE(page.find("Apache ECharts"), std::string::npos) << "its licence";
}

TEST(ReportCommand, WritesOneFileAndKeepsOthers) {
  if (report_page().empty()) GTEST_SKIP() << kNoPage;
  const Results results({"replay", "--policies", "fcfs,exclusive", "--replications", "2"});
  const std::string directory = results.directory().path();
  const test::Outcome outcome = run_corun({"report", "results.h5"}, directory);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "note: results.html: open it in a browser\n");
  const std::string html = test::read_file(results.directory().path("results.html"));
  EXPECT_EQ(html.substr(0, 15), "<!doctype html>");
  EXPECT_EQ(html.find("@DATA@"), std::string::npos);
  EXPECT_EQ(Json::parse(between(html, "id=\"data\">", "</script>"))["kind"], "replay");
  // The same report again; not over another file.
  EXPECT_EQ(run_corun({"report", "results.h5"}, directory).code, 0);
  results.directory().write("notes.html", "mine");
  const test::Outcome refused = run_corun({"report", "results.h5", "-o", "notes.html"}, directory);
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(test::read_file(results.directory().path("notes.html")), "mine");
  EXPECT_EQ(run_corun({"report", "results.h5", "-o", "notes.html", "--force"}, directory).code, 0);
}

TEST(ReportCommand, WithoutThePageSaysHowToGetIt) {
  if (!report_page().empty()) GTEST_SKIP() << "this program has the page of reports";
  const Results results({"replay", "--policies", "fcfs", "--replications", "1"});
  const test::Outcome outcome = run_corun({"report", "results.h5"}, results.directory().path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("apt-get install nodejs npm"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
}

class ReportMistake : public testing::Test {
 protected:
  void expect_refused(const std::string& path, const std::string& part) const {
    try {
      report_json(path);
      ADD_FAILURE() << path << " was read";
    } catch (const InputError& e) {
      const std::string said = e.what();
      EXPECT_EQ(said.substr(0, path.size()), path) << said;
      EXPECT_NE(said.find(part), std::string::npos) << said;
      EXPECT_EQ(std::ranges::count(said, '\n'), 0) << said;
    }
  }
};

TEST_F(ReportMistake, OtherFilesAreRefusedByTheirPath) {
  const test::TemporaryDirectory directory;
  expect_refused(directory.path("none.h5"), "no such file");
  expect_refused(directory.write("text.h5", "hello"), "");
}

TEST_F(ReportMistake, ADamagedFileIsRefused) {
  const Results results({"replay", "--policies", "fcfs", "--replications", "1"});
  std::string bytes = test::read_file(results.path());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  expect_refused(results.directory().write("damaged.h5", bytes), "");
  bytes.resize(bytes.size() / 3);
  expect_refused(results.directory().write("short.h5", bytes), "");
}

TEST_F(ReportMistake, TheCommandLineIsOneLineToo) {
  const test::TemporaryDirectory directory;
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"report"},
                                                    {"report", "none.h5"},
                                                    {"report", "none.h5", "-o", "x.csv"}}) {
    const test::Outcome outcome = run_corun(arguments, directory.path());
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }
}

TEST(ReportOfASweep, HasItsAnswersAndTheFront) {
  const Results results({"sweep", "sweep.yaml"},
                        "replications: 4\npolicies: [fcfs, random, exclusive, oracle]\n"
                        "sweep: {grid: {cluster.nodes: [1, 2]}}\n");
  const Json data = report_json(results.path());
  EXPECT_EQ(data["kind"], "sweep");
  const Json& sweep = data["sweep"];
  EXPECT_EQ(sweep["points"], 2);
  EXPECT_EQ(sweep["cells"].size(), 6U);
  EXPECT_EQ(sweep["settings"].size(), 2U);
  EXPECT_FALSE(sweep["pareto"]["points"].empty());
  EXPECT_GT(data["coverage"]["measured"].get<double>(), 0);
  EXPECT_EQ(data["source"]["workload"], "jrs-queue");
  ASSERT_EQ(data["policies"].size(), 4U);
  for (const Json& policy : data["policies"]) {
    EXPECT_EQ(policy["bound"], policy["name"] == "oracle");
    EXPECT_EQ(policy["description"],
              std::string(find_policy(policy["name"].get<std::string>())->description));
  }
}

}  // namespace
}  // namespace corun::report_test
