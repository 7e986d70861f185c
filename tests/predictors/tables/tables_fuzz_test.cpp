#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "predictors/catalog.hpp"
#include "predictors/tables/job_table.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// Tables of measured jobs that are damaged: each is refused in one line, or its rows are sound and can be predicted.
namespace corun::predictor_tables_fuzz_test {
namespace {

constexpr std::array<const char*, 5> kTables{
    "model,family,batch,img_px,params_m,gmacs,macts_m,mem_mib,status,graph_fwd_mib,graph_bwd_mib,"
    "graph_total_mib\n"
    "a,x,8,224,25,4,11,5000,ok,700,900,1000\n\"b, c\",x,64,224,25,4,11,900,oom,700,900,1000\n",
    "gpu_type,host,protocol,suspect,precision,phase,model,median_ms\n"
    "GTX 1080 Ti,h,new (batch 12),0,float,train,resnet18,100\n"
    "TITAN V,h,new (batch 12),0,float,inference,vgg11,9.5\n",
    "run,gpu,cudnn,use_cudnn,model,batch,h,w,total_ms\n"
    "r,Tesla K80,5110,1,resnet-18,16,224,224,120\nr,c4.4xlarge,none,0,alexnet,1,64,64,300\n",
    "Filename,Activations-Params,Batch Size,Max GPU Memory (MiB),Avg GPUTL,Status\n"
    "input_channels:3_num_classes:10_depth:2_arch:uniform_base_filters:8_batch:4_input_size:16_"
    "act:relu.out,\"[('conv2d', 2048, 224), ('batch_norm2d', 2048, 16), ('ReLU', 2048, 0), "
    "('dropout', 2048, 0), ('adaptive_avg_pool2d', 8, 0), ('linear', 10, 90), ('softmax', 10, 0)]\""
    ",4,1500,40,SUCCESSFUL\n",
    "zoo,batch,gpu_type,phase,img_px,mem_mib,step_ms,gpu_util_pct,parameters,kept_bytes\n"
    "squeezenet1_0,16,T4,train,64,1800,40,70,,\n,4,V100,inference,,,3,,1000,1e6\n"};

/// One to four changes of bytes, numbers and fields.
std::string damaged(std::string text, Rng& rng) {
  constexpr std::array<const char*, 16> kPieces{
      "-1", "0",  "1e308", "-1e308", "nan", "inf",       "99999999999999999999", "", "0.5", "1e-9",
      ",",  "\"", "\n",    "'",      "[(",  "4294967296"};
  for (std::uint32_t step = 0; step <= rng.below(4) && !text.empty(); ++step) {
    const auto at = rng.below(static_cast<std::uint32_t>(text.size()));
    switch (rng.below(4)) {
      case 0:
        text[at] = static_cast<char>(rng.below(256));
        break;
      case 1:
        text.erase(at, rng.below(12));
        break;
      default: {
        std::size_t end = at;
        while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
        text.replace(at, end - at, kPieces.at(rng.below(kPieces.size())));
      }
    }
  }
  return text;
}

void expect_read_or_refused(const std::string& path, Target target) {
  try {
    const JobTable table = read_job_table(path, target, GpuTypes());
    const auto predictor = built_in_predictor(target);
    for (const JobTableRow& row : table.rows) {
      for (const FigureEntry& figure : figure_catalog()) {
        const double value = row.job.figures.*figure.value;
        EXPECT_TRUE(std::isnan(value) || (value >= 0 && std::isfinite(value))) << figure.name;
      }
      EXPECT_FALSE(row.counts && std::isnan(row.value) && std::isnan(row.at_least));
      EXPECT_FALSE(row.value < 0 || std::isinf(row.value));
      const Prediction p = predictor->predict({&row.job, 1})[0];
      EXPECT_TRUE(std::isnan(p.median) || (p.lo <= p.median && p.median <= p.hi));
      EXPECT_FALSE(std::isinf(p.hi));
    }
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
  }
}

TEST(PredictorTables, MutationsAreReadOrRefused) {
  const char* more = std::getenv("CORUN_FUZZ_ROUNDS");
  const int rounds = more != nullptr ? std::atoi(more) : 150;
  const char* other = std::getenv("CORUN_FUZZ_SEED");
  const std::uint64_t seed = other != nullptr ? std::strtoull(other, nullptr, 10) : 1;
  const test::TemporaryDirectory directory;
  for (std::size_t t = 0; t < kTables.size(); ++t) {
    Rng rng(seed, Stream::kTest, t);
    for (int round = 0; round < rounds; ++round) {
      const std::string text = round == 0 ? kTables.at(t) : damaged(kTables.at(t), rng);
      SCOPED_TRACE(text);
      const std::string path = directory.write("jobs.csv", text);
      for (const Target target : {Target::kMemory, Target::kTime, Target::kUtilisation}) {
        expect_read_or_refused(path, target);
      }
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace corun::predictor_tables_fuzz_test
