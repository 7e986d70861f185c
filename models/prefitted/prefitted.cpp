#include "models/prefitted/prefitted.hpp"

#include <cstddef>

// The assembler copies the file CORUN_PREFITTED_FILE between two symbols.
asm(R"(
  .pushsection .rodata.corun_prefitted, "a"
  .globl corun_prefitted_begin
  .globl corun_prefitted_end
  .hidden corun_prefitted_begin
  .hidden corun_prefitted_end
corun_prefitted_begin:
  .incbin ")" CORUN_PREFITTED_FILE R"("
corun_prefitted_end:
  .popsection
)");

extern "C" {
extern const char corun_prefitted_begin[];
extern const char corun_prefitted_end[];
}

namespace corun::inline models {

std::string_view prefitted_bytes() {
  return {corun_prefitted_begin,
          static_cast<std::size_t>(corun_prefitted_end - corun_prefitted_begin)};
}

}  // namespace corun::inline models
