#include "support/objects/s3_answer.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace corun::inline support {

namespace {

/// The text of the first element `name` from `at` on, as written; moves `at` behind it.
std::optional<std::string_view> raw_element(std::string_view xml, std::string_view name,
                                            std::size_t& at) {
  const std::string open = fmt::format("<{}>", name);
  const std::string close = fmt::format("</{}>", name);
  const std::size_t begin = xml.find(open, at);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = xml.find(close, begin + open.size());
  if (end == std::string_view::npos) return std::nullopt;
  at = end + close.size();
  return xml.substr(begin + open.size(), end - begin - open.size());
}

/// The character that "amp", "#38" or "#x26" stands for; nothing for what is no ASCII character.
std::optional<char> character_of(std::string_view reference) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kNamed{
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  for (const auto& [name, character] : kNamed) {
    if (reference == name) return character;
  }
  if (!reference.starts_with('#')) return std::nullopt;
  reference.remove_prefix(1);
  const bool hexadecimal = reference.starts_with('x');
  if (hexadecimal) reference.remove_prefix(1);
  unsigned code = 0;
  constexpr unsigned kAscii = 128;
  const auto [end, error] = std::from_chars(reference.data(), reference.data() + reference.size(),
                                            code, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != reference.data() + reference.size() || code >= kAscii) {
    return std::nullopt;
  }
  return static_cast<char>(code);
}

std::optional<std::string> without_references(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') return std::nullopt;
    if (text[i] != '&') {
      out += text[i];
      continue;
    }
    const std::size_t end = text.find(';', i);
    if (end == std::string_view::npos) return std::nullopt;
    const auto character = character_of(text.substr(i + 1, end - i - 1));
    if (!character) return std::nullopt;
    out += *character;
    i = end;
  }
  return out;
}

}  // namespace

std::optional<S3Listing> s3_listing(std::string_view xml) {
  if (xml.find("<ListBucketResult") == std::string_view::npos ||
      xml.find("</ListBucketResult>") == std::string_view::npos) {
    return std::nullopt;
  }
  S3Listing listing;
  std::size_t at = 0;
  while (const auto text = raw_element(xml, "Key", at)) {
    std::optional<std::string> key = without_references(*text);
    if (!key) return std::nullopt;
    listing.keys.push_back(std::move(*key));
  }
  if (s3_element(xml, "IsTruncated") == "true") {
    listing.next = s3_element(xml, "NextContinuationToken");
    if (listing.next.empty()) return std::nullopt;
  }
  return listing;
}

std::string s3_element(std::string_view xml, std::string_view name) {
  std::size_t at = 0;
  const auto text = raw_element(xml, name, at);
  return text ? without_references(*text).value_or("") : "";
}

std::string s3_encoded(std::string_view text, bool keeps_slash) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || c == '-' || c == '.' || c == '_' || c == '~' || (c == '/' && keeps_slash)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

}  // namespace corun::inline support
