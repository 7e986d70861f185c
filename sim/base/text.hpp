#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Text as users write and read it: misspelt names, strict numbers, printable messages.
namespace corun {

/// The known word that `word` was probably meant to be; empty when none is near. Near is an edit
/// distance (swapped neighbours count once, case and '-' against '_' not at all) of at most a third
/// of the longer word, or one word being the beginning of the other. Of equals the first wins.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// "did you mean 'x'? known: a, b, c", or "known: a, b, c" when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

/// `text` fit for one line of an error message: control characters and bytes that are not UTF-8 as
/// \xNN; longer than `limit` bytes it is cut there and "..." added.
std::string printable(std::string_view text, std::size_t limit = 80);

/// The offset of the first byte of `text` that is not part of a UTF-8 character, or that begins a
/// control character or line separator; `text.size()` when there is none. Tab and line feed, and a
/// carriage return before a line feed, pass when `allow_breaks`.
std::size_t find_bad_text(std::string_view text, bool allow_breaks);

/// The whole text as a decimal whole number that fits; nothing otherwise (no sign '+', no blanks).
std::optional<std::int64_t> parse_integer(std::string_view text);

/// The whole text as a finite decimal number; nothing otherwise.
std::optional<double> parse_number(std::string_view text);

}  // namespace corun
