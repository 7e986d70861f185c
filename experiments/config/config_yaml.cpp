#include "experiments/config/config_yaml.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/base/json.hpp"
#include "models/interference/catalog.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun {
namespace {

using Kind = YamlNode::Kind;

// ---- The one list of keys, which reading, writing and the hints share ---------------------------

struct AnyText {};
struct AnyFlag {};
struct OneOf {
  std::vector<std::string_view> choices;
};
/// Both ends included; infinite ends are no ends, but values are finite.
template <typename T>
struct Within {
  T min;
  T max;
};

using Whole = Within<std::int64_t>;
using Seed = Within<std::uint64_t>;
using Number = Within<double>;

// Upper ends are far beyond any experiment. They keep a slip of the finger from filling the memory,
// products from overflowing, and durations within what nanoseconds in 64 bits can say.
constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kGpusMax = kMillion;
constexpr std::size_t kPoliciesMax = 1000;
const Whole kCount{1, kMillion};
const Whole kPerNode{1, 1'000'000 * kMillion};
const Number kDuration{1e-9, 1e9};
const Number kFactor{1e-6, 1e6};

template <typename Visitor>
void visit(Visitor& v, WorkloadConfig& c) {
  v.field("source", c.source, AnyText{});
  v.field("path", c.path, AnyText{});
  v.field("labels", c.labels, AnyText{});
  v.field("order", c.order, OneOf{{"shuffled", "trace"}});
  v.field("jobs", c.jobs, Whole{1, 10 * kMillion});
  v.field("load", c.load, kFactor);
  v.field("profiles", c.profiles, OneOf{{"none", "jrs"}});
}

template <typename Visitor>
void visit(Visitor& v, OomConfig& c) {
  v.field("ramp_s", c.ramp_s, Number{0, kDuration.max});
  v.field("retries", c.retries, Whole{0, kMillion});
}

template <typename Visitor>
void visit(Visitor& v, ClusterConfig& c) {
  v.field("path", c.path, AnyText{});
  v.field("nodes", c.nodes, kCount);
  v.field("gpus_per_node", c.gpus_per_node, kCount);
  v.field("gpu_type", c.gpu_type, AnyText{});
  v.field("gpu_memory_mib", c.gpu_memory_mib, Number{1e-6, 1e12});
  v.field("gpu_speed", c.gpu_speed, kFactor);
  v.field("cpu_milli_per_node", c.cpu_milli_per_node, kPerNode);
  v.field("memory_mib_per_node", c.memory_mib_per_node, kPerNode);
  v.field("sharing", c.sharing, OneOf{{"time-slicing", "mps"}});
  v.field("max_jobs_per_gpu", c.max_jobs_per_gpu, kCount);
  v.field("virtual_clusters", c.virtual_clusters, AnyText{});
  v.section("oom", c.oom);
}

/// These and the interference models of the catalogue.
OneOf models_and(std::vector<std::string_view> names) {
  for (const InterferenceModelEntry& entry : interference_model_catalog()) {
    if (std::ranges::find(names, entry.name) == names.end()) names.push_back(entry.name);
  }
  return {std::move(names)};
}

template <typename Visitor>
void visit(Visitor& v, WorldConfig& c) {
  v.field("model", c.model, models_and({"none", "listed-pairs"}));
  // What was measured is what the fallback falls back from.
  OneOf fallbacks = models_and({});
  std::erase(fallbacks.choices, "measured");
  v.field("fallback", c.fallback, fallbacks);
  v.field("path", c.path, AnyText{});
  v.field("noise", c.noise, AnyFlag{});
}

template <typename Visitor>
void visit(Visitor& v, BeliefConfig& c) {
  v.field("model", c.model, models_and({"cluster-mean", "truth", "default"}));
  v.field("initial", c.initial, AnyText{});
  v.field("known", c.known, Number{0, 1});
  v.field("seed", c.seed, Seed{0, std::numeric_limits<std::int64_t>::max()});  // as of model fit
  v.field("overrides", c.overrides, AnyText{});
}

template <typename Visitor>
void visit(Visitor& v, EstimatesConfig& c) {
  v.field("duration", c.duration, OneOf{{"none", "exact", "lognormal"}});
  v.field("sigma", c.sigma, Number{0, 10});
}

template <typename Visitor>
void visit(Visitor& v, ProfilingConfig& c) {
  v.field("mode", c.mode, OneOf{{"none", "epoch", "minute", "predictor"}});
  v.field("keeps_progress", c.keeps_progress, AnyFlag{});
}

template <typename Visitor>
void visit(Visitor& v, ProbingConfig& c) {
  v.field("probes", c.probes, Whole{0, 1000});
  v.field("seconds", c.seconds, kDuration);
  v.field("keeps_progress", c.keeps_progress, AnyFlag{});
}

template <typename Visitor>
void visit(Visitor& v, PreemptionConfig& c) {
  v.field("save_s", c.save_s, Number{0, kDuration.max});
  v.field("restore_s", c.restore_s, Number{0, kDuration.max});
  v.field("lost_work", c.lost_work, Number{0, 1});
}

template <typename Visitor>
void visit(Visitor& v, ControlConfig& c) {
  v.field("mode", c.mode, OneOf{{"events", "rounds"}});
  v.field("start", c.start, OneOf{{"group", "join"}});
  v.field("plan", c.plan, OneOf{{"online", "once"}});
  v.field("round_s", c.round_s, kDuration);
  v.field("reallocate_s", c.reallocate_s, kDuration);
  v.field("tick_s", c.tick_s, kDuration);
  v.field("tick_rule", c.tick_rule, OneOf{{"notice", "progress"}});
}

template <typename Visitor>
void visit(Visitor& v, MeasureConfig& c) {
  v.field("skip_first", c.skip_first, Number{0, 1});
  v.field("skip_last", c.skip_last, Number{0, 1});
}

template <typename Visitor>
void visit(Visitor& v, Config& c) {
  v.section("workload", c.workload);
  v.section("cluster", c.cluster);
  v.section("world", c.world);
  v.section("belief", c.belief);
  v.section("estimates", c.estimates);
  v.section("profiling", c.profiling);
  v.section("probing", c.probing);
  v.section("preemption", c.preemption);
  v.section("control", c.control);
  v.section("measure", c.measure);
  v.policies("policies", c.policies);
  v.field("replications", c.replications, Whole{1, 10 * kMillion});
  v.field("seed", c.seed, Seed{0, std::numeric_limits<std::uint64_t>::max()});
}

constexpr std::array<std::string_view, 9> kDefaultPolicies = {
    "fcfs",        "random",    "kube-default", "balance", "min-slowdown",
    "max-packing", "opposites", "exclusive",    "oracle"};

// ---- The hint for an unknown key ----------------------------------------------------------------

struct NameCollector {
  std::vector<std::string_view> names;

  template <typename T, typename Spec>
  void field(std::string_view name, T& /*value*/, const Spec& /*spec*/) {
    names.push_back(name);
  }
  template <typename Section>
  void section(std::string_view name, Section& /*section*/) {
    names.push_back(name);
  }
  void policies(std::string_view name, std::vector<PolicyConfig>& /*policies*/) {
    names.push_back(name);
  }
};

template <typename Section>
std::vector<std::string_view> keys_of() {
  Section section;
  NameCollector collector;
  visit(collector, section);
  return std::move(collector.names);
}

/// Every key with its path, to answer a good key in the wrong section.
struct PathCollector {
  std::string prefix;
  std::vector<std::string>& paths;

  template <typename T, typename Spec>
  void field(std::string_view name, T& /*value*/, const Spec& /*spec*/) {
    paths.push_back(prefix + std::string(name));
  }
  template <typename Section>
  void section(std::string_view name, Section& section) {
    paths.push_back(prefix + std::string(name));
    PathCollector inner{paths.back() + ".", paths};
    visit(inner, section);
  }
  void policies(std::string_view name, std::vector<PolicyConfig>& /*policies*/) {
    paths.push_back(prefix + std::string(name));
  }
};

std::string unknown_key_message(const std::string& prefix, std::string_view key,
                                std::span<const std::string_view> known) {
  const std::string where = prefix.empty() ? "" : fmt::format(" in '{}'", prefix);
  std::string hint = did_you_mean(key, known);
  if (nearest(key, known).empty()) {
    std::vector<std::string> paths;
    PathCollector collector{"", paths};
    Config config;
    visit(collector, config);
    for (const std::string& path : paths) {
      if (path.substr(path.rfind('.') + 1) != key) continue;
      hint = fmt::format("did you mean '{}'? {}", path, hint);
      break;
    }
  }
  return fmt::format("unknown key '{}'{}: {}", printable(key), where, hint);
}

// ---- Scalars ------------------------------------------------------------------------------------

/// A node with the key it belongs to, for messages.
struct Value {
  const YamlNode& node;
  std::string key;

  [[noreturn]] void refuse(const std::string& expected) const {
    throw InputError(node.place(),
                     fmt::format("{}: found {}, expected {}", key, node.description(), expected));
  }
  bool is_null() const { return node.kind == Kind::kNull; }
};

enum class NumberShape : std::uint8_t { kNone, kWhole, kDecimal };

/// -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? and nothing else: what every reader of YAML or
/// JSON takes for the same number.
NumberShape shape_of(std::string_view text) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t first = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - first;
  };
  if (i < text.size() && text[i] == '-') ++i;
  const bool zero = i < text.size() && text[i] == '0';
  const std::size_t before = digits();
  if (before == 0 || (zero && before > 1)) return NumberShape::kNone;
  if (i == text.size()) return NumberShape::kWhole;
  if (text[i] == '.') {
    ++i;
    if (digits() == 0) return NumberShape::kNone;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (digits() == 0) return NumberShape::kNone;
  }
  return i == text.size() ? NumberShape::kDecimal : NumberShape::kNone;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What to do about text that should have been a number; begins with "; " unless empty.
std::string number_hint(const YamlNode& node) {
  if (node.kind != Kind::kScalar) return "";
  if (node.quoted) return "; write the number without quotes";
  std::string text = lower_case(node.text);
  if (text.empty()) return "";
  if (text[0] == '+') return "; write it without '+'";
  if (text[0] == '-') text.erase(0, 1);
  if (text == ".nan" || text == "nan" || text == ".inf" || text == "inf" || text == "infinity") {
    return "; it must be finite";
  }
  if (text.size() < 2 || (!is_digit(text[0]) && text[0] != '.')) return "";
  if (text[0] == '0' && (text[1] == 'x' || text[1] == 'o' || text[1] == 'b')) {
    return "; write it in decimal";
  }
  if (text.find('_') != std::string::npos) return "; write it without underscores";
  if (text[0] == '0' && is_digit(text[1])) return "; write it without leading zeros";
  if (text[0] == '.' || text.back() == '.') return "; write a digit on both sides of the point";
  if (text.find(',') != std::string::npos) return "; write a point, and nothing between thousands";
  if (text.find_first_not_of("0123456789.e+-") != std::string::npos) {
    return "; write the number alone, its unit is the end of the key";
  }
  return "";
}

template <typename T>
std::string range_text(const Within<T>& range) {
  if constexpr (std::is_floating_point_v<T>) {
    const bool low = std::isfinite(range.min);
    const bool high = std::isfinite(range.max);
    if (!low && !high) return "";
    if (!high) return fmt::format(" of at least {}", range.min);
    if (!low) return fmt::format(" of at most {}", range.max);
  }
  return fmt::format(" from {} to {}", range.min, range.max);
}

template <typename T>
T parse_number(const Value& at, const Within<T>& range, const std::string& or_else = "") {
  constexpr bool is_whole = std::is_integral_v<T>;
  const std::string expected =
      fmt::format("a {}{}{}", is_whole ? "whole number" : "number", range_text(range), or_else);
  const YamlNode& node = at.node;
  if (node.kind != Kind::kScalar || node.quoted) at.refuse(expected + number_hint(node));
  const NumberShape shape = shape_of(node.text);
  if (shape == NumberShape::kNone) at.refuse(expected + number_hint(node));
  if (is_whole && shape != NumberShape::kWhole) {
    at.refuse(expected + "; write it without decimals and exponent");
  }
  // "-0" is a whole number that the parser for unsigned ones does not know.
  std::string_view text = node.text;
  if (is_whole && text == "-0") text = "0";
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) at.refuse(expected + "; it does not fit");
  // Of the right shape, so only "-5" for an unsigned number is left.
  if (error != std::errc() || end != text.data() + text.size()) at.refuse(expected);
  if (!(value >= range.min && value <= range.max)) at.refuse(expected);
  if constexpr (!is_whole) value += 0.0;  // -0.0 becomes 0.0
  return value;
}

bool is_flag(std::string_view text) { return text == "true" || text == "false"; }

std::string parse_text(const Value& at, const std::string& or_else = "") {
  const YamlNode& node = at.node;
  const std::string expected = "text" + or_else;
  if (node.kind != Kind::kScalar) at.refuse(expected);
  if (node.text.empty()) at.refuse(expected + " that is not empty");
  if (!node.quoted && (shape_of(node.text) != NumberShape::kNone || is_flag(node.text))) {
    at.refuse(expected + "; put it in quotes if it is meant");
  }
  return node.text;
}

std::string parse_choice(const Value& at, std::span<const std::string_view> choices,
                         const std::string& or_else = "") {
  const std::string expected = fmt::format("one of {}{}", fmt::join(choices, ", "), or_else);
  if (at.node.kind != Kind::kScalar) at.refuse(expected);
  if (std::find(choices.begin(), choices.end(), at.node.text) == choices.end()) {
    const std::string_view near = nearest(at.node.text, choices);
    at.refuse(near.empty() ? expected : fmt::format("{}; did you mean '{}'?", expected, near));
  }
  return at.node.text;
}

bool parse_flag(const Value& at) {
  const YamlNode& node = at.node;
  if (node.kind == Kind::kScalar && !node.quoted && is_flag(node.text)) return node.text == "true";
  std::string hint;
  if (node.kind == Kind::kScalar) {
    const std::string text = lower_case(node.text);
    if (text == "true" || text == "yes" || text == "on") hint = "; write true";
    if (text == "false" || text == "no" || text == "off") hint = "; write false";
  }
  at.refuse("true or false" + hint);
}

// ---- Parameters of policies ---------------------------------------------------------------------

/// The ends of a whole parameter's range, which its list gives as doubles.
Whole whole_range(const ParameterSpec& spec) {
  // 2^53: beyond it a double does not name one whole number.
  constexpr double kExact = 9007199254740992.0;
  const auto bound = [&](double x) {
    return static_cast<std::int64_t>(std::clamp(x, -kExact, kExact));
  };
  return {bound(std::ceil(spec.min)), bound(std::floor(spec.max))};
}

std::vector<std::pair<int, int>> parse_cluster_pairs(const Value& at) {
  const std::string expected = "a list of pairs of clusters such as [[1, 1], [0, 2]]";
  if (at.node.kind != Kind::kSequence) at.refuse(expected);
  std::vector<std::pair<int, int>> pairs;
  for (const YamlNode& item : at.node.children) {
    const Value pair{item, fmt::format("{}[{}]", at.key, pairs.size())};
    if (item.kind != Kind::kSequence) pair.refuse("a pair of clusters such as [0, 2]");
    if (item.children.size() != 2) {
      throw InputError(item.place(), fmt::format("{}: found a list of {}, expected a pair of"
                                                 " clusters such as [0, 2]",
                                                 pair.key, item.children.size()));
    }
    const auto cluster = [&](std::size_t k) {
      const Value one{item.children[k], fmt::format("{}[{}]", pair.key, k)};
      return static_cast<int>(parse_number(one, Whole{0, kMillion}));
    };
    const int first = cluster(0);
    pairs.emplace_back(first, cluster(1));
  }
  return pairs;
}

std::vector<std::string> parse_job_names(const Value& at) {
  if (at.node.kind != Kind::kSequence) at.refuse("a list of job names such as [J7-205, J5-64]");
  std::vector<std::string> jobs;
  std::set<std::string_view> seen;
  for (const YamlNode& item : at.node.children) {
    const Value job{item, fmt::format("{}[{}]", at.key, jobs.size())};
    // Traces often number their jobs, so a number is a name here.
    if (item.kind != Kind::kScalar || item.text.empty()) job.refuse("the name of a job");
    if (!seen.insert(item.text).second) {
      job.refuse("each job once; remove one of them");
    }
    jobs.push_back(item.text);
  }
  return jobs;
}

std::vector<double> parse_numbers(const Value& at, const Number& range) {
  if (at.node.kind != Kind::kSequence) at.refuse("a list of numbers such as [3600, 7200]");
  std::vector<double> numbers;
  for (const YamlNode& item : at.node.children) {
    const Value number{item, fmt::format("{}[{}]", at.key, numbers.size())};
    numbers.push_back(parse_number(number, range));
  }
  return numbers;
}

std::vector<std::string> parse_texts(const Value& at) {
  if (at.node.kind != Kind::kSequence) at.refuse("a list of texts such as [python3, policy.py]");
  std::vector<std::string> texts;
  for (const YamlNode& item : at.node.children) {
    const Value text{item, fmt::format("{}[{}]", at.key, texts.size())};
    if (item.kind != Kind::kScalar) text.refuse("text");
    texts.push_back(item.text);
  }
  return texts;
}

PolicySetting parse_parameter(const Value& at, const ParameterSpec& spec) {
  const bool may_be_null =
      spec.kind == ParameterKind::kInteger || std::holds_alternative<std::monostate>(spec.fallback);
  if (at.is_null() && may_be_null) return std::monostate{};
  const std::string or_null = may_be_null ? ", or null" : "";
  switch (spec.kind) {
    case ParameterKind::kNumber:
      return parse_number(at, Number{spec.min, spec.max}, or_null);
    case ParameterKind::kInteger:
      return parse_number(at, whole_range(spec), or_null);
    case ParameterKind::kChoice:
      return parse_choice(at, spec.choices, or_null);
    case ParameterKind::kClusterPairs:
      return parse_cluster_pairs(at);
    case ParameterKind::kJobs:
      return parse_job_names(at);
    case ParameterKind::kNumbers:
      return parse_numbers(at, {spec.min, spec.max});
    case ParameterKind::kTexts:
      return parse_texts(at);
  }
  throw std::logic_error("a parameter of unknown kind");
}

// ---- Reading ------------------------------------------------------------------------------------

/// Reads the keys of one section of the file into its struct.
class Reader {
 public:
  /// `prefix` is empty or ends in a point.
  Reader(const YamlNode& node, std::string prefix, Config& config,
         std::span<const PolicyEntry> policies)
      : node_(node), prefix_(std::move(prefix)), config_(config), policies_(policies) {}

  template <typename Section>
  void read(Section& section) {
    const std::string own_key = prefix_.substr(0, prefix_.empty() ? 0 : prefix_.size() - 1);
    const std::vector<std::string_view> known = keys_of<Section>();
    if (node_.kind != Kind::kMap) {
      throw InputError(node_.place(), fmt::format("{}found {}, expected a map of keys; known: {}",
                                                  own_key.empty() ? "" : own_key + ": ",
                                                  node_.description(), fmt::join(known, ", ")));
    }
    for (const YamlNode& child : node_.children) {
      if (std::find(known.begin(), known.end(), child.key) != known.end()) continue;
      throw InputError(child.key_place(), unknown_key_message(own_key, child.key, known));
    }
    visit(*this, section);
  }

  template <typename T, typename Spec>
  void field(std::string_view name, T& value, const Spec& spec) {
    const YamlNode* child = given(name);
    if (child != nullptr) parse({*child, prefix_ + std::string(name)}, value, spec);
  }

  template <typename Section>
  void section(std::string_view name, Section& section) {
    const YamlNode* child = node_.find(name);
    if (child == nullptr) return;
    Reader(*child, prefix_ + std::string(name) + ".", config_, policies_).read(section);
  }

  void policies(std::string_view name, std::vector<PolicyConfig>& list) {
    const YamlNode* child = given(name);
    if (child == nullptr) return;
    if (child->kind != Kind::kSequence) {
      Value{*child, std::string(name)}.refuse(
          "a list of policies such as [{name: fcfs}, {name: random}]");
    }
    if (child->children.empty()) {
      throw InputError(child->place(),
                       fmt::format("{0}: found an empty list, expected at least one policy; leave"
                                   " '{0}' out for the default ones",
                                   name));
    }
    if (child->children.size() > kPoliciesMax) {
      throw InputError(child->place(),
                       fmt::format("{}: found a list of {}, expected at most {} policies", name,
                                   child->children.size(), kPoliciesMax));
    }
    for (const YamlNode& item : child->children) {
      list.push_back(read_policy(item, fmt::format("{}[{}]", name, list.size())));
    }
  }

 private:
  const YamlNode* given(std::string_view name) {
    const YamlNode* child = node_.find(name);
    if (child != nullptr) remember(prefix_ + std::string(name), *child);
    return child;
  }

  void remember(const std::string& key, const YamlNode& node) {
    if (node.source) config_.places[key] = node.place();
  }

  static void parse(const Value& at, std::string& value, const AnyText& /*spec*/) {
    value = parse_text(at);
  }
  static void parse(const Value& at, std::optional<std::string>& value, const AnyText& /*spec*/) {
    value.reset();
    if (!at.is_null()) value = parse_text(at, " or null");
  }
  static void parse(const Value& at, std::string& value, const OneOf& spec) {
    value = parse_choice(at, spec.choices);
  }
  static void parse(const Value& at, std::optional<std::string>& value, const OneOf& spec) {
    value.reset();
    if (!at.is_null()) value = parse_choice(at, spec.choices, ", or null");
  }
  static void parse(const Value& at, bool& value, const AnyFlag& /*spec*/) {
    value = parse_flag(at);
  }
  template <typename T>
  static void parse(const Value& at, T& value, const Within<T>& spec) {
    value = parse_number(at, spec);
  }
  template <typename T>
  static void parse(const Value& at, std::optional<T>& value, const Within<T>& spec) {
    value.reset();
    if (!at.is_null()) value = parse_number(at, spec, ", or null");
  }

  const PolicyEntry& known_policy(const YamlNode& name) const {
    for (const PolicyEntry& entry : policies_) {
      if (entry.name == name.text) return entry;
    }
    std::vector<std::string_view> names;
    for (const PolicyEntry& entry : policies_) names.push_back(entry.name);
    throw InputError(name.place(), fmt::format("unknown policy '{}': {}", printable(name.text),
                                               did_you_mean(name.text, names)));
  }

  PolicyConfig read_policy(const YamlNode& item, const std::string& key) {
    const std::string expected = "a policy such as {name: fcfs}";
    PolicyConfig policy;
    if (item.kind == Kind::kScalar) {
      policy.name = known_policy(item).name;
      remember(key, item);
      remember(key + ".name", item);
      return policy;
    }
    if (item.kind != Kind::kMap) Value{item, key}.refuse(expected);
    const YamlNode* name = item.find("name");
    if (name == nullptr) {
      throw InputError(item.place(),
                       fmt::format("{}: found no 'name', expected {}", key, expected));
    }
    if (name->kind != Kind::kScalar) Value{*name, key + ".name"}.refuse("the name of a policy");
    const PolicyEntry& entry = known_policy(*name);
    policy.name = entry.name;
    remember(key, *name);

    std::vector<std::string_view> known = {"name", "label"};
    for (const ParameterSpec& spec : entry.parameters) known.push_back(spec.name);
    for (const YamlNode& child : item.children) {
      const Value at{child, fmt::format("{}.{}", key, printable(child.key))};
      const auto spec = std::find_if(entry.parameters.begin(), entry.parameters.end(),
                                     [&](const ParameterSpec& s) { return s.name == child.key; });
      if (spec != entry.parameters.end()) {
        policy.settings[child.key] = parse_parameter(at, *spec);
      } else if (child.key == "label") {
        parse(at, policy.label, AnyText{});
      } else if (child.key != "name") {
        throw InputError(child.key_place(), fmt::format("unknown parameter '{}' of policy '{}': {}",
                                                        printable(child.key), entry.name,
                                                        did_you_mean(child.key, known)));
      }
      remember(at.key, child);
    }
    return policy;
  }

  const YamlNode& node_;
  std::string prefix_;
  Config& config_;
  std::span<const PolicyEntry> policies_;
};

std::vector<PolicyConfig> default_policies() {
  std::vector<PolicyConfig> policies;
  for (const std::string_view name : kDefaultPolicies) {
    policies.emplace_back().name = name;
  }
  return policies;
}

// ---- Overrides ----------------------------------------------------------------------------------

/// The default policies as if a file had listed them, but without a place: nobody gave them.
YamlNode default_policies_node() {
  YamlNode list;
  list.kind = Kind::kSequence;
  for (const std::string_view name : kDefaultPolicies) {
    YamlNode& item = list.children.emplace_back();
    item.kind = Kind::kScalar;
    item.text = name;
  }
  return list;
}

/// One step of a key path: a key, or an index into a list.
struct Step {
  std::string key;
  std::optional<std::size_t> index;
};

/// "policies[0].epsilon" as its steps; empty when it is no path.
std::vector<Step> parse_path(std::string_view path) {
  const auto is_name = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  };
  std::vector<Step> steps;
  std::size_t i = 0;
  while (i < path.size()) {
    if (path[i] == '[') {
      std::size_t index = 0;
      const char* const begin = path.data() + i + 1;
      const auto [end, error] = std::from_chars(begin, path.data() + path.size(), index);
      i = static_cast<std::size_t>(end - path.data());
      if (error != std::errc() || steps.empty() || i >= path.size() || path[i] != ']') return {};
      ++i;
      steps.push_back({"", index});
      continue;
    }
    if (!steps.empty() && path[i++] != '.') return {};
    const std::size_t first = i;
    while (i < path.size() && is_name(path[i])) ++i;
    if (i == first) return {};
    steps.push_back({std::string(path.substr(first, i - first)), std::nullopt});
  }
  return steps;
}

/// Puts `value` where the steps lead, as docs/configuration.md says of --set.
void set_at(YamlNode& root, const std::vector<Step>& steps, YamlNode value,
            const std::string& place) {
  YamlNode* node = &root;
  std::string path;  // of `node`
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.index) {
      if (node->kind != Kind::kSequence) {
        throw InputError(place, fmt::format("'{}' is {}, expected a list before [{}]", path,
                                            node->description(), *step.index));
      }
      if (*step.index >= node->children.size()) {
        throw InputError(place, fmt::format("there is no {}[{}], expected an index below {}", path,
                                            *step.index, node->children.size()));
      }
      node = &node->children[*step.index];
      path += fmt::format("[{}]", *step.index);
      continue;
    }
    // `- fcfs` is short for `- {name: fcfs}`, and has room for parameters only in the long form.
    if (node->kind == Kind::kScalar && i == 2 && steps[0].key == "policies") {
      YamlNode name = *node;
      name.key = "name";
      name.key_offset = name.offset;
      node->kind = Kind::kMap;
      node->children = {std::move(name)};
    }
    if (node->kind == Kind::kSequence) {
      throw InputError(place, fmt::format("'{0}' is a list, expected an index such as {0}[0].{1}",
                                          path, step.key));
    }
    if (node->kind != Kind::kMap) {
      throw InputError(
          node->source ? node->place() : place,
          fmt::format("{}: found {}, expected a map of keys", path, node->description()));
    }
    path += (path.empty() ? "" : ".") + step.key;
    YamlNode* child = node->find(step.key);
    if (child == nullptr) {
      const bool fill = path == "policies" && i + 1 < steps.size();
      YamlNode fresh = fill ? default_policies_node() : YamlNode{};
      if (!fill) {
        fresh.kind = Kind::kMap;
        fresh.source = value.source;
        fresh.key_offset = value.key_offset;
      }
      fresh.key = step.key;
      child = &node->children.emplace_back(std::move(fresh));
    }
    node = child;
  }
  value.key = node->key;
  *node = std::move(value);
}

/// What `control.mode: rounds` needs and what it has no room for.
void check_rounds(const Config& config) {
  constexpr double kShortestRound =
      1e-3;  // below it rounds are no rounds, and their number overflows
  if (!config.control.round_s || *config.control.round_s < kShortestRound) {
    throw InputError(
        config.place(config.control.round_s ? "control.round_s" : "control.mode"),
        fmt::format("control.mode: rounds, found control.round_s: {}, expected their length, 0.001 "
                    "or more; Gavel's is 360",
                    config.control.round_s ? fmt::format("{}", *config.control.round_s) : "null"));
  }
  const auto refuse = [&](const std::string& key, const std::string& found,
                          std::string_view expected) {
    throw InputError(
        config.place(key),
        fmt::format("{}: found {}, expected {} with control.mode: rounds", key, found, expected));
  };
  if (config.control.start != "group") refuse("control.start", config.control.start, "group");
  if (config.control.tick_s) {
    refuse("control.tick_s", fmt::format("{}", *config.control.tick_s), "null");
  }
  if (config.profiling.mode != "none" && config.profiling.mode != "predictor") {
    refuse("profiling.mode", config.profiling.mode, "none or predictor");
  }
  if (config.probing.probes > 0) {
    refuse("probing.probes", std::to_string(config.probing.probes), "0");
  }
  const PreemptionConfig& costs = config.preemption;
  for (const auto& [key, value] : {std::pair{"preemption.save_s", costs.save_s},
                                   {"preemption.restore_s", costs.restore_s},
                                   {"preemption.lost_work", costs.lost_work}}) {
    if (value != 0) refuse(key, fmt::format("{}", value), "0");
  }
}

/// What no single key shows.
void check_together(const Config& config) {
  // Neither factor is above a million, so the product fits.
  const std::int64_t gpus = config.cluster.nodes * config.cluster.gpus_per_node;
  if (gpus > kGpusMax) {
    const bool by_nodes = config.places.contains("cluster.nodes");
    const std::string key = by_nodes ? "cluster.nodes" : "cluster.gpus_per_node";
    throw InputError(
        config.place(key),
        fmt::format("{}: found {} nodes of {} GPUs, expected at most {} GPUs in all", key,
                    config.cluster.nodes, config.cluster.gpus_per_node, kGpusMax));
  }
  if (config.control.mode == "rounds") check_rounds(config);
  if (config.control.tick_rule == "progress" && !config.control.tick_s) {
    throw InputError(config.place("control.tick_rule"),
                     "control.tick_rule: found progress without ticks, expected control.tick_s "
                     "beside it; set the length of a tick");
  }
  if (config.measure.skip_first + config.measure.skip_last >= 1) {
    const bool by_first = config.places.contains("measure.skip_first");
    const std::string key = by_first ? "measure.skip_first" : "measure.skip_last";
    throw InputError(config.place(key),
                     fmt::format("{}: skip_first {} and skip_last {} leave no job, expected less "
                                 "than 1 together",
                                 key, config.measure.skip_first, config.measure.skip_last));
  }
  if (config.probing.probes > 0) {
    const auto refuse = [&](const std::string& found) {
      throw InputError(
          config.place("probing.probes"),
          fmt::format("probing.probes: a probe is a pair on an empty GPU that returns to "
                      "the queue, found {}",
                      found));
    };
    if (config.control.start != "group") {
      refuse(fmt::format("control.start: {}, expected group", config.control.start));
    }
    if (config.control.plan != "online") {
      refuse(fmt::format("control.plan: {}, expected online", config.control.plan));
    }
    if (config.cluster.max_jobs_per_gpu == 1) {
      refuse("cluster.max_jobs_per_gpu: 1, expected 2 or more, or null");
    }
  }
}

// ---- Writing ------------------------------------------------------------------------------------

Json json_of(const PolicySetting& setting) {
  return std::visit(
      [](const auto& value) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      setting);
}

struct JsonWriter {
  Json& out;

  template <typename T, typename Spec>
  void field(std::string_view name, T& value, const Spec& /*spec*/) {
    out[std::string(name)] = value;
  }
  template <typename T, typename Spec>
  void field(std::string_view name, std::optional<T>& value, const Spec& /*spec*/) {
    out[std::string(name)] = value ? Json(*value) : Json(nullptr);
  }
  template <typename Section>
  void section(std::string_view name, Section& section) {
    Json& child = out[std::string(name)] = Json::object();
    JsonWriter inner{child};
    visit(inner, section);
  }
  void policies(std::string_view name, std::vector<PolicyConfig>& policies) {
    Json& list = out[std::string(name)] = Json::array();
    for (const PolicyConfig& policy : policies) {
      Json item = Json::object();
      item["name"] = policy.name;
      if (policy.label) item["label"] = *policy.label;
      for (const auto& [key, setting] : policy.settings) item[key] = json_of(setting);
      list.push_back(std::move(item));
    }
  }
};

/// Text without quotes only where every YAML reader takes it for the same text.
std::string yaml_text(const std::string& text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool plain =
      !text.empty() && (is_letter(text[0]) || text[0] == '/') &&
      std::all_of(text.begin(), text.end(), [&](char c) {
        return is_letter(c) || is_digit(c) || c == '/' || c == '.' || c == '_' || c == '-';
      });
  constexpr std::array<std::string_view, 11> kWords = {"true", "false", "yes", "no",  "on", "off",
                                                       "null", "y",     "n",   "nan", "inf"};
  const bool is_word = std::find(kWords.begin(), kWords.end(), lower_case(text)) != kWords.end();
  if (plain && !is_word) return text;
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += c;
    out += c;
  }
  return out + "'";
}

std::string yaml_flow(const Json& value) {
  std::string out;
  switch (value.type()) {
    case Json::value_t::object:
      for (const auto& [key, child] : value.items()) {
        out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", key, yaml_flow(child));
      }
      return "{" + out + "}";
    case Json::value_t::array:
      for (const Json& child : value) out += (out.empty() ? "" : ", ") + yaml_flow(child);
      return "[" + out + "]";
    case Json::value_t::string:
      return yaml_text(value.get_ref<const std::string&>());
    case Json::value_t::number_float:
      // The shortest text that reads back as the same double.
      return fmt::format("{}", value.get<double>());
    default:
      return value.dump();
  }
}

}  // namespace

void apply_override(YamlNode& root, const std::string& text) {
  const std::string place = "--set " + printable(text, kYamlBytesMax);
  const std::size_t equals = text.find('=');
  const std::vector<Step> steps = parse_path(std::string_view(text).substr(0, equals));
  if (equals == std::string::npos || steps.empty()) {
    throw InputError(place,
                     "expected KEY.PATH=VALUE such as replications=50 or policies[0].epsilon=0.5");
  }
  const std::string_view written = std::string_view(text).substr(equals + 1);
  const std::size_t content = written.find_first_not_of(" \t\r\n");
  if (content == std::string_view::npos || written[content] == '#') {
    throw InputError(place, "found no value, expected KEY.PATH=VALUE; write null for none");
  }
  YamlNode value = parse_yaml(written, place, false);
  if ((value.kind == Kind::kMap && written[content] != '{') ||
      (value.kind == Kind::kSequence && written[content] != '[')) {
    throw InputError(place, fmt::format("found {} without brackets, expected a value on one line"
                                        " such as 5, [a, b] or {{key: value}}",
                                        value.description()));
  }

  const std::vector<std::string_view> known = keys_of<Config>();
  if (std::find(known.begin(), known.end(), steps.front().key) == known.end()) {
    throw InputError(place, unknown_key_message("", steps.front().key, known));
  }
  set_at(root, steps, std::move(value), place);
}

void set_key(YamlNode& root, std::string_view path, YamlNode value, const std::string& place) {
  const std::vector<Step> steps = parse_path(path);
  if (steps.empty()) {
    throw InputError(place, fmt::format("found '{}', expected the path of a key such as "
                                        "cluster.nodes or policies[0].epsilon",
                                        printable(path)));
  }
  set_at(root, steps, std::move(value), place);
}

Config config_from_tree(YamlNode root, std::span<const std::string> overrides,
                        std::span<const PolicyEntry> policies) {
  if (root.kind == Kind::kMap) {
    for (const std::string& text : overrides) apply_override(root, text);
  }
  Config config;
  Reader(root, "", config, policies).read(config);
  if (config.policies.empty()) config.policies = default_policies();
  check_together(config);
  return config;
}

Config parse_config(std::string_view text, const std::string& place_name,
                    std::span<const std::string> overrides, std::span<const PolicyEntry> policies) {
  return config_from_tree(parse_yaml(text, place_name), overrides, policies);
}

Config read_config(const std::string& path, std::span<const std::string> overrides,
                   std::span<const PolicyEntry> policies) {
  Config config = config_from_tree(read_yaml_file(path), overrides, policies);
  config.directory = std::filesystem::path(path).parent_path().string();
  return config;
}

Config default_config_with(std::span<const std::string> overrides,
                           std::span<const PolicyEntry> policies) {
  YamlNode root;
  root.kind = Kind::kMap;
  return config_from_tree(std::move(root), overrides, policies);
}

Config default_config() { return default_config_with({}, {}); }

Json to_json(const Config& config) {
  Json out = Json::object();
  JsonWriter writer{out};
  Config copy = config;  // one visitor for reading and writing takes it by reference
  visit(writer, copy);
  return out;
}

std::string dump_yaml(const Config& config) {
  std::string out;
  const Json json = to_json(config);
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      out += key + ":\n";
      for (const auto& [name, child] : value.items()) {
        out += fmt::format("  {}: {}\n", name, yaml_flow(child));
      }
    } else if (value.is_array() && !value.empty()) {
      out += key + ":\n";
      for (const Json& item : value) out += fmt::format("  - {}\n", yaml_flow(item));
    } else {
      out += fmt::format("{}: {}\n", key, yaml_flow(value));
    }
  }
  return out;
}

}  // namespace corun
