#pragma once

#include <string>

namespace corun {

/// SHA-256 of a file's bytes in hexadecimal, as sha256sum prints it. Throws InputError when the file
/// cannot be read.
std::string sha256_of_file(const std::string& path);

}  // namespace corun
