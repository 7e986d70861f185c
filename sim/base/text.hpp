#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Text that users write and read: misspelt names, strict numbers, printable messages.
namespace corun::inline sim {

/// The known word that `word` is probably meant to be; empty if none is near. Near: one word is the
/// beginning of the other, or the edit distance is at most a third of the longer word. Swapped
/// neighbours count once; case and '-' against '_' do not count. The first of equally near words
/// wins.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// "did you mean 'x'? known: a, b, c", or "known: a, b, c" if no known word is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

/// `text` without blanks at both ends.
std::string_view trimmed(std::string_view text);

/// `text` with the letters A to Z in lower case.
std::string lower_case(std::string_view text);

/// The offset of the first byte of `text` that is not part of a UTF-8 character, or that begins a
/// control character, line separator or bidirectional override, which shows text in another order;
/// `text.size()` if there is none. With `allow_breaks`, tab, line feed, and a carriage return before
/// a line feed are good.
std::size_t find_bad_text(std::string_view text, bool allow_breaks);

/// `text` for one line of a terminal: bytes that find_bad_text() finds become \xNN. Text longer than
/// `limit` bytes is cut there and gets "...".
std::string printable(std::string_view text, std::size_t limit = 80);

/// The same for any number of lines: tabs and line feeds stay, and nothing is cut.
std::string printable_lines(std::string_view text);

/// An opaque number for a text, by which texts may be compared only: FNV-1a of 64 bits (Fowler, Noll and Vo); 0 for an
/// empty text.
std::uint64_t opaque_key(std::string_view text);

/// The whole text as a decimal whole number that fits; else std::nullopt (also for a sign '+' or
/// blanks).
std::optional<std::int64_t> parse_integer(std::string_view text);

/// The whole text as a finite decimal number; else std::nullopt.
std::optional<double> parse_number(std::string_view text);

}  // namespace corun::inline sim
