#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

namespace corun::inline report {

/// Base64 (RFC 4648, padded) of bytes.
std::string base64(std::span<const std::uint8_t> bytes);

/// A long column of numbers for the page: base64 of little-endian numbers (`Packed` of web/src/data.js).
template <typename Number>
std::string packed_column(std::span<const Number> numbers) {
  static_assert(std::endian::native == std::endian::little, "the page reads little-endian numbers");
  return base64({reinterpret_cast<const std::uint8_t*>(numbers.data()), numbers.size_bytes()});
}

}  // namespace corun::inline report
