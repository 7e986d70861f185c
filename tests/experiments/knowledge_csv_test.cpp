#include "experiments/knowledge_csv.hpp"

#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "sim/error.hpp"

namespace corun {
namespace {

const std::string kHeader = "metric,cluster,partner,count,mean,variance\n";

KnowledgeBase read(const std::string& rows) {
  std::istringstream in(kHeader + rows);
  return read_knowledge_csv(in, "kb.csv", 3);
}

std::string refusal(const std::string& rows) {
  try {
    read(rows);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(KnowledgeCsv, ReadsCountsMeansAndVariances) {
  const KnowledgeBase kb =
      read("isd,0,1,12,0.052,0.0011\nisd,1,0,12,0.163,0.02\nps,0,1,12,0.338,0\n");
  EXPECT_EQ(kb.isd(0, 1).count, 12);
  EXPECT_EQ(kb.isd(0, 1).mean, 0.052);
  EXPECT_NEAR(kb.isd(0, 1).variance(), 0.0011, 1e-15);
  EXPECT_EQ(kb.ps(1, 0).mean, 0.338);
  EXPECT_EQ(kb.isd(2, 2).count, 0);
}

TEST(KnowledgeCsv, GoesOnLearningFromWhatItRead) {
  KnowledgeBase kb = read("isd,0,0,2,0.2,0.02\n");  // 0.1 and 0.3
  kb.isd(0, 0).add(0.5);
  EXPECT_NEAR(kb.isd(0, 0).mean, 0.3, 1e-15);
  EXPECT_NEAR(kb.isd(0, 0).variance(), 0.04, 1e-15);
}

TEST(KnowledgeCsv, RefusesWithThePlaceAndWhatWasExpected) {
  const std::pair<const char*, const char*> cases[] = {
      {"isd,0,7,5,0.1,0.001\n",
       "kb.csv:2:7: column 'partner' is '7', expected the number of a cluster"},
      {"isd,-1,0,5,0.1,0\n", "kb.csv:2:5: column 'cluster' is '-1'"},
      {"isdd,0,0,5,0.1,0\n", "kb.csv:2:1: column 'metric' is 'isdd', expected isd or ps"},
      {"ps,1,0,5,0.1,0\n", "kb.csv:2:6: column 'partner'"},
      {"isd,0,0,0,0.1,0\n", "kb.csv:2:9: column 'count' is '0'"},
      {"isd,0,0,5,nan,0\n", "kb.csv:2:11: column 'mean' is 'nan'"},
      {"isd,0,0,5,12.8,0\n", "kb.csv:2:11: column 'mean' is '12.8', expected a fraction"},
      {"isd,0,0,5,0.1,-1\n", "kb.csv:2:15: column 'variance' is '-1'"},
      {"isd,,0,5,0.1,0\n", "kb.csv:2:5: "},
      {"isd,0,0,5,0.1,0\nisd,0,0,5,0.1,0\n", "kb.csv:3:5: this pair of clusters is listed twice"},
  };
  for (const auto& [rows, begin] : cases) {
    EXPECT_EQ(refusal(rows).rfind(begin, 0), 0U) << refusal(rows);
  }
}

}  // namespace
}  // namespace corun
