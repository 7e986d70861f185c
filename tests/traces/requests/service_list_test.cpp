#include "traces/requests/service_list.hpp"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"

/// Services of a cluster.
namespace corun::service_list_test {
namespace {

using namespace std::chrono_literals;

std::vector<ServiceRow> read(const std::string& text) {
  std::istringstream in(text);
  return read_services(in, "s.csv");
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ServiceList, HasDefaults) {
  const auto rows = read("name,times,model,end_s,goal_ms,rate_per_s\ns,t.csv,m,60,50,12.5\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].start, Duration(0s));
  EXPECT_EQ(rows[0].end, Duration(60s));
  EXPECT_DOUBLE_EQ(rows[0].goal_s, 0.05);
  EXPECT_DOUBLE_EQ(rows[0].percentile, 99);
  EXPECT_DOUBLE_EQ(rows[0].rate_per_s, 12.5);
  EXPECT_EQ(rows[0].shape, LoadShape::kConstant);
  EXPECT_EQ(rows[0].batch, 1);
  EXPECT_EQ(rows[0].replicas, 1);
  EXPECT_FALSE(rows[0].gpu_util_pct);
}

TEST(ServiceList, ReadsAllColumns) {
  const auto rows = read(
      "name,times,model,end_s,goal_ms,requests,rate_factor,workload,gpu_type,slice,processes,"
      "start_s,percentile,shape,swing,spacing,batch,wait_ms,variation,replicas,least_replicas,"
      "priority,gpu_util_pct,mem_used_mib\n"
      "s,t.csv,m,60,50,r.csv,2,w,A100,2g,3,10,95,bursts,0.2,even,8,5,exponential,4,2,7,30,900\n");
  const ServiceRow& row = rows.at(0);
  EXPECT_EQ(row.requests, "r.csv");
  EXPECT_DOUBLE_EQ(row.rate_factor, 2);
  EXPECT_EQ(row.workload + row.gpu_type + row.slice, "wA1002g");
  EXPECT_EQ(row.processes, 3);
  EXPECT_EQ(row.start, Duration(10s));
  EXPECT_DOUBLE_EQ(row.percentile, 95);
  EXPECT_EQ(row.shape, LoadShape::kBursts);
  EXPECT_TRUE(row.even && row.exponential);
  EXPECT_EQ(row.batch, 8);
  EXPECT_DOUBLE_EQ(row.wait_s, 0.005);
  EXPECT_EQ(row.replicas * 10 + row.least_replicas, 42);
  EXPECT_EQ(row.priority, 7);
  EXPECT_EQ(row.gpu_util_pct, 30);
  EXPECT_EQ(row.mem_used_mib, 900);
}

TEST(ServiceList, SaysWhatIsWrongAndWhere) {
  const std::string header =
      "name,times,model,start_s,end_s,goal_ms,rate_per_s,requests,replicas,"
      "least_replicas,shape\n";
  for (const auto& [row, told] : std::vector<std::pair<std::string, std::string>>{
           {"", "found no service"},
           {",t,m,0,9,5,1,,1,1,\n", "s.csv:2:1: column 'name' is empty"},
           {"s,t,m,9,9,5,1,,1,1,\n", "a time after start_s"},
           {"s,t,m,0,9,0,1,,1,1,\n", "s.csv:2:11"},
           {"s,t,m,0,9,5,1,r,1,1,\n", "found both or neither of rate_per_s and requests"},
           {"s,t,m,0,9,5,,,1,1,\n", "found both or neither"},
           {"s,t,m,0,9,5,1,,1,2,\n", "replicas at most"},
           {"s,t,m,0,9,5,1,,1,1,round\n", "constant or diurnal or bursts"},
           {"s,t,m,0,9,5,1,,1,1,\ns,t,m,0,9,5,1,,1,1,\n", "s.csv:3:1"}}) {
    EXPECT_NE(refusal(header + row).find(told), std::string::npos) << refusal(header + row);
  }
}

}  // namespace
}  // namespace corun::service_list_test
