#include "knowledge/model_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "knowledge/prefitted_model.hpp"
#include "models/interference/fits/effort.hpp"
#include "models/limited_json.hpp"
#include "models/model_state.hpp"
#include "models/prefitted/prefitted.hpp"
#include "sim/base/nan.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/checksum.hpp"
#include "support/sealed_file.hpp"

namespace corun::inline knowledge {

namespace {

constexpr SealedKind kModelKind{"speed model", kModelVersion,
                                "fit it again with `corun model fit`"};
constexpr std::size_t kDigestDigits = 16;
constexpr std::size_t kMostAbout = 400;
constexpr std::size_t kSaturationNumbers = 5;
constexpr std::size_t kKeys = 11;
/// A key that a fit of effort 1 does not have.
constexpr const char* kEffortKey = "effort";
/// Fitted models are 7 deep and have some thousand values, as lists of numbers are one value each; more
/// workloads need more.
constexpr JsonLimits kModelLimits{16, std::size_t{1} << 20U};

const char* name_of(FeatureScale scale) { return scale == FeatureScale::kLog ? "log" : "linear"; }

bool is_digest(const std::string& text) {
  return text.size() == kDigestDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

InterferenceModel::Groups groups_of(const nlohmann::json& root,
                                    std::span<const WorkloadKey> workloads) {
  using namespace model_state;
  InterferenceModel::Groups groups;
  const std::string sharing = text_of(root.at("sharing"), "sharing");
  const auto at = std::ranges::find(kSharingNames, sharing);
  if (at == kSharingNames.end()) throw std::invalid_argument("there is no such sharing mode");
  groups.campaign.sharing = static_cast<Sharing>(at - kSharingNames.begin());
  groups.campaign.gpu = text_of(root.at("gpu"), "gpu");
  const std::vector<double> numbers = finite_doubles(root, "machine", 4);
  groups.campaign.bandwidth_gbs = numbers[0];
  groups.campaign.fp32_tflops = numbers[1];
  groups.level = numbers[2];
  groups.spread = numbers[3];
  if (numbers[0] < 0 || numbers[1] < 0 || !(groups.spread > 0)) {
    throw std::invalid_argument("the figures of the machine are not possible");
  }
  const std::vector<double> rules = finite_doubles(root, "co_runners", 3 * kSharings);
  for (std::size_t mode = 0; mode < kSharings; ++mode) {
    CoRunnerRule& rule = groups.rules[mode];
    rule = {rules[3 * mode], rules[3 * mode + 1], rules[3 * mode + 2]};
    constexpr double kMost = 20;
    if (rule.pooling < 1 || rule.pooling > kMost || rule.idle < 0 || rule.idle > 1 ||
        !(rule.scatter > 0 && rule.scatter <= kMost)) {
      throw std::invalid_argument("the rule of co-runners is not possible");
    }
  }
  const std::vector<double> saturations = doubles(root, "saturations");
  if (!saturations.empty() && saturations.size() != kSaturationNumbers * workloads.size()) {
    throw std::invalid_argument("there are not five numbers on saturation per workload");
  }
  if (!saturations.empty()) {
    groups.saturations.campaign.sharing = Sharing::kMps;
    groups.saturations.campaign.gpu = text_of(root.at("saturated_gpu"), "saturated_gpu");
  }
  for (std::size_t i = 0; i < saturations.size() / kSaturationNumbers; ++i) {
    const double* const n = saturations.data() + kSaturationNumbers * i;
    if (std::all_of(n, n + kSaturationNumbers, [](double x) { return std::isnan(x); })) continue;
    const Saturation found{n[0], n[1], n[2], n[3], n[4]};
    if (!found.is_possible()) throw std::invalid_argument("a job's saturation is not possible");
    if (workloads[i] != kUnknownWorkload) groups.saturations.jobs[workloads[i]] = found;
  }
  return groups;
}

/// Throws std::invalid_argument or nlohmann::json::exception if the content deviates from the
/// format.
ModelFile content_of(const nlohmann::json& root, WorkloadKeys& keys,
                     std::span<const std::string> names) {
  using namespace model_state;
  const bool has_effort = root.is_object() && root.contains(kEffortKey);
  map_of(root, has_effort ? kKeys + 1 : kKeys, "the model");
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
  InterferenceModel::Groups groups = groups_of(root, workloads);
  std::unique_ptr<InterferenceModel> model =
      entry->load(root.at("state"), std::move(features), std::move(workloads));
  model->set_groups(std::move(groups));
  if (has_effort) {
    const double effort = number_of(root.at(kEffortKey), kEffortKey);
    if (!(effort >= kLeastEffort && effort < 1)) {
      throw std::invalid_argument("the effort of the fit is not from 0.001 to below 1");
    }
    model->set_effort(effort);
  }
  file.model = std::move(model);
  file.about = printable(text_of(root.at("about"), "about"), kMostAbout);
  return file;
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
  return is_prefitted(path) || has_sealed_header(path, kModelKind);
}

ModelFile parse_model(std::string_view bytes, const std::string& place, WorkloadKeys& keys,
                      std::span<const std::string> names) {
  const std::string_view content = sealed_content(bytes, place, kModelKind);
  try {
    if (!json_problem(content, kModelLimits, nlohmann::json::input_format_t::cbor).empty()) {
      throw InputError(place, "the file is no speed model inside, take another copy");
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
  if (is_prefitted(path)) return parse_model(prefitted_bytes(), path, keys, names);
  return parse_model(read_sealed_file(path, kModelKind), path, keys, names);
}

std::string model_bytes(const ModelFile& file) {
  if (file.workloads.size() != file.model->workloads().size()) {
    throw std::logic_error("a model file needs a digest for every job");
  }
  nlohmann::json features = nlohmann::json::array();
  for (const SpeedTable::Feature& f : file.model->features()) {
    features.push_back({{"name", f.name}, {"scale", name_of(f.scale)}});
  }
  const InterferenceModel::Groups& groups = file.model->groups();
  std::vector<double> rules;
  for (const CoRunnerRule& rule : groups.rules) {
    rules.push_back(rule.pooling);
    rules.push_back(rule.idle);
    rules.push_back(rule.scatter);
  }
  std::vector<double> saturations;
  if (!groups.saturations.jobs.empty()) {
    for (const WorkloadKey job : file.model->workloads()) {
      const auto found = groups.saturations.jobs.find(job);
      if (job == kUnknownWorkload || found == groups.saturations.jobs.end()) {
        saturations.insert(saturations.end(), kSaturationNumbers, kNaN);
      } else {
        const Saturation& s = found->second;
        saturations.insert(saturations.end(), {s.log_load, s.log_gain, s.load_variance,
                                               s.gain_variance, s.covariance});
      }
    }
  }
  nlohmann::json root{{"about", printable(file.about, kMostAbout)},
                      {"model", file.name},
                      {"features", std::move(features)},
                      {"workloads", file.workloads},
                      {"sharing", kSharingNames[static_cast<std::size_t>(groups.campaign.sharing)]},
                      {"gpu", groups.campaign.gpu},
                      {"machine", model_state::packed(std::vector<double>{
                                      groups.campaign.bandwidth_gbs, groups.campaign.fp32_tflops,
                                      groups.level, groups.spread})},
                      {"co_runners", model_state::packed(rules)},
                      {"saturations", model_state::packed(saturations)},
                      {"saturated_gpu", groups.saturations.campaign.gpu},
                      {"state", file.model->save()}};
  if (file.model->effort() != 1) root[kEffortKey] = file.model->effort();
  std::string content;
  nlohmann::json::to_cbor(root, content);
  return sealed_bytes(content, kModelKind);
}

void write_model_file(const std::string& path, const ModelFile& file, const std::string& place,
                      Existing existing) {
  if (is_prefitted(path)) {
    throw InputError(place,
                     "'prefitted' is the name of the model that comes with corun; take another "
                     "name, or write ./prefitted");
  }
  checked_output_path(path, place);
  std::string bytes = model_bytes(file);
  WorkloadKeys none;
  parse_model(bytes, place, none, {});
  write_outputs({{place, path, std::move(bytes)}}, existing);
}

}  // namespace corun::inline knowledge
