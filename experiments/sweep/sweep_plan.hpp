#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/config/yaml_tree.hpp"
#include "policies/catalog.hpp"

/// Which configurations a sweep runs (docs/sweeps.md): an ordinary configuration with one more
/// section, `sweep`. Every point is that configuration with some keys set, exactly as --set would.
namespace corun {

/// At most so many points; a slip in a grid is more likely than a use for more.
inline constexpr std::size_t kSweepPointsMax = 1'000'000;

/// The points of a sweep, known before the first of them runs.
class SweepPlan {
 public:
  /// A value of a point; an empty `text` means that this point keeps the configuration's own.
  struct Value {
    YamlNode node;
    std::string text;  ///< as YAML on one line
  };

  /// Reads a file. `overrides` as in config_yaml.hpp; those that begin with "sweep." belong to the
  /// section. Every point is read once, so that a mistake in any of them is told before any work:
  /// InputError with its place.
  static SweepPlan read(const std::string& path, std::span<const std::string> overrides,
                        std::span<const PolicyEntry> policies);
  /// Reads text; `place_name` stands for the file in places.
  static SweepPlan parse(std::string_view text, const std::string& place_name,
                         std::span<const std::string> overrides,
                         std::span<const PolicyEntry> policies);

  std::size_t points() const { return replications_.size(); }
  /// The swept keys, in the order in which they were first named.
  const std::vector<std::string>& keys() const { return keys_; }
  /// The value of a key at a point, as text; empty where the point keeps the configuration's.
  const std::string& text(std::size_t point, std::size_t key) const {
    return values_[key][chosen_[point * keys_.size() + key]].text;
  }
  /// Replications of a point (they may be swept, too), and of all points.
  std::size_t replications(std::size_t point) const { return replications_[point]; }
  std::size_t total_replications() const { return total_; }

  /// The configuration of a point; any thread.
  Config config_of(std::size_t point) const;
  /// "point 3 (cluster.nodes=4, belief.known=0.5)"
  std::string describe(std::size_t point) const;
  /// The configuration without the section.
  const Config& base() const { return base_; }

  /// The configuration with its points as a list: an ordinary sweep file that gives the same plan.
  /// Equal texts are equal sweeps.
  std::string dump_yaml() const;

 private:
  static SweepPlan from_tree(YamlNode root, const std::string& directory,
                             std::span<const std::string> overrides,
                             std::span<const PolicyEntry> policies);
  std::size_t add_key(const std::string& key, const YamlNode& at);
  void add_value(std::size_t key, YamlNode node);
  void read_grid(const YamlNode& section);
  void read_list(const YamlNode& section);
  void read_space(const YamlNode& section, bool stratified);
  void check_points();

  YamlNode root_;  ///< without the section, overrides applied
  std::string directory_;
  std::span<const PolicyEntry> policies_;
  Config base_;
  std::vector<std::string> keys_;
  std::vector<std::size_t> key_offsets_;
  std::vector<std::vector<Value>> values_;  ///< by key; the first is "keeps the configuration's"
  std::vector<std::uint32_t> chosen_;       ///< by point and key: index into values_[key]
  std::vector<std::uint32_t> replications_;
  std::size_t total_ = 0;
};

}  // namespace corun
