#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// The note on a world.fallback that predicts a user's pairs worse than their mean does.
namespace corun::world_fallback_test {
namespace {

/// All pairs of ten jobs, each ending together with its co-runner; their excess by the first term of contention times
/// `law`, and as much noise as `noise` says.
std::string pairs(double law, double noise) {
  Rng rng(7, Stream::kTest);
  std::vector<double> util(10);
  for (double& u : util) u = 10 + 85 * rng.uniform();
  std::string csv =
      "group,gpu,sharing,session,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,solo_s,"
      "corun_s,source\n";
  for (std::size_t a = 0; a < util.size(); ++a) {
    for (std::size_t b = a + 1; b < util.size(); ++b) {
      for (const std::size_t job : {a, b}) {
        const double excess = law * util[a] * util[b] / 1e4 + noise * rng.uniform();
        csv += fmt::format("{}-{},V100-16GB,time-slicing,one,j{},{},10,10,900,{},1000,me\n", a, b,
                           job, util[job], 1000 / (1 + excess));
      }
    }
  }
  return csv;
}

std::vector<std::string> notes_on_losing(const std::string& csv,
                                         const std::vector<std::string>& more) {
  const test::TemporaryDirectory folder;
  std::vector<std::string> settings{"replications=1", "policies=[fcfs]",
                                    "world.path=" + folder.write("mine.corun.csv", csv)};
  settings.insert(settings.end(), more.begin(), more.end());
  const Experiment experiment(default_config_with(parse_overrides(settings), policy_catalog()), "");
  Notes notes = experiment.notes();
  std::erase_if(notes, [](const Note& note) { return note.code != NoteCode::kLosesToMean; });
  return texts_of(notes);
}

TEST(WorldFallback, SaysThatItLosesToTheMeanWhereItDoes) {
  const std::vector<std::string> notes = notes_on_losing(pairs(0, 0.5), {});
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(notes[0].starts_with("world.fallback, the model contention, of ")) << notes[0];
  EXPECT_NE(notes[0].find("(45 pairs in five folds); set it to another model"), std::string::npos)
      << notes[0];
  const std::vector<std::string> alone = notes_on_losing(pairs(0, 0.5), {"world.model=contention"});
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_TRUE(alone[0].starts_with("the model contention of ")) << alone[0];
}

TEST(WorldFallback, IsAnotherWhereTheTableHasNoProfiles) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.write(
      "pairs.csv", "job_a,job_b,norm_a,norm_b,gpu\na,b,0.8,0.7,V100-16GB\na,c,0.9,0.6,V100-16GB\n");
  const auto experiment_with = [&](std::vector<std::string> settings) {
    settings.insert(settings.end(), {"replications=1", "policies=[fcfs]", "world.path=" + path});
    return Experiment(default_config_with(parse_overrides(settings), policy_catalog()), "");
  };
  const Experiment chosen = experiment_with({});
  EXPECT_EQ(chosen.config().world.fallback.text(), "factors");
  const Note* const note = find_note(chosen.resolutions(), NoteCode::kFallbackChosen);
  ASSERT_NE(note, nullptr);
  EXPECT_NE(note->text.find("factors takes its place as world.fallback"), std::string::npos)
      << note->text;
  // A value that was given stays, and is refused where it cannot be.
  EXPECT_THROW(experiment_with({"world.fallback=contention"}), InputError);
  EXPECT_EQ(find_note(experiment_with({"world.fallback=low-rank"}).resolutions(),
                      NoteCode::kFallbackChosen),
            nullptr);
}

TEST(WorldFallback, SaysNothingWhereItWins) {
  EXPECT_TRUE(notes_on_losing(pairs(0.8, 0.02), {}).empty());
}

}  // namespace
}  // namespace corun::world_fallback_test
