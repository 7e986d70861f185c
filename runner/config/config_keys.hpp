#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runner/config/config.hpp"
#include "support/yaml_values.hpp"

/// The list of the keys of a configuration: name, variable, permitted values and meaning. The
/// reader, the writer, hints and `corun list keys` use it. Defaults are those of the structs. A
/// test compares the list with docs/configuration.md.
namespace corun::inline runner {

/// The variable that a key sets; an optional one may be null.
template <typename T>
class Slot {
 public:
  Slot(T& variable) : plain_(&variable) {}                        // NOLINT: implicit on purpose
  Slot(std::optional<T>& variable) : may_be_empty_(&variable) {}  // NOLINT

  bool may_be_null() const { return may_be_empty_ != nullptr; }
  /// `value` may be empty only if may_be_null(); std::bad_optional_access otherwise.
  void set(std::optional<T> value) const {
    if (may_be_empty_ != nullptr) {
      *may_be_empty_ = std::move(value);
    } else {
      *plain_ = std::move(value).value();
    }
  }
  std::optional<T> get() const { return may_be_empty_ != nullptr ? *may_be_empty_ : *plain_; }

 private:
  T* plain_ = nullptr;
  std::optional<T>* may_be_empty_ = nullptr;
};

struct KeyText {
  Slot<std::string> slot;
};

struct KeyFlag {
  Slot<bool> slot;
};

template <typename T>
struct KeyNumber {
  Slot<T> slot;
  Within<T> range;
};

/// One of a few words. `set` takes one of them, or nothing if the key may be null.
struct KeyWord {
  std::vector<std::string_view> words;
  bool may_be_null = false;
  std::function<void(std::optional<std::string_view>)> set;
  std::function<std::optional<std::string_view>()> get;
};

struct KeyPolicies {
  std::vector<PolicyConfig>* list = nullptr;
};

using KeyValue = std::variant<KeyText, KeyFlag, KeyNumber<double>, KeyNumber<std::int64_t>,
                              KeyNumber<std::uint64_t>, KeyWord, KeyPolicies>;

struct ConfigKey {
  std::string_view path;  ///< "cluster.oom.ramp_s"; ends in its unit, if any
  KeyValue value;
  std::string_view meaning;  ///< one line for `corun list keys`
};

/// All keys, bound to the variables of `config`, which must outlive them. Sections and keys come in the
/// order in which they are written; the keys of a section follow one another.
std::vector<ConfigKey> config_keys(Config& config);

/// The permitted values of a key, for messages and lists: "a whole number from 1 to 5, or null".
std::string expected_text(const KeyValue& value);

/// The names of the keys and sections in a section; "" is the whole configuration.
std::vector<std::string_view> names_below(std::span<const ConfigKey> keys,
                                          std::string_view section);

/// The error message for a key that `section` lacks: it suggests the nearest key, or one of that
/// name elsewhere.
std::string unknown_key_message(std::span<const ConfigKey> keys, std::string_view section,
                                std::string_view name);

}  // namespace corun::inline runner
