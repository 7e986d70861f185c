#include "runner/config/policy_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {
namespace {

using Kind = YamlNode::Kind;

constexpr std::size_t kPoliciesMax = 1000;
constexpr std::int64_t kClusterMax = 1'000'000;  // far beyond any number of clusters

/// The range of an integer parameter, whose bounds ParameterSpec gives as doubles.
Within<std::int64_t> whole_range(const ParameterSpec& spec) {
  // 2^53; larger doubles do not name one whole number.
  constexpr double kExact = 9007199254740992.0;
  const auto bound = [&](double x) {
    return static_cast<std::int64_t>(std::clamp(x, -kExact, kExact));
  };
  return {bound(std::ceil(spec.min)), bound(std::floor(spec.max))};
}

std::vector<std::pair<int, int>> read_cluster_pairs(const YamlValue& at) {
  const std::string expected = "a list of pairs of clusters such as [[1, 1], [0, 2]]";
  if (at.node.kind != Kind::kSequence) at.refuse(expected);
  std::vector<std::pair<int, int>> pairs;
  for (const YamlNode& item : at.node.children) {
    const YamlValue pair{item, fmt::format("{}[{}]", at.key, pairs.size())};
    if (item.kind != Kind::kSequence) pair.refuse("a pair of clusters such as [0, 2]");
    if (item.children.size() != 2) {
      throw InputError(item.place(), fmt::format("{}: found a list of {}, expected a pair of"
                                                 " clusters such as [0, 2]",
                                                 pair.key, item.children.size()));
    }
    const auto cluster = [&](std::size_t k) {
      const YamlValue one{item.children[k], fmt::format("{}[{}]", pair.key, k)};
      return static_cast<int>(read_number(one, Within<std::int64_t>{0, kClusterMax}));
    };
    const int first = cluster(0);
    pairs.emplace_back(first, cluster(1));
  }
  return pairs;
}

std::vector<std::string> read_job_names(const YamlValue& at) {
  if (at.node.kind != Kind::kSequence) at.refuse("a list of job names such as [J7-205, J5-64]");
  std::vector<std::string> jobs;
  std::set<std::string_view> seen;
  for (const YamlNode& item : at.node.children) {
    const YamlValue job{item, fmt::format("{}[{}]", at.key, jobs.size())};
    // A number is accepted as a name because many traces number their jobs.
    if (item.kind != Kind::kScalar || item.text.empty()) job.refuse("the name of a job");
    if (!seen.insert(item.text).second) {
      job.refuse("each job once; remove one of them");
    }
    jobs.push_back(item.text);
  }
  return jobs;
}

std::vector<double> read_numbers(const YamlValue& at, const Within<double>& range) {
  if (at.node.kind != Kind::kSequence) at.refuse("a list of numbers such as [3600, 7200]");
  std::vector<double> numbers;
  for (const YamlNode& item : at.node.children) {
    const YamlValue number{item, fmt::format("{}[{}]", at.key, numbers.size())};
    numbers.push_back(read_number(number, range));
  }
  return numbers;
}

std::vector<std::string> read_texts(const YamlValue& at) {
  if (at.node.kind != Kind::kSequence) at.refuse("a list of texts such as [python3, policy.py]");
  std::vector<std::string> texts;
  for (const YamlNode& item : at.node.children) {
    const YamlValue text{item, fmt::format("{}[{}]", at.key, texts.size())};
    if (item.kind != Kind::kScalar) text.refuse("text");
    texts.push_back(item.text);
  }
  return texts;
}

ParameterValue read_parameter(const YamlValue& at, const ParameterSpec& spec) {
  const bool may_be_null =
      spec.kind == ParameterKind::kInteger || std::holds_alternative<std::monostate>(spec.fallback);
  if (at.is_null() && may_be_null) return std::monostate{};
  const std::string or_null = may_be_null ? ", or null" : "";
  switch (spec.kind) {
    case ParameterKind::kNumber:
      return read_number(at, Within<double>{spec.min, spec.max}, or_null);
    case ParameterKind::kInteger:
      return read_number(at, whole_range(spec), or_null);
    case ParameterKind::kChoice:
      return read_choice(at, spec.choices, or_null);
    case ParameterKind::kClusterPairs:
      return read_cluster_pairs(at);
    case ParameterKind::kJobs:
      return read_job_names(at);
    case ParameterKind::kNumbers:
      return read_numbers(at, {spec.min, spec.max});
    case ParameterKind::kTexts:
      return read_texts(at);
  }
  throw std::logic_error("a parameter of unknown kind");
}

const PolicyEntry& known_policy(const YamlNode& name, std::span<const PolicyEntry> catalog) {
  for (const PolicyEntry& entry : catalog) {
    if (entry.is_called(name.text)) return entry;
  }
  std::vector<std::string_view> names;
  for (const PolicyEntry& entry : catalog) {
    names.push_back(entry.name);
    if (!entry.alias.empty()) names.push_back(entry.alias);
  }
  throw InputError(name.place(), fmt::format("unknown policy '{}': {}", printable(name.text),
                                             did_you_mean(name.text, names)));
}

/// An alias becomes the label.
void take_name(const YamlNode& given, const PolicyEntry& entry, PolicyConfig& policy) {
  policy.name = entry.name;
  policy.entry = find_policy(entry.name) == &entry ? nullptr : &entry;
  if (given.text != entry.name) policy.label = given.text;
}

/// Reads all of a policy but its name.
void read_settings(const YamlValue& at, const PolicyEntry& entry, PolicyConfig& policy,
                   KeyPlaces& places) {
  std::vector<std::string_view> known = {"name", "label", "published"};
  for (const ParameterSpec& spec : entry.parameters) known.push_back(spec.name);
  for (const YamlNode& child : at.node.children) {
    const YamlValue value{child, fmt::format("{}.{}", at.key, printable(child.key))};
    const auto spec = std::find_if(entry.parameters.begin(), entry.parameters.end(),
                                   [&](const ParameterSpec& s) { return s.name == child.key; });
    if (spec != entry.parameters.end()) {
      policy.settings[child.key] = read_parameter(value, *spec);
    } else if (child.key == "label" || child.key == "published") {
      std::optional<std::string>& text = child.key == "label" ? policy.label : policy.published;
      text.reset();
      if (!value.is_null()) text = read_text(value, " or null");
    } else if (child.key != "name") {
      throw InputError(child.key_place(), fmt::format("unknown parameter '{}' of policy '{}': {}",
                                                      printable(child.key), entry.name,
                                                      did_you_mean(child.key, known)));
    }
    remember(places, value);
  }
}

PolicyConfig read_policy(const YamlValue& at, std::span<const PolicyEntry> catalog,
                         KeyPlaces& places) {
  const std::string expected = "a policy such as {name: fcfs}";
  const YamlNode& item = at.node;
  PolicyConfig policy;
  if (item.kind == Kind::kScalar) {
    take_name(item, known_policy(item, catalog), policy);
    remember(places, at);
    remember(places, {item, at.key + ".name"});
    return policy;
  }
  if (item.kind != Kind::kMap) at.refuse(expected);
  const YamlNode* name = item.find("name");
  if (name == nullptr) {
    throw InputError(item.place(),
                     fmt::format("{}: found no 'name', expected {}", at.key, expected));
  }
  if (name->kind != Kind::kScalar) {
    YamlValue{*name, at.key + ".name"}.refuse("the name of a policy");
  }
  const PolicyEntry& entry = known_policy(*name, catalog);
  take_name(*name, entry, policy);
  remember(places, {*name, at.key});
  read_settings(at, entry, policy, places);
  return policy;
}

}  // namespace

std::vector<PolicyConfig> read_policies(const YamlValue& at, std::span<const PolicyEntry> catalog,
                                        KeyPlaces& places) {
  const YamlNode& node = at.node;
  if (node.kind != Kind::kSequence) at.refuse(kPoliciesText);
  if (node.children.empty()) {
    throw InputError(node.place(),
                     fmt::format("{0}: found an empty list, expected at least one policy; leave"
                                 " '{0}' out for the default ones",
                                 at.key));
  }
  if (node.children.size() > kPoliciesMax) {
    throw InputError(node.place(),
                     fmt::format("{}: found a list of {}, expected at most {} policies", at.key,
                                 node.children.size(), kPoliciesMax));
  }
  std::vector<PolicyConfig> policies;
  for (const YamlNode& item : node.children) {
    const YamlValue one{item, fmt::format("{}[{}]", at.key, policies.size())};
    policies.push_back(read_policy(one, catalog, places));
  }
  return policies;
}

}  // namespace corun::inline runner
