#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "policies/parameter_context.hpp"
#include "policies/parameters.hpp"
#include "sim/time.hpp"

/// The parameters of a policy, each declared once with the member of its options that takes the value:
///
///   struct Options { double threshold = 1.5; };
///   const ParametersOf<Options>& parameters() {
///     static const auto all = ParametersOf<Options>().number(
///         "threshold", &Options::threshold, {0, 2, "two jobs share only where their speeds add up to more"});
///     return all;
///   }
///   // in the entry: .parameters = parameters().specs(); in the factory: parameters().read(context.parameters)
///
/// The default of a parameter is that of its member, and the kind follows from the member's type. Instead of a member,
/// a function of the options that returns a reference will do.
namespace corun::inline policies {

/// The values that a number may have, both ends included, and one line about it with its unit in brackets.
struct NumberText {
  double min = 0;
  double max = 0;
  std::string_view description;
};

template <typename Options>
class ParametersOf {
  template <typename At>
  using Member = std::remove_cvref_t<std::invoke_result_t<At, Options&>>;
  template <typename T>
  struct OptionalOf : std::false_type {};
  template <typename T>
  struct OptionalOf<std::optional<T>> : std::bool_constant<std::integral<T>> {};

 public:
  explicit ParametersOf(Options defaults = {}) : defaults_(std::move(defaults)) {}

  /// A member that is a double, a Duration (given in seconds), a whole number (null: the default), an optional whole
  /// number (null: absent), or a list of doubles or of cluster pairs.
  template <typename At>
  ParametersOf& number(std::string_view name, At at, NumberText text) {
    using M = Member<At>;
    const M& fallback = std::invoke(at, defaults_);
    if constexpr (std::same_as<M, double>) {
      return add(name, text, ParameterKind::kNumber, fallback,
                 [=](const Parameters& p, Options& o) { std::invoke(at, o) = p.number(name); });
    } else if constexpr (std::same_as<M, Duration>) {
      // Divided, so that a decimal number of seconds is shown as such.
      return add(name, text, ParameterKind::kNumber, static_cast<double>(fallback.count()) / 1e9,
                 [=](const Parameters& p, Options& o) {
                   std::invoke(at, o) = from_seconds(p.number(name));
                 });
    } else if constexpr (std::same_as<M, std::vector<double>>) {
      return add(name, text, ParameterKind::kNumbers, fallback,
                 [=](const Parameters& p, Options& o) { std::invoke(at, o) = p.numbers(name); });
    } else if constexpr (std::same_as<M, std::vector<ClusterPair>>) {
      return add(
          name, text, ParameterKind::kClusterPairs, {},
          [=](const Parameters& p, Options& o) { std::invoke(at, o) = p.cluster_pairs(name); });
    } else if constexpr (OptionalOf<M>::value) {
      return add(name, text, ParameterKind::kInteger,
                 fallback ? ParameterValue(static_cast<std::int64_t>(*fallback)) : ParameterValue(),
                 [=](const Parameters& p, Options& o) {
                   const std::optional<std::int64_t> given = p.integer(name);
                   M& member = std::invoke(at, o);
                   member.reset();
                   if (given) member = static_cast<typename M::value_type>(*given);
                 });
    } else {
      static_assert(std::integral<M> && !std::same_as<M, bool>, "no kind of number");
      return add(name, text, ParameterKind::kInteger, static_cast<std::int64_t>(fallback),
                 [=](const Parameters& p, Options& o) {
                   const std::optional<std::int64_t> given = p.integer(name);
                   if (given) std::invoke(at, o) = static_cast<M>(*given);
                 });
    }
  }

  /// A member whose values have names: an enumeration, or a bool.
  template <typename At>
  ParametersOf& choice(std::string_view name, At at,
                       std::vector<std::pair<std::string_view, Member<At>>> words,
                       std::string_view description) {
    std::vector<std::string_view> names;
    std::string fallback;
    for (const auto& [word, value] : words) {
      names.push_back(word);
      if (value == std::invoke(at, defaults_)) fallback = word;
    }
    if (fallback.empty()) throw std::logic_error("the default has no name: " + std::string(name));
    add(name, {0, 0, description}, ParameterKind::kChoice, fallback,
        [=](const Parameters& p, Options& o) {
          for (const auto& [word, value] : words) {
            if (word == p.choice(name)) std::invoke(at, o) = value;
          }
        });
    specs_.back().choices = std::move(names);
    return *this;
  }

  /// A list of jobs of the workload, empty by default.
  ParametersOf& jobs(std::string_view name, std::vector<JobId> Options::*at,
                     std::string_view description) {
    return add(name, {0, 0, description}, ParameterKind::kJobs, {},
               [=](const Parameters& p, Options& o) { o.*at = p.jobs(name); });
  }

  /// A list of texts that must be given.
  ParametersOf& texts(std::string_view name, std::vector<std::string> Options::*at,
                      std::string_view description) {
    return add(name, {0, 0, description}, ParameterKind::kTexts, {},
               [=](const Parameters& p, Options& o) { o.*at = p.texts(name); });
  }

  /// The parameter declared last has an effect under this rule only (parameter_context.hpp).
  ParametersOf& only_where(ParameterRule rule) {
    specs_.back().only_where = rule;
    return *this;
  }

  /// The same for a parameter of with().
  ParametersOf& only_where(std::string_view name, ParameterRule rule) {
    for (ParameterSpec& spec : specs_) {
      if (spec.name == name) spec.only_where = rule;
    }
    return *this;
  }

  /// Those of a base of the options, too.
  template <typename Base>
  requires std::derived_from<Options, Base> ParametersOf& with(const ParametersOf<Base>& others) {
    for (const ParameterSpec& spec : others.specs()) specs_.push_back(spec);
    readers_.push_back([&others](const Parameters& p, Options& o) { others.read_into(p, o); });
    return *this;
  }

  /// Valid as long as this object.
  std::span<const ParameterSpec> specs() const { return specs_; }

  /// The options with these values, which must be of specs().
  Options read(const Parameters& given) const {
    Options options = defaults_;
    read_into(given, options);
    return options;
  }
  void read_into(const Parameters& given, Options& options) const {
    for (const auto& reader : readers_) reader(given, options);
  }

 private:
  using Reader = std::function<void(const Parameters&, Options&)>;

  ParametersOf& add(std::string_view name, const NumberText& text, ParameterKind kind,
                    ParameterValue fallback, Reader reader) {
    specs_.push_back({.name = name,
                      .description = text.description,
                      .kind = kind,
                      .fallback = std::move(fallback),
                      .min = text.min,
                      .max = text.max,
                      .choices = {},
                      .only_where = nullptr});
    readers_.push_back(std::move(reader));
    return *this;
  }

  Options defaults_;
  std::vector<ParameterSpec> specs_;
  std::vector<Reader> readers_;
};

}  // namespace corun::inline policies
