#include "traces/requests/service_time_table.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/public_data.hpp"

/// Tables of measured times of batches.
namespace corun::service_time_table_test {
namespace {

std::vector<MeasuredServiceTime> read(const std::string& text) {
  std::istringstream in(text);
  return read_service_times(in, "t.csv");
}

template <typename Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ServiceTimeTable, ReadsItsForms) {
  const auto own =
      read("model,gpu_type,slice,batch_size,latency_ms\nm,A100,2g,8,21\nm,A100,2g,1,5\n");
  const auto chosen = chosen_times(own, {.model = "m"});
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(chosen[0].batch, 1);
  EXPECT_DOUBLE_EQ(chosen[1].mean_s, 0.021);
  EXPECT_EQ(chosen[1].gpu_type, "A100");
  const auto mig = read(
      "phase,model,mig_profile,mig_slices,batch_size,sequence_tokens,latency_ms\n"
      "inference,b,1g.10gb,1,1,64,5\ntraining,b,1g.10gb,1,1,64,9\ninference,b,1g.10gb,1,1,32,4\n");
  ASSERT_EQ(mig.size(), 2U);
  EXPECT_EQ(mig[0].slice, "1g.10gb");
  const ServiceTimeChoice of_64{.model = "b", .sequence_tokens = 64};
  EXPECT_DOUBLE_EQ(chosen_times(mig, of_64)[0].mean_s, 0.005);
  const auto processes = read(
      "model,mig_slices,batch_size,processes,requests_per_s_per_process,latency_ms\n"
      "b,2,4,1,1000,3\nb,2,4,2,800,6\n");
  EXPECT_EQ(processes[0].slice, "2g");
  EXPECT_DOUBLE_EQ(processes[0].mean_s, 0.004);  // of the rate, which has more digits
  const ServiceTimeChoice of_two{.model = "b", .processes = 2};
  EXPECT_DOUBLE_EQ(chosen_times(processes, of_two)[0].mean_s, 0.005);
}

TEST(ServiceTimeTable, RefusesWithThePlace) {
  const std::string header = "model,batch_size,latency_ms\n";
  EXPECT_EQ(refusal([&] { read(header + "m,1,5\nm,1,6\n"); }),
            "t.csv:3:1: a second row of the same measurement, expected one; remove one");
  for (const std::string& text :
       {std::string(), std::string("model,batch_size\nm,1\n"), header, header + "m,0,5\n",
        header + "m,1.5,5\n", header + "m,,5\n", header + "m,1,\n", header + "m,1,0\n",
        header + "m,1,-3\n", header + ",1,5\n", header + "m,1,nan\n"}) {
    const std::string found = refusal([&] { read(text); });
    EXPECT_TRUE(found.starts_with("t.csv:")) << text << found;
    EXPECT_EQ(found.find('\n'), std::string::npos) << text;
  }
}

TEST(ServiceTimeTable, AChoiceNamesWhatThereIs) {
  const auto table = read("model,slice,batch_size,latency_ms\na,1g,1,5\na,2g,1,4\nb,1g,1,7\n");
  EXPECT_EQ(refusal([&] { chosen_times(table, {.model = "c"}); }),
            "model of a service: found 'c', expected one that was measured: a, b");
  const std::string twice = refusal([&] { chosen_times(table, {.model = "a"}); });
  EXPECT_NE(twice.find("t.csv:3:1: batch size 1 was measured more than once (t.csv:2:1)"),
            std::string::npos)
      << twice;
  EXPECT_NE(twice.find("slice (1g, 2g)"), std::string::npos) << twice;
  EXPECT_NE(
      refusal([&] { chosen_times(table, {.model = "a", .processes = 3}); }).find("measured: 1"),
      std::string::npos);
}

TEST(ServiceTimeTable, ReadsThePublicTables) {
  const std::string mig = "serving/mig_latency_a100_80gb.csv";
  const std::string processes = "serving/parvagpu_latency.csv";
  for (const std::string& file : {mig, processes}) {
    if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  }
  const auto slices = read_service_times(test::public_data(mig));
  EXPECT_EQ(slices.size(), 124U);
  const auto resnet = chosen_times(slices, {.model = "resnet50", .slice = "1g.10gb"});
  EXPECT_EQ(resnet.size(), 9U);
  const auto groups = read_service_times(test::public_data(processes));
  EXPECT_EQ(groups.size(), 1747U);
  const auto bert = chosen_times(groups, {.model = "bert", .slice = "1g", .processes = 2});
  EXPECT_NEAR(bert[0].mean_s, 1 / 52.42, 1e-9);
}

}  // namespace
}  // namespace corun::service_time_table_test
