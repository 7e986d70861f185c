#include "sim/engine/run_recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/error.hpp"

namespace corun::run_recorder_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(RunRecorder, AGangLeavesAnEpisodeOnEachOfItsGpusOneOfThemPrimary) {
  RunRecorder recorder(1, 8);
  EpisodeRecord episode;
  episode.jobs = {JobId{0}};
  recorder.add(std::move(episode), {GpuId{5}, GpuId{2}, GpuId{7}});
  const RunRecord record = recorder.take();
  std::vector<std::uint32_t> gpus;
  std::vector<bool> primary;
  for (const EpisodeRecord& e : record.episodes) {
    gpus.push_back(static_cast<std::uint32_t>(index(e.gpu)));
    primary.push_back(e.primary);
    EXPECT_THAT(e.jobs, ElementsAre(JobId{0}));
  }
  EXPECT_THAT(gpus, ElementsAre(5, 2, 7));
  EXPECT_THAT(primary, ElementsAre(false, true, false));
}

TEST(RunRecorder, ARecordThatFitsNoMachineIsRefused) {
  RunRecorder recorder(1, 8);
  recorder.add(EpisodeRecord{}, std::vector<GpuId>(kMostEpisodes + 1));
  try {
    recorder.take();
    FAIL() << "kept";
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("20,000,000 rows of /episodes"));
  }
}

/// A sink is shown what a record could not keep.
TEST(RunRecorder, ASinkIsNotLimited) {
  struct Counting : RunSink {
    void job(JobId, const JobRecord&) override {}
    void episodes(const EpisodeRecord&, std::span<const GpuId> gpus) override {
      count += gpus.size();
    }
    std::size_t count = 0;
  } sink;
  RunRecorder recorder(0, 8, &sink);
  recorder.add(EpisodeRecord{}, std::vector<GpuId>(kMostEpisodes + 1));
  recorder.take();
  EXPECT_EQ(sink.count, kMostEpisodes + 1);
}

}  // namespace
}  // namespace corun::run_recorder_test
