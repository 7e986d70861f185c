#include "models/limited_json.hpp"

#include <cstdint>
#include <string>

namespace corun {
namespace {

using Json = nlohmann::json;

/// Counts what the parser meets; false ends the parsing.
class Counter final : public nlohmann::json_sax<Json> {
 public:
  explicit Counter(JsonLimits limits) : limits_(limits) {}

  bool null() override { return add(); }
  bool boolean(bool) override { return add(); }
  bool number_integer(number_integer_t) override { return add(); }
  bool number_unsigned(number_unsigned_t) override { return add(); }
  bool number_float(number_float_t, const string_t&) override { return add(); }
  bool string(string_t&) override { return add(); }
  bool binary(binary_t&) override { return add(); }
  bool key(string_t&) override { return add(); }
  bool start_object(std::size_t) override { return begin(); }
  bool start_array(std::size_t) override { return begin(); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool add() { return ++values_ <= limits_.values; }
  bool begin() { return ++depth_ <= limits_.depth && add(); }
  bool end() {
    --depth_;
    return true;
  }

  JsonLimits limits_;
  std::size_t depth_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

bool is_limited_json(std::string_view text, JsonLimits limits, Json::input_format_t format) {
  Counter counter(limits);
  return Json::sax_parse(text, &counter, format);
}

}  // namespace corun
