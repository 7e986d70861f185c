#include "experiments/model_file.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/atomic_file.hpp"
#include "experiments/checksum.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

namespace corun {

namespace {

using Json = nlohmann::json;
using State = FactorModel::State;

constexpr std::string_view kKind = "corun speed model, version ";
constexpr std::string_view kBytes = ", bytes ";
constexpr std::string_view kSum = ", sha256 ";
constexpr std::size_t kDigestDigits = 16;
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
constexpr std::size_t kMostAbout = 400;
/// More than any line that begins such a file.
constexpr std::size_t kLongestLine = 160;

template <typename Float>
using Bits = std::conditional_t<sizeof(Float) == 8, std::uint64_t, std::uint32_t>;

/// Little-endian whatever the machine.
template <typename Float>
Json packed(const std::vector<Float>& values) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(values.size() * sizeof(Float));
  for (const Float value : values) {
    auto bits = std::bit_cast<Bits<Float>>(value);
    for (std::size_t b = 0; b < sizeof(Float); ++b, bits >>= 8U) {
      bytes.push_back(static_cast<std::uint8_t>(bits & 0xffU));
    }
  }
  return Json::binary(std::move(bytes));
}

template <typename Float>
std::vector<Float> unpacked(const Json& map, const char* key) {
  const auto& bytes = map.at(key).get_binary();
  if (bytes.size() % sizeof(Float) != 0) {
    throw std::invalid_argument(fmt::format("'{}' ends within a number", key));
  }
  std::vector<Float> out;
  out.reserve(bytes.size() / sizeof(Float));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Float)) {
    Bits<Float> bits = 0;
    for (std::size_t b = sizeof(Float); b-- > 0;) {
      bits = static_cast<Bits<Float>>(bits << 8U) | bytes[at + b];
    }
    out.push_back(std::bit_cast<Float>(bits));
  }
  return out;
}

const char* name_of(FeatureScale scale) { return scale == FeatureScale::kLog ? "log" : "linear"; }

/// A map of so many keys, each of which is then asked for: any other is one too many.
const Json& map_of(const Json& node, std::size_t keys, const char* what) {
  if (!node.is_object() || node.size() != keys) {
    throw std::invalid_argument(fmt::format("{} is not a map of {}", what, keys));
  }
  return node;
}

const Json& list_of(const Json& node, const char* what) {
  if (!node.is_array()) throw std::invalid_argument(fmt::format("'{}' is not a list", what));
  return node;
}

double number_of(const Json& node, const char* what) {
  if (!node.is_number()) throw std::invalid_argument(fmt::format("'{}' is not a number", what));
  return node.get<double>();
}

std::string text_of(const Json& node, const char* what) {
  if (!node.is_string()) throw std::invalid_argument(fmt::format("'{}' is not text", what));
  const auto& text = node.get_ref<const std::string&>();
  if (find_bad_text(text, false) != text.size()) {
    throw std::invalid_argument(fmt::format("'{}' is not text of one line", what));
  }
  return text;
}

bool is_digest(const std::string& text) {
  return text.size() == kDigestDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// std::invalid_argument or Json::exception when it is not as the header says.
ModelFile content_of(const Json& root, WorkloadKeys& keys, std::span<const std::string> names) {
  map_of(root, 11, "the model");
  State state;
  for (const Json& node : list_of(root.at("features"), "features")) {
    map_of(node, 2, "a feature");
    const std::string scale = text_of(node.at("scale"), "scale");
    if (scale != "log" && scale != "linear") {
      throw std::invalid_argument("the scale of a feature is neither linear nor log");
    }
    state.features.push_back({text_of(node.at("name"), "name"),
                              scale == "log" ? FeatureScale::kLog : FeatureScale::kLinear});
  }
  std::unordered_map<std::string, const std::string*> by_digest;
  for (const std::string& name : names) by_digest.emplace(workload_digest(name), &name);
  std::vector<std::string> workloads;
  std::set<std::string> met;
  for (const Json& node : list_of(root.at("workloads"), "workloads")) {
    const std::string& digest = workloads.emplace_back(text_of(node, "workloads"));
    WorkloadKey key = kUnknownWorkload;
    if (!digest.empty()) {
      if (!is_digest(digest)) {
        throw std::invalid_argument("a workload is not 16 hexadecimal digits");
      }
      if (!met.insert(digest).second) throw std::invalid_argument("a workload is listed twice");
      if (const auto at = by_digest.find(digest); at != by_digest.end()) key = keys.of(*at->second);
    }
    state.keys.push_back(key);
  }
  state.mean = unpacked<double>(root, "mean");
  state.deviation = unpacked<double>(root, "deviation");
  state.landmarks = unpacked<double>(root, "landmarks");
  state.kernel_root = unpacked<double>(root, "kernel_root");
  const Json& target = list_of(root.at("target"), "target");
  if (target.size() != 2) throw std::invalid_argument("'target' is not a list of two numbers");
  state.target_mean = number_of(target[0], "target");
  state.target_deviation = number_of(target[1], "target");
  state.freedom = number_of(root.at("freedom"), "freedom");
  const double predicting = number_of(root.at("predicting"), "predicting");
  if (!(predicting >= 1 && predicting <= 1e9) || !root.at("predicting").is_number_integer()) {
    throw std::invalid_argument("the number of samples that predict is not possible");
  }
  state.predicting = static_cast<std::size_t>(predicting);
  for (const Json& node : list_of(root.at("samples"), "samples")) {
    map_of(node, 6, "a sample");
    const double rank = number_of(node.at("rank"), "rank");
    if (!(rank >= 1 && rank <= FactorModel::kMostRank) || !node.at("rank").is_number_integer()) {
      throw std::invalid_argument("a rank is not possible");
    }
    const double noise = number_of(node.at("noise"), "noise");
    if (!(noise > 0 && noise <= std::numeric_limits<float>::max())) {
      throw std::invalid_argument("the noise of a sample is not above 0 and finite");
    }
    state.samples.push_back({static_cast<int>(rank), unpacked<float>(node, "own"),
                             unpacked<float>(node, "partner"), unpacked<float>(node, "beta"),
                             unpacked<float>(node, "scatter"), static_cast<float>(noise)});
  }
  std::string about = printable(text_of(root.at("about"), "about"), kMostAbout);
  return {FactorModel::from(std::move(state)), std::move(workloads), std::move(about)};
}

/// The digits that `text` begins with, as a number; they are taken off. -1: none, or too many.
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

std::vector<std::string> workload_digests(const FactorModel& model, const WorkloadKeys& keys) {
  std::vector<std::string> out;
  for (const WorkloadKey key : model.state().keys) {
    out.push_back(workload_digest(keys.text(key)));
  }
  return out;
}

ModelFile parse_model(std::string_view bytes, const std::string& place, WorkloadKeys& keys,
                      std::span<const std::string> names) {
  const auto refuse = [&](const std::string& what) { throw InputError(place, what); };
  const std::string expected = fmt::format("expected '{}{}, ...' first", kKind, kModelVersion);
  const std::string cut = "the file was cut short, take another copy";
  std::string_view line = bytes.substr(0, std::min(bytes.find('\n'), kLongestLine));
  if (bytes.size() < kKind.size() && kKind.starts_with(bytes)) {
    refuse(bytes.empty() ? "the file is empty, " + expected : cut);
  }
  if (!take(line, kKind)) refuse("no speed model, " + expected);
  const std::int64_t version = take_number(line);
  if (version > kModelVersion) {
    refuse(
        fmt::format("version {} of a speed model, this corun reads version {}; the file is of a "
                    "newer corun: use that one",
                    version, kModelVersion));
  }
  const bool ended = bytes.size() > bytes.find('\n');
  const std::string damaged = ended ? "the file is damaged, take another copy" : cut;
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
    return content_of(Json::from_cbor(content), keys, names);
  } catch (const Json::exception&) {
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
  const State& state = file.model.state();
  if (file.workloads.size() != state.keys.size()) {
    throw std::logic_error("a model file needs a digest for every job");
  }
  Json features = Json::array();
  for (const SpeedTable::Feature& f : state.features) {
    features.push_back({{"name", f.name}, {"scale", name_of(f.scale)}});
  }
  Json samples = Json::array();
  for (const FactorModel::Sample& s : state.samples) {
    samples.push_back({{"rank", s.rank},
                       {"noise", s.noise},
                       {"own", packed(s.own)},
                       {"partner", packed(s.partner)},
                       {"beta", packed(s.beta)},
                       {"scatter", packed(s.scatter)}});
  }
  const Json root{{"about", printable(file.about, kMostAbout)},
                  {"features", std::move(features)},
                  {"workloads", file.workloads},
                  {"mean", packed(state.mean)},
                  {"deviation", packed(state.deviation)},
                  {"landmarks", packed(state.landmarks)},
                  {"kernel_root", packed(state.kernel_root)},
                  {"target", Json::array({state.target_mean, state.target_deviation})},
                  {"freedom", state.freedom},
                  {"predicting", state.predicting},
                  {"samples", std::move(samples)}};
  std::string content;
  Json::to_cbor(root, content);
  return fmt::format("{}{}{}{}{}{}\n", kKind, kModelVersion, kBytes, content.size(), kSum,
                     sha256_of_text(content)) +
         content;
}

void write_model_file(const std::string& path, const ModelFile& file, const std::string& place) {
  const std::string target = checked_output_path(path, place);
  const std::string bytes = model_bytes(file);
  WorkloadKeys none;
  parse_model(bytes, place, none, {});
  write_file_atomically(target, bytes);
}

}  // namespace corun
