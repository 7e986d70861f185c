#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// What corun models and what it does not, by topic: `corun explain`, errors about unknown keys and docs/limits.md,
/// whose table must agree.
namespace corun::inline runner {

enum class Modelled : std::uint8_t { kYes, kPartly, kNo };

/// "yes", "partly", "no".
std::string_view name_of(Modelled modelled);

struct Topic {
  std::string_view name;
  std::string_view words;  ///< other words for it, separated by blanks
  Modelled modelled;
  std::string_view text;  ///< how it is modelled; if not, what to use instead
  /// Separated by blanks: keys of a configuration, policies and columns of corun's job CSV that stand for it. Empty: not
  /// modelled.
  std::string_view names;
  std::string_view page;  ///< "docs/configuration.md"
};

/// Those that are modelled first.
std::span<const Topic> topics();

/// The topic that has this name or word, in any case and with '_' for '-'; else the one of a word that is a part of
/// `word` between '_', '-' and '.', such as "power" of "max_power_w". Null if there is none.
const Topic* find_topic(std::string_view word);

/// "energy: not modelled: no power is ... (docs/results.md)".
std::string text_of(const Topic& topic);

}  // namespace corun::inline runner
