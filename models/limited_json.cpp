#include "models/limited_json.hpp"

#include <cstdint>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace corun::inline models {
namespace {

using Json = nlohmann::json;

/// Looks for problems while the parser goes through the text; false ends the parsing.
class Check final : public nlohmann::json_sax<Json> {
 public:
  explicit Check(JsonLimits limits) : limits_(limits) {}

  const std::string& problem() const { return problem_; }

  bool null() override { return add(); }
  bool boolean(bool) override { return add(); }
  bool number_integer(number_integer_t) override { return add(); }
  bool number_unsigned(number_unsigned_t) override { return add(); }
  bool number_float(number_float_t, const string_t&) override { return add(); }
  bool string(string_t&) override { return add(); }
  bool binary(binary_t&) override { return add(); }
  bool key(string_t& key) override {
    if (!open_.back().insert(key).second) {
      problem_ = fmt::format("the key '{}' twice in an object", printable(key));
      return false;
    }
    return add();
  }
  bool start_object(std::size_t) override { return begin(); }
  bool start_array(std::size_t) override { return begin(); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    problem_ = "it is cut short or in another format";
    return false;
  }

 private:
  bool add() {
    if (++values_ <= limits_.values) return true;
    problem_ = fmt::format("more than {} values", limits_.values);
    return false;
  }
  bool begin() {
    open_.emplace_back();
    if (open_.size() <= limits_.depth) return add();
    problem_ = fmt::format("lists and maps nested more than {} deep", limits_.depth);
    return false;
  }
  bool end() {
    open_.pop_back();
    return true;
  }

  JsonLimits limits_;
  std::size_t values_ = 0;
  std::vector<std::set<std::string>>
      open_;  ///< keys of the lists (none) and maps around the present value
  std::string problem_;
};

/// Whether CBOR has a string of indefinite length (RFC 8949, 3.2.3), whose parts the library reads by calls within calls
/// before any check sees them. corun writes none. Items follow each other, so a scan needs no stack; it stops where the text is
/// cut short.
bool has_strings_in_parts(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto head = static_cast<unsigned char>(text[at++]);
    const unsigned type = head >> 5U;
    const unsigned info = head & 31U;
    const bool is_string = type == 2 || type == 3;
    if (info == 31) {
      if (is_string) return true;
      continue;  // the begin or the end of a list or a map
    }
    std::uint64_t argument = info;
    if (info >= 24) {
      const std::size_t bytes = std::size_t{1} << (info - 24);
      if (info > 27 || bytes > text.size() - at) return false;
      argument = 0;
      for (std::size_t b = 0; b < bytes; ++b) {
        argument = argument << 8U | static_cast<unsigned char>(text[at++]);
      }
    }
    if (!is_string) continue;
    if (argument > text.size() - at) return false;
    at += argument;
  }
  return false;
}

}  // namespace

std::string json_problem(std::string_view text, JsonLimits limits, Json::input_format_t format) {
  if (format == Json::input_format_t::cbor && has_strings_in_parts(text)) {
    return "a string in parts, which the library would nest calls for";
  }
  Check check(limits);
  Json::sax_parse(text, &check, format);
  return check.problem();
}

}  // namespace corun::inline models
