#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace corun::inline support {

/// SHA-256 of a file's bytes, or of its first bytes, in hexadecimal, as sha256sum prints it. Throws
/// InputError when the file cannot be read.
std::string sha256_of_file(const std::string& path,
                           std::uint64_t first_bytes = std::numeric_limits<std::uint64_t>::max());

/// The same for bytes in memory.
std::string sha256_of_text(std::string_view bytes);

}  // namespace corun::inline support
