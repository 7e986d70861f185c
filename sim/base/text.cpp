#include "sim/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace corun::inline sim {
namespace {

// Longer words are not misspelt names, and the cost of the distance is the product of the lengths.
constexpr std::size_t kLongestWord = 64;

std::string folded(std::string_view word) {
  std::string out = lower_case(word);
  std::ranges::replace(out, '-', '_');
  return out;
}

/// Insertions, deletions, substitutions and swaps of neighbours ("optimal string alignment").
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

/// Bytes of the UTF-8 character that begins at `i`, its code point in `code`; 0 if there is none.
std::size_t character_at(std::string_view text, std::size_t i, std::uint32_t& code) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(i);
  if (first < 0x80) {
    code = first;
    return 1;
  }
  std::size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (length == 0 || i + length > text.size()) return 0;
  code = first & (0xFFU >> (length + 1));
  for (std::size_t k = i + 1; k < i + length; ++k) {
    if ((byte(k) & 0xC0U) != 0x80U) return 0;
    code = (code << 6U) | (byte(k) & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return overlong || surrogate || code > 0x10FFFF ? 0 : length;
}

/// Whether a terminal may obey the character instead of showing it.
bool is_harmful(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool separator = code == 0x2028 || code == 0x2029;
  const bool bidirectional =
      (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return control || separator || bidirectional;
}

/// Adds the character of `text` at `i` to `out`, or its first byte as \xNN if it is harmful, not UTF-8
/// and none of `kept`. Returns how many bytes it took.
std::size_t put_printable(std::string& out, std::string_view text, std::size_t i,
                          std::string_view kept) {
  std::uint32_t code = 0;
  const std::size_t length = character_at(text, i, code);
  if (kept.find(text[i]) == std::string_view::npos && (length == 0 || is_harmful(code))) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(text[i]);
    out += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
    return 1;
  }
  out += text.substr(i, length);
  return length;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.empty() || word.size() > kLongestWord) return {};
  const std::string wanted = folded(word);
  std::string_view best;
  std::size_t best_distance = kLongestWord;
  for (const std::string_view candidate : known) {
    if (candidate.empty() || candidate.size() > kLongestWord) continue;
    const std::string other = folded(candidate);
    std::size_t distance = edit_distance(wanted, other);
    const std::size_t shorter = std::min(wanted.size(), other.size());
    const std::size_t limit = std::max<std::size_t>(1, std::max(wanted.size(), other.size()) / 3);
    const bool near = distance <= limit && distance < shorter;
    const bool beginning = shorter >= 3 && wanted.compare(0, shorter, other, 0, shorter) == 0;
    if (!near && !beginning && distance != 0) continue;
    // A beginning such as 'ramp' for 'ramp_s' is as good a guess as a few typing mistakes.
    if (beginning) distance = std::min(distance, limit);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view near = nearest(word, known);
  std::string text = near.empty() ? "" : "did you mean '" + std::string(near) + "'? ";
  text += "known: ";
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (i > 0) text += ", ";
    text += known[i];
  }
  return text;
}

std::size_t find_bad_text(std::string_view text, bool allow_breaks) {
  for (std::size_t i = 0; i < text.size();) {
    std::uint32_t code = 0;
    const std::size_t length = character_at(text, i, code);
    if (length == 0) return i;
    const bool end_of_line = code == '\n' || (code == '\r' && text.substr(i + 1, 1) == "\n");
    const bool allowed = allow_breaks && (code == '\t' || end_of_line);
    if (is_harmful(code) && !allowed) return i;
    i += length;
  }
  return text.size();
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size() && out.size() < limit) i += put_printable(out, text, i, "");
  if (i < text.size()) out += "...";
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) i += put_printable(out, text, i, "\t\n");
  return out;
}

namespace {

template <typename T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::uint64_t opaque_key(std::string_view text) {
  if (text.empty()) return 0;
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3U;
  }
  return hash == 0 ? 1 : hash;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse_whole<std::int64_t>(text);
}

std::optional<double> parse_number(std::string_view text) {
  // std::from_chars also reads "inf" and "nan(...)"; no quantity here is ever one of them.
  const auto value = parse_whole<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return *value + 0.0;  // no negative zero, which would be written back as "-0"
}

}  // namespace corun::inline sim
