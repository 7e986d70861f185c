#pragma once

#include <string>
#include <string_view>

namespace corun {

/// SHA-256 of a file's bytes in hexadecimal, as sha256sum prints it. Throws InputError when the file
/// cannot be read.
std::string sha256_of_file(const std::string& path);

/// The same for bytes in memory.
std::string sha256_of_text(std::string_view bytes);

}  // namespace corun
