#include "support/sealed_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/checksum.hpp"

namespace corun::inline support {

namespace {

constexpr std::string_view kBytes = ", bytes ";
constexpr std::string_view kSum = ", sha256 ";
constexpr std::size_t kSumDigits = 64;
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
/// Longer than any first line of such a file.
constexpr std::size_t kLongestLine = 160;

std::string beginning_of(const SealedKind& kind) {
  return fmt::format("corun {}, version ", kind.noun);
}

/// Removes the leading digits of `text` and returns their number; -1 for none or too many.
std::int64_t take_number(std::string_view& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_integer(text.substr(0, digits));
  text.remove_prefix(digits);
  return number ? *number : -1;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

}  // namespace

bool has_sealed_header(const std::string& path, const SealedKind& kind) {
  const std::string beginning = beginning_of(kind);
  std::string start(beginning.size(), '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  return in && start == beginning;
}

std::string read_sealed_file(const std::string& path, const SealedKind& kind) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) {
    throw InputError(path,
                     fmt::format("cannot be read ({}), expected a {}", error.message(), kind.noun));
  }
  if (size > kMostBytes) throw InputError(path, fmt::format("is larger than any {}", kind.noun));
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw InputError(
        path, fmt::format("cannot be read ({}), expected a {}", std::strerror(errno), kind.noun));
  }
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) throw InputError(path, "cannot be read to its end");
  return bytes;
}

std::string_view sealed_content(std::string_view bytes, const std::string& place,
                                const SealedKind& kind) {
  const auto refuse = [&](const std::string& what) { throw InputError(place, what); };
  const std::string beginning = beginning_of(kind);
  const std::string expected = fmt::format("expected '{}{}, ...' first", beginning, kind.version);
  const std::string cut = "the file was cut short, take another copy";
  const std::size_t end = bytes.find('\n');
  std::string_view line = bytes.substr(0, std::min(end, kLongestLine));
  if (bytes.size() < beginning.size() && beginning.starts_with(bytes)) {
    refuse(bytes.empty() ? "the file is empty, " + expected : cut);
  }
  if (!take(line, beginning)) refuse(fmt::format("no {}, {}", kind.noun, expected));
  const std::int64_t version = take_number(line);
  const std::string other = fmt::format("version {} of a {}, this corun reads version {}; ",
                                        version, kind.noun, kind.version);
  if (version > kind.version) refuse(other + "the file is of a newer corun: use that one");
  if (version >= 0 && version < kind.version) refuse(other + std::string(kind.renew));
  const bool ended = end < bytes.size();
  const std::string damaged = ended ? "the file is damaged, take another copy" : cut;
  if (version != kind.version || !take(line, kBytes)) refuse(damaged);
  const std::int64_t size = take_number(line);
  if (size < 0 || !take(line, kSum) || line.size() != kSumDigits || !ended) refuse(damaged);
  const std::string_view content = bytes.substr(end + 1);
  if (content.size() < static_cast<std::uint64_t>(size)) {
    refuse(fmt::format("{} of {} bytes: {}", content.size(), size, cut));
  }
  if (content.size() > static_cast<std::uint64_t>(size)) {
    refuse(fmt::format("something follows the {}; take another copy", kind.noun));
  }
  if (sha256_of_text(content) != line) {
    refuse("the file is damaged (its SHA-256 is another), take another copy");
  }
  return content;
}

std::string sealed_bytes(std::string_view content, const SealedKind& kind) {
  return fmt::format("{}{}{}{}{}{}\n{}", beginning_of(kind), kind.version, kBytes, content.size(),
                     kSum, sha256_of_text(content), content);
}

}  // namespace corun::inline support
