#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

/// The words for the values of an enum in configurations: one table per enum, shared by reader,
/// writer, messages and lists. To give an enum words, specialise EnumNames:
///
///     template <>
///     struct EnumNames<Colour> {
///       static constexpr std::array kTable{EnumName{Colour::kRed, "red"},
///                                          EnumName{Colour::kBlue, "blue"}};
///     };
///
/// The table holds every value, in the order of the enum, which begins at 0; tests walk it.
namespace corun::inline runner {

template <typename E>
struct EnumName {
  E value;
  std::string_view word;
};
template <typename E>
EnumName(E, std::string_view) -> EnumName<E>;

template <typename E>
struct EnumNames;

/// An enum with a table of words.
template <typename E>
concept NamedEnum = requires {
  EnumNames<E>::kTable;
};

/// Whether each value equals its position, and all words differ and are not empty.
template <NamedEnum E>
consteval bool is_in_order() {
  const auto& table = EnumNames<E>::kTable;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].value) != i || table[i].word.empty()) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (table[i].word == table[j].word) return false;
    }
  }
  return true;
}

/// The word of a value. Throws std::logic_error for a number that is no value of the enum.
template <NamedEnum E>
constexpr std::string_view name_of(E value) {
  static_assert(is_in_order<E>());
  const auto& table = EnumNames<E>::kTable;
  const auto at = static_cast<std::size_t>(value);
  if (at >= table.size()) throw std::logic_error("a value without a word");
  return table[at].word;
}

/// The value of a word, or nothing for an unknown word.
template <NamedEnum E>
constexpr std::optional<E> parse_enum(std::string_view word) {
  static_assert(is_in_order<E>());
  for (const EnumName<E>& entry : EnumNames<E>::kTable) {
    if (entry.word == word) return entry.value;
  }
  return std::nullopt;
}

/// All words, in the order of the enum.
template <NamedEnum E>
std::vector<std::string_view> words_of() {
  static_assert(is_in_order<E>());
  std::vector<std::string_view> words;
  for (const EnumName<E>& entry : EnumNames<E>::kTable) words.push_back(entry.word);
  return words;
}

}  // namespace corun::inline runner
