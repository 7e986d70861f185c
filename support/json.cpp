#include "support/json.hpp"

#include <string_view>

#include "sim/base/text.hpp"

namespace corun::inline support {

namespace {

/// `text` of JSON with \uNNNN for what find_bad_text() finds, which is in strings alone. nlohmann writes so
/// only the control characters below 0x20, or else every character that is not ASCII.
std::string without_bad_text(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t bad = find_bad_text(text, true);
    out += text.substr(0, bad);
    if (bad == text.size()) return out;
    const auto first = static_cast<unsigned char>(text[bad]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : 3;
    const std::string quoted = Json(text.substr(bad, length)).dump(-1, ' ', true);
    out += std::string_view(quoted).substr(1, quoted.size() - 2);
    text.remove_prefix(bad + length);
  }
}

}  // namespace

std::string json_text(const Json& json) {
  return without_bad_text(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string json_line(const Json& json) {
  return without_bad_text(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace corun::inline support
