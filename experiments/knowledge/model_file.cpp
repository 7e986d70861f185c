#include "experiments/knowledge/model_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/checksum.hpp"
#include "models/interference/model_state.hpp"
#include "models/limited_json.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun {

namespace {

constexpr std::string_view kModelKind = "corun speed model, version ";
constexpr std::string_view kBytes = ", bytes ";
constexpr std::string_view kSum = ", sha256 ";
constexpr std::size_t kDigestDigits = 16;
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
constexpr std::size_t kMostAbout = 400;
/// Fitted models are 7 deep and have some thousand values, as lists of numbers are one value each; more
/// workloads need more.
constexpr JsonLimits kModelLimits{16, std::size_t{1} << 20U};
/// Longer than any first line of such a file.
constexpr std::size_t kLongestLine = 160;

const char* name_of(FeatureScale scale) { return scale == FeatureScale::kLog ? "log" : "linear"; }

bool is_digest(const std::string& text) {
  return text.size() == kDigestDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Throws std::invalid_argument or nlohmann::json::exception if the content deviates from the
/// format.
ModelFile content_of(const nlohmann::json& root, WorkloadKeys& keys,
                     std::span<const std::string> names) {
  using namespace model_state;
  map_of(root, 5, "the model");
  ModelFile file;
  file.name = text_of(root.at("model"), "model");
  const InterferenceModelEntry* entry = find_interference_model(file.name);
  if (entry == nullptr || entry->name != file.name) {
    throw std::invalid_argument("there is no model '" + printable(file.name) + "'");
  }
  std::vector<SpeedTable::Feature> features;
  std::set<std::string> feature_names;
  for (const nlohmann::json& node : model_state::list_of(root.at("features"), "features")) {
    map_of(node, 2, "a feature");
    const std::string scale = text_of(node.at("scale"), "scale");
    if (scale != "log" && scale != "linear") {
      throw std::invalid_argument("the scale of a feature is neither linear nor log");
    }
    features.push_back({text_of(node.at("name"), "name"),
                        scale == "log" ? FeatureScale::kLog : FeatureScale::kLinear});
    if (!feature_names.insert(features.back().name).second) {
      throw std::invalid_argument("a feature is listed twice");
    }
  }
  std::unordered_map<std::string, const std::string*> by_digest;
  for (const std::string& name : names) by_digest.emplace(workload_digest(name), &name);
  std::vector<WorkloadKey> workloads;
  std::set<std::string> met;
  for (const nlohmann::json& node : model_state::list_of(root.at("workloads"), "workloads")) {
    const std::string& digest = file.workloads.emplace_back(text_of(node, "workloads"));
    WorkloadKey key = kUnknownWorkload;
    if (!digest.empty()) {
      if (!is_digest(digest)) {
        throw std::invalid_argument("a workload is not 16 hexadecimal digits");
      }
      if (!met.insert(digest).second) throw std::invalid_argument("a workload is listed twice");
      if (const auto at = by_digest.find(digest); at != by_digest.end()) key = keys.of(*at->second);
    }
    workloads.push_back(key);
  }
  file.model = entry->load(root.at("state"), std::move(features), std::move(workloads));
  file.about = printable(text_of(root.at("about"), "about"), kMostAbout);
  return file;
}

/// Removes the leading digits of `text` and returns their number; -1 for none or too many.
std::int64_t take_number(std::string_view& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_integer(text.substr(0, digits));
  text.remove_prefix(digits);
  return number ? *number : -1;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

std::string read_bytes(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) {
    throw InputError(path, "cannot be read (" + error.message() + "), expected a speed model");
  }
  if (size > kMostBytes) throw InputError(path, "is larger than any speed model");
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw InputError(
        path, fmt::format("cannot be read ({}), expected a speed model", std::strerror(errno)));
  }
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) throw InputError(path, "cannot be read to its end");
  return bytes;
}

}  // namespace

std::string workload_digest(std::string_view name) {
  return name.empty() ? "" : sha256_of_text(name).substr(0, kDigestDigits);
}

std::vector<std::string> workload_digests(const InterferenceModel& model,
                                          const WorkloadKeys& keys) {
  std::vector<std::string> out;
  for (const WorkloadKey key : model.workloads()) {
    out.push_back(workload_digest(keys.text(key)));
  }
  return out;
}

bool has_model_header(const std::string& path) {
  std::string start(kModelKind.size(), '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  return in && start == kModelKind;
}

ModelFile parse_model(std::string_view bytes, const std::string& place, WorkloadKeys& keys,
                      std::span<const std::string> names) {
  const auto refuse = [&](const std::string& what) { throw InputError(place, what); };
  const std::string expected = fmt::format("expected '{}{}, ...' first", kModelKind, kModelVersion);
  const std::string cut = "the file was cut short, take another copy";
  std::string_view line = bytes.substr(0, std::min(bytes.find('\n'), kLongestLine));
  if (bytes.size() < kModelKind.size() && kModelKind.starts_with(bytes)) {
    refuse(bytes.empty() ? "the file is empty, " + expected : cut);
  }
  if (!take(line, kModelKind)) refuse("no speed model, " + expected);
  const std::int64_t version = take_number(line);
  if (version > kModelVersion) {
    refuse(
        fmt::format("version {} of a speed model, this corun reads version {}; the file is of a "
                    "newer corun: use that one",
                    version, kModelVersion));
  }
  const bool ended = bytes.size() > bytes.find('\n');
  const std::string damaged = ended ? "the file is damaged, take another copy" : cut;
  if (version >= 0 && version < kModelVersion) {
    refuse(
        fmt::format("version {} of a speed model, this corun reads version {}; fit it again with "
                    "`corun model fit`",
                    version, kModelVersion));
  }
  if (version != kModelVersion || !take(line, kBytes)) refuse(damaged);
  const std::int64_t size = take_number(line);
  constexpr std::size_t kSumDigits = 64;
  if (size < 0 || !take(line, kSum) || line.size() != kSumDigits || !ended) refuse(damaged);
  const std::string_view content = bytes.substr(bytes.find('\n') + 1);
  if (content.size() < static_cast<std::uint64_t>(size)) {
    refuse(fmt::format("{} of {} bytes: {}", content.size(), size, cut));
  }
  if (content.size() > static_cast<std::uint64_t>(size)) {
    refuse("something follows the model; take another copy");
  }
  if (sha256_of_text(content) != line) {
    refuse("the file is damaged (its SHA-256 is another), take another copy");
  }
  try {
    if (!json_problem(content, kModelLimits, nlohmann::json::input_format_t::cbor).empty()) {
      refuse("the file is no speed model inside, take another copy");
    }
    return content_of(nlohmann::json::from_cbor(content), keys, names);
  } catch (const nlohmann::json::exception&) {
    throw InputError(place, "the file is no speed model inside, take another copy");
  } catch (const std::invalid_argument& e) {
    throw InputError(place, fmt::format("the file contradicts itself ({}), take another copy",
                                        printable(e.what())));
  }
}

ModelFile read_model_file(const std::string& path, WorkloadKeys& keys,
                          std::span<const std::string> names) {
  return parse_model(read_bytes(path), path, keys, names);
}

std::string model_bytes(const ModelFile& file) {
  if (file.workloads.size() != file.model->workloads().size()) {
    throw std::logic_error("a model file needs a digest for every job");
  }
  nlohmann::json features = nlohmann::json::array();
  for (const SpeedTable::Feature& f : file.model->features()) {
    features.push_back({{"name", f.name}, {"scale", name_of(f.scale)}});
  }
  const nlohmann::json root{{"about", printable(file.about, kMostAbout)},
                            {"model", file.name},
                            {"features", std::move(features)},
                            {"workloads", file.workloads},
                            {"state", file.model->save()}};
  std::string content;
  nlohmann::json::to_cbor(root, content);
  return fmt::format("{}{}{}{}{}{}\n", kModelKind, kModelVersion, kBytes, content.size(), kSum,
                     sha256_of_text(content)) +
         content;
}

void write_model_file(const std::string& path, const ModelFile& file, const std::string& place,
                      Existing existing) {
  checked_output_path(path, place);
  std::string bytes = model_bytes(file);
  WorkloadKeys none;
  parse_model(bytes, place, none, {});
  write_outputs({{place, path, std::move(bytes)}}, existing);
}

}  // namespace corun
