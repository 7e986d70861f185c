#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sim/error.hpp"
#include "tests/fuzz/readers.hpp"

/// Entry of libFuzzer for the reader that CORUN_FUZZ_READER names.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const corun::fuzz::Reader& reader : corun::fuzz::readers()) {
    if (reader.name != CORUN_FUZZ_READER) continue;
    try {
      reader.read(bytes);
    } catch (const corun::InputError&) {
      return 0;
    }
    return 0;
  }
  std::abort();  // no such reader
}
