#include "predictors/tables/predictor_file.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/limited_json.hpp"
#include "models/model_state.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/sealed_file.hpp"

namespace corun::inline predictors {

namespace {

constexpr SealedKind kPredictorKind{"predictor", 3, "fit it again with `corun predictor fit`"};
constexpr std::size_t kMostAbout = 400;
constexpr JsonLimits kLimits{16, std::size_t{1} << 20U};

/// Throws std::invalid_argument or nlohmann::json::exception if the content deviates from the format.
PredictorFile content_of(const nlohmann::json& root) {
  using namespace model_state;
  map_of(root, 4, "the predictor");
  PredictorFile file;
  file.about = printable(model_state::text_of(root.at("about"), "about"), kMostAbout);
  file.kind = model_state::text_of(root.at("kind"), "kind");
  const PredictorEntry* entry = find_predictor(file.kind);
  if (entry == nullptr || entry->name != file.kind) {
    throw std::invalid_argument("there is no predictor '" + printable(file.kind) + "'");
  }
  const std::string target = model_state::text_of(root.at("target"), "target");
  const auto known = find_target(target);
  if (!known) throw std::invalid_argument("there is no target '" + printable(target) + "'");
  file.predictor = entry->load(*known, root.at("state"));
  return file;
}

}  // namespace

bool has_predictor_header(const std::string& path) {
  return has_sealed_header(path, kPredictorKind);
}

PredictorFile parse_predictor(std::string_view bytes, const std::string& place) {
  const std::string_view content = sealed_content(bytes, place, kPredictorKind);
  const char* const no_predictor = "the file is no predictor inside, take another copy";
  if (!json_problem(content, kLimits, nlohmann::json::input_format_t::cbor).empty()) {
    throw InputError(place, no_predictor);
  }
  try {
    return content_of(nlohmann::json::from_cbor(content));
  } catch (const nlohmann::json::exception&) {
    throw InputError(place, no_predictor);
  } catch (const std::invalid_argument& e) {
    throw InputError(place, fmt::format("the file contradicts itself ({}), take another copy",
                                        printable(e.what())));
  }
}

PredictorFile read_predictor_file(const std::string& path) {
  return parse_predictor(read_sealed_file(path, kPredictorKind), path);
}

std::string predictor_bytes(const PredictorFile& file) {
  const nlohmann::json root{{"about", printable(file.about, kMostAbout)},
                            {"kind", file.kind},
                            {"target", name_of(file.predictor->target())},
                            {"state", file.predictor->save()}};
  std::string content;
  nlohmann::json::to_cbor(root, content);
  return sealed_bytes(content, kPredictorKind);
}

void write_predictor_file(const std::string& path, const PredictorFile& file,
                          const std::string& place, Existing existing) {
  checked_output_path(path, place);
  std::string bytes = predictor_bytes(file);
  parse_predictor(bytes, place);
  write_outputs({{place, path, std::move(bytes)}}, existing);
}

}  // namespace corun::inline predictors
