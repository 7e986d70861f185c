#include "predictors/physics/time_terms.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "predictors/graph/graph_builder.hpp"

namespace corun::time_terms_test {
namespace {

constexpr double kPeak = 1e13 / 1e3;       // operations per ms
constexpr double kBandwidth = 1e11 / 1e3;  // bytes per ms

JobFigures gpu_of_round_figures(double batch) {
  JobFigures figures;
  figures.batch = batch;
  figures.convolution_tflops = 10;
  figures.bandwidth_gbs = 100;
  figures.l2_mib = 1e-9;  // nothing fits
  figures.sms = 10;
  return figures;
}

double term(const TimeTerms& terms, TimeTerm which) {
  return terms.at(static_cast<std::size_t>(which));
}

TEST(TimeTerms, AConvolutionByHand) {
  constexpr double kBatch = 8, kSide = 16, kIn = 32, kOut = 64;
  GraphBuilder builder;
  const auto in = builder.input("in", {1, 32, 16, 16});
  builder.convolution("conv", in, {.channels = 64, .kernel = {3}, .padding = {1}});
  const TimeTerms terms = time_terms(builder.graph(), gpu_of_round_figures(kBatch));
  const double pixels = kBatch * kSide * kSide;
  EXPECT_NEAR(term(terms, TimeTerm::kWinograd), 2 * pixels * kOut * kIn * 9 / kPeak, 1e-12);
  EXPECT_EQ(term(terms, TimeTerm::kWindows), 0);
  EXPECT_NEAR(term(terms, TimeTerm::kConvolutionBytes), 4 * pixels * (kIn + kOut) / kBandwidth,
              1e-9);
  // 2,048 rows of 64 columns are 16 tiles: two waves on ten SMs.
  EXPECT_NEAR(term(terms, TimeTerm::kWaves), 2 * 2.0 * 128 * 64 * kIn * 9 / (kPeak / 10), 1e-12);
  EXPECT_NEAR(term(terms, TimeTerm::kCopiedInput), 4 * pixels * kIn / (5e9 / 1e3), 1e-9);
  EXPECT_EQ(term(terms, TimeTerm::kConvolutionLaunches), 1e-3);
  EXPECT_EQ(term(terms, TimeTerm::kProducts), 0);
}

TEST(TimeTerms, KindsOfConvolution) {
  struct Case {
    TimeTerm kind;
    ConvolutionLayer layer;
  };
  const ConvolutionLayer dense{.channels = 32, .kernel = {3}, .padding = {1}};
  ConvolutionLayer strided = dense, point = dense, grouped = dense, depthwise = dense;
  strided.stride = {2};
  point.kernel = {1};
  point.padding = {0};
  grouped.groups = 4;
  depthwise.groups = 32;
  for (const Case& c : {Case{TimeTerm::kWinograd, dense}, Case{TimeTerm::kWindows, strided},
                        Case{TimeTerm::kPointwise, point}, Case{TimeTerm::kGrouped, grouped},
                        Case{TimeTerm::kDepthwise, depthwise}}) {
    GraphBuilder builder;
    builder.convolution("conv", builder.input("in", {1, 32, 16, 16}), c.layer);
    const TimeTerms terms = time_terms(builder.graph(), gpu_of_round_figures(1));
    for (const TimeTerm kind : {TimeTerm::kWinograd, TimeTerm::kWindows, TimeTerm::kPointwise,
                                TimeTerm::kGrouped, TimeTerm::kDepthwise}) {
      EXPECT_EQ(term(terms, kind) > 0, kind == c.kind)
          << static_cast<int>(kind) << " of " << static_cast<int>(c.kind);
    }
  }
}

TEST(TimeTerms, BytesInTheCacheCountAQuarter) {
  GraphBuilder builder;
  builder.relu("relu", builder.input("in", {1, 1024}), false);
  JobFigures figures = gpu_of_round_figures(1);
  const double without = term(time_terms(builder.graph(), figures), TimeTerm::kElementwiseBytes);
  EXPECT_NEAR(without, 4 * 2048 / kBandwidth, 1e-9);
  figures.l2_mib = 1;
  EXPECT_NEAR(term(time_terms(builder.graph(), figures), TimeTerm::kElementwiseBytes), without / 4,
              1e-9);
}

TEST(TimeTerms, NothingIsKnownWithoutAGpuOrBatch) {
  GraphBuilder builder;
  builder.relu("relu", builder.input("in", {1, 8}));
  JobFigures figures = gpu_of_round_figures(1);
  figures.bandwidth_gbs = kNaN;
  EXPECT_TRUE(std::isnan(time_terms(builder.graph(), figures)[0]));
  figures = gpu_of_round_figures(0);
  EXPECT_TRUE(std::isnan(time_terms(builder.graph(), figures)[0]));
}

}  // namespace
}  // namespace corun::time_terms_test
