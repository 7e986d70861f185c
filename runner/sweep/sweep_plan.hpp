#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/catalog.hpp"
#include "runner/config/config.hpp"
#include "runner/config/config_overrides.hpp"
#include "runner/sweep/sweep_until.hpp"
#include "support/yaml_tree.hpp"

/// The configurations of a sweep (docs/sweeps.md): an ordinary configuration with an additional
/// section `sweep`. Every point is that configuration with some keys set, as by --set.
namespace corun::inline runner {

/// Most points of a sweep; more are probably a mistake in a grid.
inline constexpr std::size_t kSweepPointsMax = 1'000'000;

/// The points of a sweep.
class SweepPlan {
 public:
  /// A value of a point; an empty `text` means that the point keeps the configuration's value.
  struct Value {
    YamlNode node;
    std::string text;  ///< as one line of YAML
  };

  /// Reads a file. `overrides` of "sweep" and of keys below it are of
  /// the section, the others of the configuration. Reads every point once, so that mistakes are reported before any work. Throws
  /// InputError with its place.
  static SweepPlan read(const std::string& path, std::span<const Override> overrides,
                        std::span<const PolicyEntry> policies);
  /// Reads text; places name `place_name` as the file.
  static SweepPlan parse(std::string_view text, const std::string& place_name,
                         std::span<const Override> overrides,
                         std::span<const PolicyEntry> policies);

  std::size_t points() const { return replications_.size(); }
  /// The swept keys, in the order in which they were first named.
  const std::vector<std::string>& keys() const { return keys_; }
  /// Whether a key says what the policies meet (load, cluster, costs), not what an operator chooses: those of
  /// `sweep.scenario`, else those below workload, cluster, world, estimates, preemption and measure, `replications` and
  /// `seed`.
  bool is_scenario(std::size_t key) const { return is_scenario_[key]; }
  /// The value of a key at a point, as text; empty if the point keeps the configuration's value.
  const std::string& text(std::size_t point, std::size_t key) const {
    return values_[key][chosen_[point * keys_.size() + key]].text;
  }
  /// When a point needs no more replications; then those of a point are the most that it may have.
  const SweepUntil& until() const { return until_; }
  /// Replications of a point (which may be swept, too), and of all points.
  std::size_t replications(std::size_t point) const { return replications_[point]; }
  std::size_t total_replications() const { return total_; }

  /// The configuration of a point. Thread-safe.
  Config config_of(std::size_t point) const;
  /// "point 3 (cluster.nodes=4, belief.known=0.5)"
  std::string describe(std::size_t point) const;
  /// The configuration without the section.
  const Config& base() const { return base_; }

  /// A sweep file with the points as a list, which gives the same plan. Equal texts mean equal
  /// sweeps.
  std::string dump_yaml() const;

 private:
  static SweepPlan from_tree(YamlNode root, const std::string& directory,
                             std::span<const Override> overrides,
                             std::span<const PolicyEntry> policies);
  std::size_t add_key(const std::string& key, const YamlNode& at);
  void add_value(std::size_t key, YamlNode node);
  void read_grid(const YamlNode& section);
  void read_list(const YamlNode& section);
  void read_space(const YamlNode& section, bool stratified);
  void read_scenario(const YamlNode* list);
  void check_points();

  YamlNode root_;  ///< without the section, overrides applied
  std::string directory_;
  std::span<const PolicyEntry> policies_;
  Config base_;
  std::vector<std::string> keys_;
  std::vector<std::size_t> key_offsets_;
  std::vector<bool> is_scenario_;  ///< by key
  bool told_scenario_ = false;     ///< the section lists them
  SweepUntil until_;
  std::vector<std::vector<Value>>
      values_;  ///< by key; the first means "keeps the configuration's value"
  std::vector<std::uint32_t> chosen_;  ///< by point and key: index into values_[key]
  std::vector<std::uint32_t> replications_;
  std::size_t total_ = 0;
};

}  // namespace corun::inline runner
