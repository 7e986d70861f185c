#include "traces/logs/carried_columns.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace corun::inline traces {

namespace {

/// The beginning of a text, whole characters of UTF-8.
std::string_view cut(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return text;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
  while (longest > 0 && continues(text[longest])) --longest;
  return text.substr(0, longest);
}

}  // namespace

CarriedColumns::CarriedColumns(CsvReader& csv, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (sources_.size() == kMost) break;
    sources_.push_back({csv.add_column(name), {name, {}}, {}});
  }
}

std::vector<std::uint32_t> CarriedColumns::read(const CsvReader& csv) {
  std::vector<std::uint32_t> places;
  places.reserve(sources_.size());
  for (Source& source : sources_) {
    if (source.dropped) {
      places.push_back(0);
      continue;
    }
    std::vector<std::string>& texts = source.carried.texts;
    const std::string text(cut(csv.cell(source.column), kLongest));
    const auto [at, fresh] =
        source.known.emplace(text, static_cast<std::uint32_t>(source.known.size()));
    if (fresh) texts.push_back(text);
    places.push_back(at->second);
    if (texts.size() <= kMostTexts) continue;
    source.dropped = true;
    source.known.clear();
    texts.clear();
  }
  return places;
}

std::vector<CarriedColumn> CarriedColumns::take() {
  std::vector<CarriedColumn> all;
  for (Source& source : sources_) {
    if (source.dropped) source.carried.name.clear();
    all.push_back(std::move(source.carried));
  }
  return all;
}

}  // namespace corun::inline traces
