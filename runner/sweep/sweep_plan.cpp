#include "runner/sweep/sweep_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "runner/config/config_yaml.hpp"
#include "runner/experiment/resolved_config.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/base/math.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"

namespace corun::inline runner {

namespace {

using NodeKind = YamlNode::Kind;

constexpr std::string_view kSection = "sweep";
constexpr std::array<std::string_view, 4> kWays = {"grid", "list", "random", "latin-hypercube"};
constexpr std::string_view kScenario = "scenario";
constexpr std::string_view kUntil = "until";
constexpr std::size_t kKeysMax = 100;
constexpr std::size_t kBytesMax = std::size_t{256} << 20U;  // lists of points may be long

[[noreturn]] void refuse(const YamlNode& node, const std::string& key,
                         const std::string& expected) {
  throw InputError(node.place(),
                   fmt::format("{}: found {}, expected {}", key, node.description(), expected));
}

/// A value as one line of YAML, for records and --dump-config.
std::string written(const YamlNode& node) {
  const auto quoted = [](const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
      if (c == '\'') out += c;
      out += c;
    }
    return out + "'";
  };
  const auto plain = [](const std::string& text) {
    return !text.empty() &&
           std::ranges::all_of(text,
                               [](char c) {
                                 return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                        (c >= '0' && c <= '9') || c == '_' || c == '.' ||
                                        c == '/' || c == '+' || c == '-';
                               }) &&
           text != "-" && text.find("---") == std::string::npos;
  };
  std::string out;
  switch (node.kind) {
    case NodeKind::kNull:
      return "null";
    case NodeKind::kScalar:
      return !node.quoted && plain(node.text) ? node.text : quoted(node.text);
    case NodeKind::kSequence:
      for (const YamlNode& child : node.children) {
        out += (out.empty() ? "" : ", ") + written(child);
      }
      return "[" + out + "]";
    case NodeKind::kMap:
      for (const YamlNode& child : node.children) {
        out += fmt::format("{}{}: {}", out.empty() ? "" : ", ",
                           plain(child.key) ? child.key : quoted(child.key), written(child));
      }
      return "{" + out + "}";
  }
  return out;
}

/// A key path in a flow map, where brackets need quotes.
std::string written_key(const std::string& key) {
  return key.find('[') == std::string::npos ? key : "'" + key + "'";
}

double number_of(const YamlNode& node, const std::string& key) {
  const auto number = node.kind == NodeKind::kScalar && !node.quoted ? parse_number(node.text)
                                                                     : std::optional<double>();
  if (!number) refuse(node, key, "a number");
  return *number;
}

std::int64_t whole_of(const YamlNode& node, const std::string& key, std::int64_t min,
                      std::int64_t max) {
  const auto number = node.kind == NodeKind::kScalar && !node.quoted
                          ? parse_integer(node.text)
                          : std::optional<std::int64_t>();
  if (!number || *number < min || *number > max) {
    refuse(node, key, fmt::format("a whole number from {} to {}", min, max));
  }
  return *number;
}

void check_keys(const YamlNode& section, const std::string& name,
                std::span<const std::string_view> known) {
  for (const YamlNode& child : section.children) {
    if (std::ranges::find(known, child.key) != known.end()) continue;
    throw InputError(child.key_place(),
                     fmt::format("unknown key '{}' in '{}': {}", printable(child.key), name,
                                 did_you_mean(child.key, known)));
  }
}

/// One dimension of a space: maps a draw in [0, 1) to a value. Numbers are rounded to six digits.
class Dimension {
 public:
  Dimension(const YamlNode& node, const std::string& name) : node_(&node) {
    constexpr std::array<std::string_view, 4> kKinds = {"uniform", "log-uniform", "integer",
                                                        "choice"};
    if (node.kind != NodeKind::kMap || node.children.size() != 1) {
      refuse(node, name,
             "one of {uniform: [0, 1]}, {log-uniform: [0.01, 1]}, {integer: [1, 8]}, "
             "{choice: [a, b]}");
    }
    check_keys(node, name, kKinds);
    const YamlNode& range = node.children.front();
    kind_ = static_cast<std::size_t>(std::ranges::find(kKinds, range.key) - kKinds.begin());
    const std::string key = name + "." + range.key;
    if (kind_ == kChoice) {
      if (range.kind != NodeKind::kSequence || range.children.empty()) {
        refuse(range, key, "a list of values such as [a, b]");
      }
      choices_ = range.children;
      return;
    }
    if (range.kind != NodeKind::kSequence || range.children.size() != 2) {
      refuse(range, key, "the two ends of a range, [LOW, HIGH]");
    }
    if (kind_ == kInteger) {
      constexpr std::int64_t kEnd = 1'000'000'000;
      low_ = static_cast<double>(whole_of(range.children[0], key, -kEnd, kEnd));
      high_ = static_cast<double>(whole_of(range.children[1], key, -kEnd, kEnd));
    } else {
      low_ = number_of(range.children[0], key);
      high_ = number_of(range.children[1], key);
    }
    if (kind_ == kLogUniform && low_ <= 0) refuse(range.children[0], key, "a number above 0");
    if (!(low_ < high_) || !std::isfinite(high_ - low_)) {
      refuse(range.children[1], key, "an upper end above the lower one");
    }
    text_ends_ = {range.children[0].text, range.children[1].text};
  }

  YamlNode value(double draw) const {
    if (kind_ == kChoice) {
      const auto n = static_cast<double>(choices_.size());
      return choices_[static_cast<std::size_t>(std::min(draw * n, n - 1))];
    }
    YamlNode node;
    node.kind = NodeKind::kScalar;
    node.source = node_->source;
    node.offset = node_->offset;
    if (kind_ == kInteger) {
      const double count = high_ - low_ + 1;
      node.text = fmt::format(
          "{}", static_cast<std::int64_t>(low_ + std::floor(std::min(draw * count, count - 1))));
      return node;
    }
    const double at = kind_ == kUniform ? low_ + draw * (high_ - low_)
                                        : low_ * math::exp(draw * math::log(high_ / low_));
    node.text = fmt::format("{:.6g}", at);
    const double rounded = parse_number(node.text).value_or(at);
    if (rounded < low_) node.text = text_ends_[0];
    if (rounded > high_) node.text = text_ends_[1];
    return node;
  }

 private:
  static constexpr std::size_t kUniform = 0;
  static constexpr std::size_t kLogUniform = 1;
  static constexpr std::size_t kInteger = 2;
  static constexpr std::size_t kChoice = 3;

  const YamlNode* node_;
  std::size_t kind_ = 0;
  double low_ = 0;
  double high_ = 0;
  std::array<std::string, 2> text_ends_;
  std::vector<YamlNode> choices_;
};

}  // namespace

SweepPlan SweepPlan::read(const std::string& path, std::span<const Override> overrides,
                          std::span<const PolicyEntry> policies) {
  check_kind(path, {FileKind::kSweep, FileKind::kConfiguration},
             "a configuration with a section 'sweep'");
  return from_tree(read_yaml_file(path, kBytesMax),
                   std::filesystem::path(path).parent_path().string(), overrides, policies);
}

SweepPlan SweepPlan::parse(std::string_view text, const std::string& place_name,
                           std::span<const Override> overrides,
                           std::span<const PolicyEntry> policies) {
  return from_tree(parse_yaml(text, place_name, true, kBytesMax), "", overrides, policies);
}

SweepPlan SweepPlan::from_tree(YamlNode root, const std::string& directory,
                               std::span<const Override> overrides,
                               std::span<const PolicyEntry> policies) {
  SweepPlan plan;
  plan.directory_ = directory;
  plan.policies_ = policies;
  if (root.kind != NodeKind::kMap) config_from_tree(root, {}, policies);  // throws
  std::vector<Override> own;
  for (const Override& typed : overrides) {
    if (typed.key.substr(0, typed.key.find_first_of(".[")) == kSection) {
      set_key(root, typed.key, typed.value, typed.place);
    } else {
      own.push_back(typed);
    }
  }
  const auto at = std::ranges::find(root.children, kSection, &YamlNode::key);
  if (at == root.children.end()) {
    throw InputError(root.place(),
                     "found no section 'sweep', expected one such as 'sweep: {grid: "
                     "{cluster.nodes: [2, 4, 8]}}'; corun replay runs a single "
                     "configuration");
  }
  const YamlNode section = std::move(*at);
  root.children.erase(at);
  for (const Override& typed : own) apply_override(root, typed);
  plan.root_ = std::move(root);
  plan.base_ = config_from_tree(plan.root_, {}, policies);

  const std::string expected = fmt::format("one of {}", fmt::join(kWays, ", "));
  if (section.kind != NodeKind::kMap) refuse(section, "sweep", expected);
  std::vector<std::string_view> known(kWays.begin(), kWays.end());
  known.insert(known.end(), {kScenario, kUntil});
  check_keys(section, "sweep", known);
  std::vector<const YamlNode*> ways;
  for (const YamlNode& child : section.children) {
    if (child.key != kScenario && child.key != kUntil) ways.push_back(&child);
  }
  if (ways.size() != 1) refuse(section, "sweep", expected);
  const YamlNode& way = *ways.front();
  const YamlNode* const scenario = section.find(kScenario);
  if (const YamlNode* until = section.find(kUntil)) plan.until_ = read_sweep_until(*until);
  if (way.key == "grid") plan.read_grid(way);
  if (way.key == "list") plan.read_list(way);
  if (way.key == "random") plan.read_space(way, false);
  if (way.key == "latin-hypercube") plan.read_space(way, true);
  plan.read_scenario(scenario);
  std::map<std::string, std::size_t> by_position;
  for (std::size_t k = 0; k < plan.keys_.size(); ++k) {
    const std::string key = with_position(plan.root_, plan.keys_[k]);
    const auto [first, fresh] = by_position.emplace(key, k);
    if (!fresh) {
      throw InputError(section.source->place(plan.key_offsets_[k]),
                       fmt::format("{} is the same key as {}, expected one of the two",
                                   plan.keys_[k], plan.keys_[first->second]));
    }
    for (const Override& typed : own) {
      if (with_position(plan.root_, typed.key) != key) continue;
      throw InputError(typed.place,
                       plan.keys_[k] + " is swept (" + section.source->place(plan.key_offsets_[k]) +
                           "), expected a key that is not; change the section 'sweep' instead");
    }
  }
  plan.check_points();
  return plan;
}

std::size_t SweepPlan::add_key(const std::string& key, const YamlNode& at) {
  const auto known = std::ranges::find(keys_, key);
  if (known != keys_.end()) return static_cast<std::size_t>(known - keys_.begin());
  if (keys_.size() == kKeysMax) {
    throw InputError(at.key_place(), fmt::format("found more than {} swept keys", kKeysMax));
  }
  keys_.push_back(key);
  key_offsets_.push_back(at.key_offset);
  values_.emplace_back().emplace_back();
  return keys_.size() - 1;
}

void SweepPlan::add_value(std::size_t key, YamlNode node) {
  node.key_offset = key_offsets_[key];
  std::string text = written(node);
  values_[key].push_back({std::move(node), std::move(text)});
}

void SweepPlan::read_grid(const YamlNode& section) {
  if (section.kind != NodeKind::kMap || section.children.empty()) {
    refuse(section, "sweep.grid", "keys with their values such as {cluster.nodes: [2, 4, 8]}");
  }
  std::size_t points = 1;
  for (const YamlNode& child : section.children) {
    if (child.kind != NodeKind::kSequence || child.children.empty()) {
      refuse(child, "sweep.grid." + child.key, "a list of values such as [2, 4, 8]");
    }
    const std::size_t key = add_key(child.key, child);
    std::set<std::string> seen;
    for (const YamlNode& value : child.children) {
      add_value(key, value);
      if (seen.insert(values_[key].back().text).second) continue;
      refuse(value, "sweep.grid." + child.key, "each value once; remove one of them");
    }
    points *= child.children.size();
    if (points > kSweepPointsMax) {
      throw InputError(section.place(),
                       fmt::format("sweep.grid: found more than {} points, expected "
                                   "fewer; leave out values",
                                   kSweepPointsMax));
    }
  }
  // The last key varies fastest, as in nested loops.
  chosen_.resize(points * keys_.size());
  for (std::size_t p = 0; p < points; ++p) {
    std::size_t rest = p;
    for (std::size_t k = keys_.size(); k-- > 0;) {
      const std::size_t count = values_[k].size() - 1;
      chosen_[p * keys_.size() + k] = static_cast<std::uint32_t>(1 + rest % count);
      rest /= count;
    }
  }
}

void SweepPlan::read_list(const YamlNode& section) {
  const std::string expected = "a list of points such as [{cluster.nodes: 2}, {cluster.nodes: 4}]";
  if (section.kind != NodeKind::kSequence || section.children.empty()) {
    refuse(section, "sweep.list", expected);
  }
  if (section.children.size() > kSweepPointsMax) {
    throw InputError(section.place(),
                     fmt::format("sweep.list: found {} points, expected at most {}",
                                 section.children.size(), kSweepPointsMax));
  }
  for (const YamlNode& point : section.children) {
    if (point.kind != NodeKind::kMap) refuse(point, "sweep.list", expected);
    for (const YamlNode& value : point.children) add_key(value.key, value);
  }
  chosen_.assign(section.children.size() * keys_.size(), 0);
  for (std::size_t p = 0; p < section.children.size(); ++p) {
    for (const YamlNode& value : section.children[p].children) {
      const std::size_t key = add_key(value.key, value);
      add_value(key, value);
      values_[key].back().node.key_offset = value.key_offset;
      chosen_[p * keys_.size() + key] = static_cast<std::uint32_t>(values_[key].size() - 1);
    }
  }
}

void SweepPlan::read_space(const YamlNode& section, bool stratified) {
  const std::string name = "sweep." + section.key;
  const std::string expected =
      "points and a space such as {points: 100, space: {cluster.nodes: {integer: [2, 16]}}}";
  if (section.kind != NodeKind::kMap) refuse(section, name, expected);
  constexpr std::array<std::string_view, 3> kKnown = {"points", "space", "seed"};
  check_keys(section, name, kKnown);
  const YamlNode* count = section.find("points");
  const YamlNode* space = section.find("space");
  const YamlNode* seed = section.find("seed");
  if (count == nullptr || space == nullptr) refuse(section, name, expected);
  const auto points = static_cast<std::size_t>(
      whole_of(*count, name + ".points", 1, static_cast<std::int64_t>(kSweepPointsMax)));
  const auto draws = static_cast<std::uint64_t>(
      seed == nullptr
          ? 1
          : whole_of(*seed, name + ".seed", 0, std::numeric_limits<std::int64_t>::max()));
  if (space->kind != NodeKind::kMap || space->children.empty()) {
    refuse(*space, name + ".space",
           "keys with their ranges such as {cluster.nodes: {integer: [2, 16]}}");
  }
  for (const YamlNode& child : space->children) {
    const Dimension dimension(child, name + ".space." + child.key);
    const std::size_t key = add_key(child.key, child);
    Rng rng(draws, Stream::kSweepPoints, key);
    std::vector<std::uint32_t> stratum(points);
    std::iota(stratum.begin(), stratum.end(), 0U);
    if (stratified) rng.shuffle(std::span(stratum));
    for (std::size_t p = 0; p < points; ++p) {
      const double draw = rng.uniform();
      add_value(key, dimension.value(stratified ? (stratum[p] + draw) / static_cast<double>(points)
                                                : draw));
    }
  }
  chosen_.resize(points * keys_.size());
  for (std::size_t p = 0; p < points; ++p) {
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      chosen_[p * keys_.size() + k] = static_cast<std::uint32_t>(p + 1);
    }
  }
}

void SweepPlan::read_scenario(const YamlNode* list) {
  constexpr std::array<std::string_view, 6> kSections = {"workload",  "cluster",    "world",
                                                         "estimates", "preemption", "measure"};
  for (const std::string& key : keys_) {
    const std::string_view section = std::string_view(key).substr(0, key.find_first_of(".["));
    is_scenario_.push_back(std::ranges::find(kSections, section) != kSections.end() ||
                           section == "replications" || section == "seed");
  }
  if (list == nullptr) return;
  if (list->kind != NodeKind::kSequence) {
    refuse(*list, "sweep.scenario", "a list of swept keys such as [cluster.nodes]");
  }
  told_scenario_ = true;
  is_scenario_.assign(keys_.size(), false);
  for (const YamlNode& name : list->children) {
    const auto at = std::ranges::find(keys_, name.text);
    if (name.kind != NodeKind::kScalar || at == keys_.end()) {
      refuse(name, "sweep.scenario",
             fmt::format("one of the swept keys {}", fmt::join(keys_, ", ")));
    }
    is_scenario_[static_cast<std::size_t>(at - keys_.begin())] = true;
  }
}

void SweepPlan::check_points() {
  const std::size_t points = keys_.empty() ? 1 : chosen_.size() / keys_.size();
  replications_.reserve(points);
  for (std::size_t p = 0; p < points; ++p) {
    replications_.push_back(static_cast<std::uint32_t>(config_of(p).replications));
    total_ += replications_.back();
  }
}

Config SweepPlan::config_of(std::size_t point) const {
  YamlNode root = root_;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const std::uint32_t chosen = chosen_[point * keys_.size() + k];
    if (chosen == 0) continue;
    const YamlNode& node = values_[k][chosen].node;
    set_key(root, keys_[k], node, node.source->place(node.key_offset));
  }
  Config config = config_from_tree(std::move(root), {}, policies_);
  config.directory = directory_;
  return config;
}

std::string SweepPlan::describe(std::size_t point) const {
  std::string values;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    if (text(point, k).empty()) continue;
    values += fmt::format("{}{}={}", values.empty() ? "" : ", ", keys_[k], text(point, k));
  }
  return fmt::format("point {} ({})", point, values);
}

std::string SweepPlan::dump_yaml() const {
  std::string out = dump_unresolved(base_) + "sweep:\n";
  if (told_scenario_) {
    std::vector<std::string> scenario;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      if (is_scenario_[k]) scenario.push_back(written_key(keys_[k]));
    }
    out += fmt::format("  scenario: [{}]\n", fmt::join(scenario, ", "));
  }
  if (until_.any()) out += "  until: " + until_.text() + "\n";
  out += "  list:\n";
  for (std::size_t p = 0; p < points(); ++p) {
    std::string values;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      if (text(p, k).empty()) continue;
      values +=
          fmt::format("{}{}: {}", values.empty() ? "" : ", ", written_key(keys_[k]), text(p, k));
    }
    out += "    - {" + values + "}\n";
  }
  return out;
}

}  // namespace corun::inline runner
