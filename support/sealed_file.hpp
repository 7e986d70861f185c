#pragma once

#include <string>
#include <string_view>

/// Files that corun writes for itself. The first line says what the file is and seals its content:
///
///   corun NOUN, version VERSION, bytes 1234567, sha256 0f3c...
///
/// followed by that many bytes with that SHA-256. A file that is cut short or damaged is refused.
namespace corun::inline support {

struct SealedKind {
  std::string_view noun;  ///< "speed model"
  int version = 1;
  std::string_view renew;  ///< advice for an older version: "fit it again with `corun model fit`"
};

/// Whether the file begins as one of this kind does, whole or damaged; false if it cannot be read.
bool has_sealed_header(const std::string& path, const SealedKind& kind);

/// The bytes of a file that should be of this kind. InputError that begins with the path if it cannot be read
/// or is larger than 1 GiB.
std::string read_sealed_file(const std::string& path, const SealedKind& kind);

/// The content of a file with these bytes, called `place` in messages. InputError that begins with it for
/// another kind or version, and a truncated or damaged file. The view is of `bytes`.
std::string_view sealed_content(std::string_view bytes, const std::string& place,
                                const SealedKind& kind);

/// The bytes of a file with this content.
std::string sealed_bytes(std::string_view content, const SealedKind& kind);

}  // namespace corun::inline support
