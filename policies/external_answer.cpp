#include "policies/external_answer.hpp"

#include <set>
#include <vector>

#include "policies/external_process.hpp"
#include "sim/base/text.hpp"

namespace corun {

namespace {

using Json = nlohmann::ordered_json;

/// No valid answer has more than five brackets in brackets.
constexpr std::size_t kDeepest = 10;

/// Reads a text without building values: the library's parser keeps the last of two equal keys, and its
/// printer needs stack for each bracket.
class AnswerCheck final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& key) override {
    if (!keys_.back().insert(key).second) {
      throw ExternalError("the key '" + printable(key) + "' only once in an object");
    }
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    throw ExternalError("one JSON object on one line");
  }

 private:
  bool open() {
    keys_.emplace_back();
    if (keys_.size() > kDeepest) {
      throw ExternalError("at most " + std::to_string(kDeepest) + " brackets in brackets");
    }
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> keys_;  ///< of the objects and arrays that are open
};

}  // namespace

Json parse_answer(const std::string& line) {
  AnswerCheck check;
  Json::sax_parse(line, &check);
  return Json::parse(line);
}

}  // namespace corun
