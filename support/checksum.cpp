#include "support/checksum.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

// The SHA256_* functions, which OpenSSL 3 deprecates: the newer EVP interface first sets up all
// algorithms, which takes longer than hashing most files.
#define OPENSSL_API_COMPAT 10100
#include <openssl/sha.h>

#include "sim/error.hpp"

namespace corun::inline support {

namespace {

class Sha256 {
 public:
  Sha256() { SHA256_Init(&context_); }
  void add(std::string_view bytes) { SHA256_Update(&context_, bytes.data(), bytes.size()); }
  std::string hex() {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256_Final(digest.data(), &context_);
    std::string out;
    for (const unsigned char byte : digest) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
    return out;
  }

 private:
  SHA256_CTX context_{};
};

}  // namespace

std::string sha256_of_file(const std::string& path, std::uint64_t first_bytes) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(path, std::string("cannot be read: ") + std::strerror(errno));
  Sha256 sum;
  std::array<char, 65536> buffer{};
  while (in && first_bytes > 0) {
    const std::uint64_t wanted = std::min<std::uint64_t>(first_bytes, buffer.size());
    in.read(buffer.data(), static_cast<std::streamsize>(wanted));
    sum.add({buffer.data(), static_cast<std::size_t>(in.gcount())});
    first_bytes -= wanted;
  }
  if (in.bad()) throw InputError(path, "cannot be read to its end");
  return sum.hex();
}

std::string sha256_of_text(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.hex();
}

}  // namespace corun::inline support
