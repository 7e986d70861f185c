#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/ids.hpp"

/// Parameters of policies in a configuration. Each policy lists its parameters once, in its catalogue
/// entry; readers, `--help`, `corun list policies` and the output work from that list.
namespace corun::inline policies {

enum class ParameterKind : std::uint8_t {
  kNumber,        ///< double within [min, max]
  kInteger,       ///< whole number within [min, max]; may be absent (null)
  kChoice,        ///< one of `choices`
  kClusterPairs,  ///< list of [a, b], e.g. [[1, 1], [0, 2]]
  kJobs,          ///< list of job names; the policy gets their JobIds
  kNumbers,       ///< list of numbers, each within [min, max]
  kTexts,         ///< list of texts; absent or empty lists are refused
};

using ClusterPair = std::pair<int, int>;

/// A value as the configuration gives it. monostate: null; a list of texts: kJobs or kTexts.
using ParameterValue =
    std::variant<std::monostate, double, std::int64_t, std::string, std::vector<ClusterPair>,
                 std::vector<std::string>, std::vector<double>>;

struct ParameterContext;
/// The reason why a parameter has no effect there; empty where it may have one (parameter_context.hpp).
using ParameterRule = std::string (*)(const ParameterContext&);

struct ParameterSpec {
  std::string_view name;
  std::string_view description;
  ParameterKind kind = ParameterKind::kNumber;
  ParameterValue fallback;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string_view> choices;
  ParameterRule only_where = nullptr;  ///< null: it always has an effect
};

/// The values of one policy's parameters: given ones, else the fallbacks of its list. Readers have checked
/// kinds and ranges, so an unknown name or a wrong type here throws std::logic_error.
class Parameters {
 public:
  /// A whole number is a fallback of kNumber, too: {.kind = kNumber, .fallback = 3} is 3.0. Any other type than the
  /// kind's is a std::logic_error.
  explicit Parameters(std::span<const ParameterSpec> specs) : specs_(specs), jobs_(specs.size()) {
    for (const auto& s : specs) values_.push_back(fallback_of(s));
  }

  void set(std::string_view name, ParameterValue value) {
    values_[position(name)] = std::move(value);
  }
  /// The jobs that the value of a kJobs parameter names.
  void set_jobs(std::string_view name, std::vector<JobId> jobs) {
    jobs_[position(name)] = std::move(jobs);
  }
  const ParameterValue& value(std::string_view name) const { return values_[position(name)]; }

  double number(std::string_view name) const { return get<double>(name); }
  const std::string& choice(std::string_view name) const { return get<std::string>(name); }
  std::optional<std::int64_t> integer(std::string_view name) const {
    if (std::holds_alternative<std::monostate>(value(name))) return std::nullopt;
    return get<std::int64_t>(name);
  }
  /// Empty when not given.
  std::vector<ClusterPair> cluster_pairs(std::string_view name) const {
    if (std::holds_alternative<std::monostate>(value(name))) return {};
    return get<std::vector<ClusterPair>>(name);
  }
  /// Empty when not given.
  const std::vector<JobId>& jobs(std::string_view name) const { return jobs_[position(name)]; }
  const std::vector<double>& numbers(std::string_view name) const {
    return get<std::vector<double>>(name);
  }
  /// Empty when not given.
  std::vector<std::string> texts(std::string_view name) const {
    if (std::holds_alternative<std::monostate>(value(name))) return {};
    return get<std::vector<std::string>>(name);
  }

  std::span<const ParameterSpec> specs() const { return specs_; }

 private:
  static ParameterValue fallback_of(const ParameterSpec& spec) {
    const auto* const whole = std::get_if<std::int64_t>(&spec.fallback);
    if (spec.kind == ParameterKind::kNumber && whole != nullptr) {
      return static_cast<double>(*whole);
    }
    const bool fits =
        (spec.kind != ParameterKind::kNumber || std::holds_alternative<double>(spec.fallback)) &&
        (spec.kind != ParameterKind::kInteger ||
         std::holds_alternative<std::int64_t>(spec.fallback) ||
         std::holds_alternative<std::monostate>(spec.fallback));
    if (fits) return spec.fallback;
    throw std::logic_error("parameter '" + std::string(spec.name) +
                           "' has a fallback of another kind than its own");
  }
  std::size_t position(std::string_view name) const {
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      if (specs_[i].name == name) return i;
    }
    throw std::logic_error("no parameter '" + std::string(name) + "'");
  }
  template <typename T>
  const T& get(std::string_view name) const {
    const T* v = std::get_if<T>(&value(name));
    if (v == nullptr) throw std::logic_error("parameter '" + std::string(name) + "' has no value");
    return *v;
  }

  std::span<const ParameterSpec> specs_;
  std::vector<ParameterValue> values_;
  std::vector<std::vector<JobId>> jobs_;  ///< of each parameter, as far as it names some
};

}  // namespace corun::inline policies
