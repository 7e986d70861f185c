#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "cli/cli.hpp"
#include "cli/key_options.hpp"
#include "policies/catalog.hpp"
#include "results/results_writer.hpp"
#include "runner/config/config_keys.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "runner/experiment/experiment_header.hpp"
#include "runner/inputs/file_kind.hpp"
#include "runner/replay/replay.hpp"
#include "runner/replay/replay_output.hpp"
#include "runner/replay/replay_view.hpp"
#include "runner/sweep/sweep_plan.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/effort.hpp"
#include "tests/helpers/random_runs.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// A run of a dumped configuration is the run that was dumped, byte by byte: of every configuration of the
/// repository, and of command lines drawn from all keys and short options.
namespace corun::dumped_run_test {
namespace {

namespace fs = std::filesystem;

/// What a run prints and writes; the resolved configuration is part of both.
struct Output {
  std::string config;
  std::string json;
  std::string results;
  Notes notes;
};

class DumpedRuns : public testing::Test {
 protected:
  /// Nothing if keys contradict each other or a policy breaks a rule of the control loop.
  std::optional<Output> output_of(const Config& config) const {
    try {
      const Experiment experiment(config, "", {}, nullptr, files_);
      const std::string path = directory_.path("r.h5");
      ResultsWriter writer(path, results_header(experiment));
      ReplayOptions options;
      options.time_decisions = false;
      const ReplayResult result = replay(experiment, options);
      writer.finish(result);
      return Output{dump_yaml(experiment.config()),
                    to_json(experiment, result, replay_view(experiment, {}, {})).dump(),
                    test::read_file(path), experiment.notes()};
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  static void expect_same(const std::optional<Output>& one, const std::optional<Output>& other,
                          const char* what) {
    ASSERT_EQ(one.has_value(), other.has_value()) << what;
    if (!one) return;
    EXPECT_EQ(other->config, one->config) << what;
    EXPECT_TRUE(other->json == one->json) << what;  // long
    EXPECT_EQ(other->notes, one->notes) << what;
    EXPECT_TRUE(other->results == one->results) << what;
  }

  /// What it writes; nothing if it does not run.
  std::optional<Output> expect_same_when_dumped(const Config& config) const {
    const std::optional<Output> direct = output_of(config);
    if (!direct) return direct;
    Config dumped = parse_config(direct->config, "dump", {}, policy_catalog());
    dumped.directory = config.directory;
    expect_same(direct, output_of(dumped), "dumped");
    return direct;
  }

  test::TemporaryDirectory directory_;
  std::shared_ptr<InputCache> files_ = std::make_shared<InputCache>();
};

/// Points of a sweep: each as its own dumped configuration, and as the same point of the dumped sweep.
TEST_F(DumpedRuns, AreThoseOfEveryConfigurationOfTheRepository) {
  int configurations = 0;
  int points = 0;
  const std::string root = CORUN_SOURCE_DIR;
  for (const char* folder : {"/examples", "/experiments", "/tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root + folder)) {
      const std::string path = entry.path().string();
      if (!path.ends_with(".yaml") && !path.ends_with(".yml")) continue;
      SCOPED_TRACE(path);
      const FileKind kind = kind_of_file(path).kind;
      std::vector<Config> configs;
      try {
        if (kind == FileKind::kConfiguration) {
          configs.push_back(read_config(path, {}, policy_catalog()));
        } else if (kind == FileKind::kSweep) {
          const SweepPlan plan = SweepPlan::read(path, {}, policy_catalog());
          const SweepPlan again = SweepPlan::parse(plan.dump_yaml(), path, {}, policy_catalog());
          EXPECT_EQ(again.dump_yaml(), plan.dump_yaml());
          for (const std::size_t point : {std::size_t{0}, plan.points() - 1}) {
            configs.push_back(plan.config_of(point));
            Config other = again.config_of(point);
            configs.back().replications = other.replications = 1;
            other.directory = configs.back().directory;
            expect_same(output_of(configs.back()), output_of(other), "of the dumped sweep");
          }
        }
      } catch (const InputError&) {
        continue;  // of live mode, whose keys are others
      }
      for (Config& config : configs) {
        config.replications = std::min<std::int64_t>(config.replications, 2);
        if (!expect_same_when_dumped(config)) continue;  // it needs public data
        (kind == FileKind::kSweep ? points : configurations) += 1;
      }
    }
  }
  EXPECT_GE(configurations, 18);
  EXPECT_GE(points, 2);
}

// ---- drawn command lines --------------------------------------------------------------------------

constexpr const char* kGangs =
    "job,submit_s,solo_s,gpus,gpu_util_pct\na,0,100,2,50\nb,0,50,1,20\nc,5,70,1,30\n";

/// Values of keys that take text or policies, and sections whose keys go together.
const std::vector<std::pair<std::string, std::vector<std::string>>> kTexts{
    {"workload.source", {"jrs-resampled", "jrs-queue"}},
    {"workload.gpu_type", {"T4", "V100-16GB"}},
    {"cluster.gpu_type", {"v100", "T4", "A100-40GB"}},
    {"cluster.machines", {"2x1:T4+1x2:V100-16GB"}},
    {"belief.initial", {"jrs", "prirect", "none", "prefitted"}},
    {"world.path", {"prefitted"}},
    {"control", {"{mode: rounds, round_s: 60}", "{tick_s: 1}", "{tick_s: 1, tick_rule: progress}"}},
    {"policies",
     {"[fcfs, random]", "[{name: sjf}, {name: las}]", "[{name: min-slowdown, epsilon: 0.2}]",
      "[{name: kube-default}, {name: fgd}, {name: best-fit}]",
      "[{name: proactive}, {name: reactive}]", "[{name: schedtune}]",
      "[{name: srsf-packed}, {name: srtf}]", "[{name: oracle}, {name: balance, label: a#b}]",
      "[{name: max-packing, by: memory}, {name: opposites}, {name: exclusive}]"}}};

const std::vector<std::vector<std::string>> kShort{
    {"--gpus", "1"},         {"--gpus", "16"},
    {"--cluster", "3x2"},    {"--cluster", "2x1:T4+1x4:V100-16GB"},
    {"--policies", "sjf"},   {"--policies", "kube-default,fgd,min-slowdown"},
    {"--replications", "2"}, {"--seed", "7"}};

using Below = std::function<std::size_t(std::size_t)>;

/// A value of any key but those that take text; numbers lie around the default.
std::string drawn(const KeyValue& key, const Below& below) {
  return std::visit(
      [&](const auto& k) -> std::string {
        using T = std::decay_t<decltype(k)>;
        if constexpr (std::is_same_v<T, KeyWord>) {
          return std::string(k.words[below(k.words.size())]);
        } else if constexpr (std::is_same_v<T, KeyFlag>) {
          return below(2) == 0 ? "true" : "false";
        } else if constexpr (std::is_same_v<T, KeyText> || std::is_same_v<T, KeyPolicies>) {
          return "";
        } else {
          if (k.slot.may_be_null() && below(4) == 0) return "null";
          const auto usual = static_cast<double>(k.slot.get().value_or(1));
          const double factor = std::array{0.0, 0.5, 1.0, 2.0}[below(4)];
          const auto value = static_cast<decltype(k.range.min)>(usual * factor + (usual == 0));
          return fmt::format("{}", std::clamp(value, k.range.min, k.range.max));
        }
      },
      key);
}

TEST_F(DumpedRuns, AreThoseOfAnyCommandLine) {
  Config usual;
  std::vector<ConfigKey> keys = config_keys(usual);
  std::erase_if(keys, [](const ConfigKey& key) {
    return key.path == "replications" || key.path.ends_with(".effort");
  });
  const std::string gangs = directory_.write("g.csv", kGangs);
  int ran = 0;
  const int runs = test::random_runs(500);
  for (int number = 0; number < runs && !HasFailure(); ++number) {
    Rng rng(static_cast<std::uint64_t>(number), Stream::kTest, 46);
    const Below below = [&](std::size_t n) { return rng.below(static_cast<std::uint32_t>(n)); };
    std::vector<std::string> line;
    const auto set = [&](const std::string& text) { line.insert(line.end(), {"--set", text}); };
    set(std::string("world.effort=") + test::kLittleEffortText);
    set(std::string("belief.effort=") + test::kLittleEffortText);
    if (below(3) == 0) {
      set("workload.source=csv");
      set("workload.path='" + gangs + "'");
    }
    for (std::size_t k = below(3); k-- > 0;) {
      const auto& [key, values] = kTexts[below(kTexts.size())];
      set(key + "=" + values[below(values.size())]);
    }
    for (std::size_t k = 1 + below(3); k-- > 0;) {
      const ConfigKey& key = keys[below(keys.size())];
      const std::string value = drawn(key.value, below);
      if (!value.empty()) set(std::string(key.path) + "=" + value);
    }
    const std::vector<std::string>& option = kShort[below(kShort.size())];
    if (below(2) == 0) line.insert(line.end(), option.begin(), option.end());
    const bool two = std::ranges::find(line, "--replications") != line.end();
    SCOPED_TRACE(fmt::format("corun replay '{}'", fmt::join(line, "' '")));
    std::vector<Override> overrides;
    std::optional<Config> config;
    try {
      CommandLine command;
      CommonOptions common;
      add_key_options(command);
      const auto values = parse_command_line(command, line, common);
      overrides = key_overrides(*values, common.overrides);
      overrides.insert(overrides.end(), common.overrides.begin(), common.overrides.end());
      if (!two) overrides.push_back(typed_word("replications", "1", "the test"));
      config = default_config_with(overrides, policy_catalog());
    } catch (const InputError&) {
      continue;  // keys that contradict each other
    }
    const std::optional<Output> direct = expect_same_when_dumped(*config);
    if (!direct) continue;
    ++ran;
    const std::string sweep =
        fmt::format("sweep: {{list: [{{measure.details: {}}}]}}", config->measure.details);
    std::erase_if(overrides, [](const Override& o) { return o.key == "measure.details"; });
    const SweepPlan plan = SweepPlan::parse(sweep, "s.yaml", overrides, policy_catalog());
    expect_same(direct, output_of(plan.config_of(0)), "a sweep of one point");
    const SweepPlan again = SweepPlan::parse(plan.dump_yaml(), "d.yaml", {}, policy_catalog());
    EXPECT_EQ(again.dump_yaml(), plan.dump_yaml());
    expect_same(direct, output_of(again.config_of(0)), "a dumped sweep of one point");
  }
  EXPECT_GT(ran, test::random_finds(150));
}

}  // namespace
}  // namespace corun::dumped_run_test
