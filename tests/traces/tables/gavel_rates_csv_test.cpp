#include "traces/tables/gavel_rates_csv.hpp"

#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// The rates in the columns of a trace, and of pairs in pair_rates.csv beside it.
namespace corun::gavel_rates_csv_test {
namespace {

const std::string kTrace =
    "job,arrival_s,job_type,total_steps,scale_factor,steps_per_s_v100,steps_per_s_p100\n"
    "0,0.0,A,100,1,4,2\n"
    "1,5.0,B,100,1,8,\n"
    "2,5.0,C,100,1,0,3\n"
    "3,6.0,A,100,2,6,3\n"
    "4,7.0,A,100,1,4,2\n";
const std::string kPairs = "scale_factor,job_type_a,job_type_b,gpu,rate_a,rate_b\n";

GavelThroughputs read(const std::string& trace, const std::string& pairs,
                      std::string_view gpu = "v100") {
  std::istringstream jobs(trace);
  std::istringstream of_pairs(pairs);
  WorkloadKeys keys;
  return read_rates_of_trace(jobs, pairs.empty() ? nullptr : &of_pairs, gpu, keys);
}

TEST(GavelRatesCsv, RatesOfJobsAndPairs) {
  const GavelThroughputs r =
      read(kTrace, kPairs + "1,B,A,v100,6,3\n1,A,B,v100,3,6\n1,A,B,p100,1,1\n1,A,X,v100,1,1\n");
  ASSERT_EQ(r.pairs.names.size(), 4U);
  EXPECT_EQ(r.pairs.names[3], "A x2");
  EXPECT_EQ(r.alone[*r.find("B", 1)], 8);
  EXPECT_EQ(r.alone[*r.find("C", 1)], 0);
  ASSERT_EQ(r.pairs.speeds.rows.size(), 1U);
  EXPECT_EQ(r.pairs.speeds.rows[0].speed_a, 0.75);
  EXPECT_EQ(r.pairs.speeds.rows[0].speed_b, 0.75);
  EXPECT_EQ(read(kTrace, "").pairs.speeds.rows.size(), 0U);
}

void refused(const std::string& trace, const std::string& pairs, const std::string& message,
             std::string_view gpu = "v100") {
  try {
    read(trace, pairs, gpu);
    ADD_FAILURE() << "accepted: " << trace << pairs;
  } catch (const InputError& e) {
    const std::string said = e.what();
    EXPECT_NE(said.find(message), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST(GavelRatesCsv, HostileRatesOfJobs) {
  const std::string header = "job_type,scale_factor,steps_per_s_v100\n";
  refused("", "", "trace:1:1: the file is empty");
  refused("job_type,steps_per_s_v100\n", "", "the header has no column 'scale_factor'");
  refused(header + "A,0,1\n", "", "trace:2:3: column 'scale_factor' is '0'");
  refused(header + "A,,1\n", "", "trace:2:3: column 'scale_factor'");
  refused(header + "A,1.5,1\n", "", "trace:2:3: column 'scale_factor' is '1.5'");
  refused(header + ",1,1\n", "", "trace:2:1: column 'job_type'");
  for (const char* const rate : {"-1", "1e13", "nan", "fast", "1 2"}) {
    refused(header + "A,1," + rate + "\n", "",
            "trace:2:5: column 'steps_per_s_v100' is '" + std::string(rate) + "'");
  }
  refused(header + "A,1,2\nB,1,3\nA,1,2.5\n", "", "trace:4:5: column 'steps_per_s_v100' is '2.5'");
  refused(header + "A,1\n", "", "trace:2:1: the row has 2 fields");
}

TEST(GavelRatesCsv, HostileRatesOfPairs) {
  refused(kTrace, "scale_factor,job_type_a,job_type_b,gpu,rate_a\n",
          "the header has no column 'rate_b'");
  refused(kTrace, kPairs + "0,A,B,v100,1,1\n", "pairs:2:1: column 'scale_factor' is '0'");
  refused(kTrace, kPairs + ",A,B,v100,1,1\n", "pairs:2:1: column 'scale_factor'");
  refused(kTrace, kPairs + "1,,B,v100,1,1\n", "pairs:2:3: column 'job_type_a'");
  refused(kTrace, kPairs + "1,A,,v100,1,1\n", "pairs:2:5: column 'job_type_b'");
  refused(kTrace, kPairs + "1,A,B,,1,1\n", "pairs:2:7: column 'gpu'");
  refused(kTrace, kPairs + "1,A,B,a100,1,1\n", "pairs:2:7: column 'gpu' is 'a100'");
  refused(kTrace, kPairs + "1,A,B,v100,,1\n", "pairs:2:12: column 'rate_a'");
  refused(kTrace, kPairs + "1,A,B,v100,-1,1\n", "pairs:2:12: column 'rate_a' is '-1'");
  refused(kTrace, kPairs + "1,A,B,v100,1,1e99\n", "pairs:2:14: column 'rate_b' is '1e99'");
  refused(kTrace, kPairs + "1,A,B,v100,1\n", "pairs:2:1: the row has 5 fields");
  refused(kTrace, kPairs + "1,A,B,v100,3,6\n1,B,A,v100,3,6\n",
          "the rates of the same pair on line 2");
  // Even of another type than the workload's, and of jobs that it lacks.
  refused(kTrace, kPairs + "1,X,Y,k80,-1,1\n", "pairs:2:11: column 'rate_a' is '-1'");
}

TEST(GavelRatesCsv, TheFileOfPairsIsNamed) {
  const test::TemporaryDirectory directory;
  directory.write("jobs.csv", kTrace);
  directory.write("pair_rates.csv", kPairs + "1,A,B,v100,x,1\n");
  WorkloadKeys keys;
  try {
    read_rates_of_trace(directory.path("jobs.csv"), "v100", keys);
    ADD_FAILURE();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("pair_rates.csv:2:12: column 'rate_a' is 'x'"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace corun::gavel_rates_csv_test
