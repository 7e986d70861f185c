#include "support/output_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline support {

namespace fs = std::filesystem;

namespace {

using Suffix = std::pair<std::string_view, std::string_view>;

/// Suffixes in lower case and the formats that they stand for.
constexpr std::array<Suffix, 31> kSuffixes{
    {{".csv", "csv"},      {".tsv", "tsv"},   {".json", "json"},       {".jsonl", "jsonl"},
     {".ndjson", "jsonl"}, {".h5", "hdf5"},   {".hdf5", "hdf5"},       {".hdf", "hdf5"},
     {".svg", "svg"},      {".png", "png"},   {".jpg", "jpeg"},        {".jpeg", "jpeg"},
     {".gif", "gif"},      {".webp", "webp"}, {".pdf", "pdf"},         {".eps", "eps"},
     {".ps", "ps"},        {".yaml", "yaml"}, {".yml", "yaml"},        {".xml", "xml"},
     {".html", "html"},    {".swf", "swf"},   {".parquet", "parquet"}, {".feather", "feather"},
     {".xlsx", "xlsx"},    {".npz", "npz"},   {".zip", "zip"},         {".gz", "gzip"},
     {".zst", "zstd"},     {".xz", "xz"},     {".bz2", "bzip2"}}};

/// Whether the file holds exactly these bytes.
bool holds(const std::string& path, const ByteSource& source) {
  std::ifstream in(path, std::ios::binary);
  std::array<char, 1 << 16> chunk{};
  struct Differs {};
  try {
    source([&](std::string_view bytes) {
      while (!bytes.empty()) {
        const std::size_t n = std::min(chunk.size(), bytes.size());
        if (!in.read(chunk.data(), static_cast<std::streamsize>(n))) throw Differs{};
        if (std::string_view(chunk.data(), n) != bytes.substr(0, n)) throw Differs{};
        bytes.remove_prefix(n);
      }
    });
  } catch (const Differs&) {
    return false;
  }
  return in.peek() == std::ifstream::traits_type::eof();
}

/// The target of a file. Throws InputError if it must stay.
std::string checked_target(const OutputStream& file, Existing existing) {
  std::string target = checked_output_path(file.path, file.place);
  if (existing != Existing::kReplace && is_filled(target) && !holds(target, file.source)) {
    refuse_existing(file.path, file.place, "holds something else");
  }
  return target;
}

}  // namespace

bool is_filled(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && fs::file_size(path, error) > 0 && !error;
}

void refuse_existing(const std::string& path, const std::string& place, const std::string& has) {
  throw InputError(place, fmt::format("'{}' {} and stays; choose another file, or give --force to "
                                      "replace it",
                                      printable(path, 200), has));
}

void check_unrepeatable(const std::string& path, const std::string& place, Existing existing) {
  if (existing == Existing::kReplace || !is_filled(path)) return;
  refuse_existing(path, place, "is there already, which no second run would repeat,");
}

void check_outputs(std::span<const OutputText> files, Existing existing) {
  for (const OutputText& file : files) {
    const auto source = [&file](const ByteSink& sink) { sink(file.text); };
    checked_target({file.place, file.path, source}, existing);
  }
}

void write_outputs(std::span<const OutputText> files, Existing existing) {
  check_outputs(files, existing);
  for (const OutputText& file : files) write_file_atomically(file.path, file.text);
}

void write_output(const OutputStream& file, Existing existing) {
  write_file_atomically(checked_target(file, existing), file.source);
}

std::string_view format_of_name(const std::string& path) {
  std::string suffix = fs::path(path).extension().string();
  std::ranges::transform(suffix, suffix.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* const at = std::ranges::find(kSuffixes, suffix, &Suffix::first);
  return at == kSuffixes.end() ? std::string_view() : at->second;
}

void check_name(const std::string& path, const std::string& place,
                std::initializer_list<std::string_view> formats) {
  const std::string_view named = format_of_name(path);
  if (named.empty() || std::ranges::find(formats, named) != formats.end()) return;
  const std::string suffix = fs::path(path).extension().string();
  throw InputError(
      place,
      fmt::format("'{}' names the format {}, but what is written here is {}; give "
                  "another suffix than {}, or none",
                  printable(path, 200), named, fmt::join(formats, " or "), printable(suffix)));
}

}  // namespace corun::inline support
