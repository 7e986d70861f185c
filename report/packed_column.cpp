#include "report/packed_column.hpp"

#include <algorithm>
#include <cstddef>

#include <openssl/evp.h>

namespace corun::inline report {

std::string base64(std::span<const std::uint8_t> bytes) {
  // The library counts in int: in pieces whose length is a multiple of 3, the parts join without padding.
  constexpr std::size_t kPiece = 3 << 20;
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  std::string text(kPiece / 3 * 4 + 1, '\0');
  while (!bytes.empty()) {
    const std::size_t n = std::min(kPiece, bytes.size());
    const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                       static_cast<int>(n));
    out.append(text, 0, static_cast<std::size_t>(length));
    bytes = bytes.subspan(n);
  }
  return out;
}

}  // namespace corun::inline report
