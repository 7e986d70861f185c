#include "runner/inputs/gpu_types_file.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/program.hpp"

/// GPU types of the user's own: the file, and what the program does with them.
namespace corun::gpu_types_file_test {
namespace {

using test::Outcome;
using test::run_corun;
using test::TemporaryDirectory;

TEST(GpuTypesFile, ReadsAllFigures) {
  const TemporaryDirectory folder;
  const auto types = read_gpu_types(folder.write("t.yaml",
                                                 "- name: Mine\n"
                                                 "  aliases: [my gpu, \"80\"]\n"
                                                 "  architecture: Own\n"
                                                 "  sms: 10\n"
                                                 "  cuda_cores: 640\n"
                                                 "  tensor_cores: 80\n"
                                                 "  threads_per_sm: 1024\n"
                                                 "  memory_mib: 8000\n"
                                                 "  bandwidth_gbs: 300.5\n"
                                                 "  memory_clock_mhz: 5000\n"
                                                 "  boost_mhz: 1500\n"
                                                 "  fp32_tflops: 1.9\n"
                                                 "  l2_mib: 4\n"
                                                 "- {name: Bare, memory_mib: 1, sms: null}\n"));
  ASSERT_EQ(types.size(), 2U);
  const GpuSpec& mine = types[0].spec;
  EXPECT_EQ(mine.name, "Mine");
  EXPECT_EQ(types[0].aliases, (std::vector<std::string>{"my gpu", "80"}));
  EXPECT_EQ(mine.architecture, "Own");
  EXPECT_EQ(mine.sms, 10);
  EXPECT_EQ(mine.cuda_cores, 640);
  EXPECT_EQ(mine.tensor_cores, 80);
  EXPECT_EQ(mine.threads_per_sm, 1024);
  EXPECT_EQ(mine.memory_mib, 8000);
  EXPECT_EQ(mine.bandwidth_gbs, 300.5);
  EXPECT_EQ(mine.memory_clock_mhz, 5000);
  EXPECT_EQ(mine.boost_mhz, 1500);
  EXPECT_EQ(mine.fp32_tflops, 1.9);
  EXPECT_EQ(mine.l2_mib, 4);
  EXPECT_EQ(types[1].spec.sms, 0);

  const GpuTypes known(types);
  EXPECT_EQ(known.find("MY_GPU"), known.find("mine"));
  EXPECT_EQ(known.standard_name("80"), "Mine");
  EXPECT_TRUE(known.same("my-gpu", "Mine"));
  EXPECT_EQ(known.standard_name("v100"), "V100-16GB") << "the catalogue's stay";
  EXPECT_EQ(known.all().front()->name, "Mine");
}

TEST(GpuTypesFile, ReplacesATypeOfTheCatalogue) {
  const TemporaryDirectory folder;
  const GpuTypes types(read_gpu_types(folder.write(
      "t.yaml", "- {name: T4, memory_mib: 100}\n- {name: x, aliases: [v100], memory_mib: 5}\n")));
  EXPECT_EQ(types.find("Tesla T4")->memory_mib, 100);
  EXPECT_EQ(types.standard_name("V100"), "x");
  EXPECT_EQ(types.standard_name("V100-16GB"), "V100-16GB");
  EXPECT_EQ(types.all().size(), gpu_catalog().size() + 1) << "one replaced, one added";
}

TEST(GpuTypesFile, RefusesEverythingElse) {
  const TemporaryDirectory folder;
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"{name: a}\n", ":1:1: GPU types: found a map, expected a list of GPU types"},
      {"[]\n", ":1:1: GPU types: found a list, expected a list of GPU types"},
      {"- 5\n", ":1:3: type 1: found '5', expected a map"},
      {"- {name: a}\n", ":1:3: type 1 has no memory_mib, expected name and memory_mib"},
      {"- {memory_mib: 5}\n", ":1:3: type 1 has no name"},
      {"- {name: a, memory_mib: -1}\n", ":1:25: type 1.memory_mib: found '-1', expected a number"},
      {"- {name: a, memory_mib: 0}\n", ":1:25: type 1.memory_mib: found '0'"},
      {"- {name: a, memory_mib: 1, sms: 2.5}\n",
       ":1:33: type 1.sms: found '2.5', expected a whole"},
      {"- {name: a, memory_mib: 1, fp32_tflops: nan}\n", ":1:41: type 1.fp32_tflops: found 'nan'"},
      {"- {name: a, memory_mib: 1, bandwith_gbs: 2}\n",
       ":1:28: unknown key 'bandwith_gbs': did you mean 'bandwidth_gbs'?"},
      {"- {name: a+b, memory_mib: 1}\n", ":1:10: type 1.name: found 'a+b', expected a name"},
      {"- {name: a, memory_mib: 1, aliases: b}\n",
       ":1:37: type 1.aliases: found 'b', expected a list"},
      {"- {name: a b, memory_mib: 1}\n- {name: c, aliases: [A-B], memory_mib: 1}\n",
       ":2:3: 'A-B' stands for the type 'a b', too"},
  };
  for (const auto& [text, message] : wrong) {
    const std::string path = folder.write("t.yaml", text);
    try {
      read_gpu_types(path);
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).rfind(path + message, 0), 0U) << error.what();
    }
  }
}

TEST(GpuTypesFile, TheProgramTakesItsTypes) {
  const TemporaryDirectory folder;
  const std::string file = folder.write(
      "t.yaml", "- {name: Half, memory_mib: 8192, bandwidth_gbs: 450, fp32_tflops: 7.85}\n");
  const std::vector<std::string> base{"replay",
                                      "--set",
                                      "cluster.gpu_types=" + file,
                                      "--set",
                                      "policies=[{name: fifo}]",
                                      "--replications",
                                      "2",
                                      "-q"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return run_corun(more);
  };
  const Outcome machines = with({"--cluster", "2x1:V100+2x1:half"});
  ASSERT_EQ(machines.code, 0) << machines.err;
  EXPECT_NE(machines.out.find("2 x Half"), std::string::npos) << machines.out.substr(0, 600);
  const Outcome one = with({"--set", "cluster.gpu_type=HALF"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_NE(one.out.find("4 x Half"), std::string::npos) << one.out.substr(0, 600);
  const Outcome unknown = with({"--set", "cluster.gpu_type=Haf"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("unknown GPU type 'Haf': did you mean 'Half'?"), std::string::npos)
      << unknown.err;
  const Outcome list = run_corun({"list", "gpus", "--gpu-types", file, "--format", "csv"});
  ASSERT_EQ(list.code, 0) << list.err;
  EXPECT_EQ(list.out.substr(list.out.find('\n') + 1).rfind("Half,,", 0), 0U) << list.out;
  EXPECT_EQ(run_corun({"list", "models", "--gpu-types", file}).code, 2);
}

}  // namespace
}  // namespace corun::gpu_types_file_test
