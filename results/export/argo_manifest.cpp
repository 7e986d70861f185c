#include "results/export/argo_manifest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include "results/export/container_yaml.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline results {

namespace {

constexpr std::size_t kLabelMax = 63;       ///< RFC 1123 label, and value of a Kubernetes label
constexpr std::size_t kSubdomainMax = 253;  ///< RFC 1123 subdomain
constexpr std::size_t kGeneratedNameMax =
    57;  ///< 63 less '-' and the five letters that Kubernetes appends
constexpr std::array<std::string_view, 3> kReserved = {"init", "main", "wait"};
constexpr const char* kPodLabel = "corun/gpu-group";
constexpr const char* kClaim = "gpu";
constexpr const char* kEntrypoint = "queue";

bool lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_label(std::string_view text, std::size_t most = kLabelMax) {
  return !text.empty() && text.size() <= most && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return lower_or_digit(c) || c == '-'; });
}

/// Whether the text is RFC 1123 labels separated by dots.
bool is_subdomain(std::string_view text) {
  if (text.size() > kSubdomainMax) return false;
  for (;;) {
    const auto dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

/// Whether the text may follow the '/' of a qualified name or be the value of a label.
bool is_label_value(std::string_view text) {
  const auto alphanumeric = [](char c) { return lower_or_digit(c) || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && text.size() <= kLabelMax && alphanumeric(text.front()) &&
         alphanumeric(text.back()) && std::all_of(text.begin(), text.end(), [&](char c) {
           return alphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

bool is_qualified(std::string_view text) {
  const auto slash = text.find('/');
  return slash != std::string_view::npos && is_subdomain(text.substr(0, slash)) &&
         is_label_value(text.substr(slash + 1));
}

/// 32-bit FNV-1a.
std::uint32_t hash(std::string_view text) {
  std::uint32_t h = 2166136261U;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 16777619U;
  return h;
}

/// `name` in lower case, each run of other characters replaced by one '-'.
std::string label_like(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (lower_or_digit(c)) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "job" : out;
}

std::string with_ending(std::string base, const std::string& ending) {
  base.resize(std::min(base.size(), kLabelMax - 1 - ending.size()));
  while (base.back() == '-') base.pop_back();
  return base + "-" + ending;
}

void check(const ArgoOptions& options) {
  const auto refuse = [](const std::string& what, const std::string& found,
                         const std::string& expected) {
    throw InputError(what, "found '" + printable(found) + "', expected " + expected);
  };
  if (!is_label(options.name, kGeneratedNameMax)) {
    refuse("workflow name", options.name,
           fmt::format("1 to {} lower-case letters, digits and '-', none at the ends",
                       kGeneratedNameMax));
  }
  if (options.gpus < 1) refuse("number of GPUs", std::to_string(options.gpus), "1 or more");
  if (!options.claim_template.empty()) {
    if (!is_subdomain(options.claim_template)) {
      refuse("--claim-template", options.claim_template, "the name of a ResourceClaimTemplate");
    }
    return;
  }
  if (!is_qualified(options.gpu_resource)) {
    refuse("--gpu-resource", options.gpu_resource, "DOMAIN/NAME, e.g. nvidia.com/gpu.shared");
  }
  if (options.node_selector.empty()) {
    throw InputError("node selector",
                     "found none, expected labels of nodes with one GPU: on others the containers "
                     "of a pod get different GPUs; give nvidia.com/gpu.count=1 or share by claim");
  }
  for (const auto& [key, value] : options.node_selector) {
    if (!is_qualified(key) && !is_label_value(key)) {
      refuse("node selector", key, "the key of a label, e.g. nvidia.com/gpu.count");
    }
    if (!value.empty() && !is_label_value(value)) {
      refuse("node selector", value, "the value of a label");
    }
  }
}

/// All jobs of the plan, in order of pods. Throws std::logic_error for an invalid plan.
std::vector<std::string> jobs_of(const ArgoPlan& plan) {
  std::vector<std::string> jobs;
  for (const ArgoGroup& group : plan.groups) {
    if (group.jobs.empty()) throw std::logic_error("argo_manifest: a group without jobs");
    if (!group.expected_isd.empty() && group.expected_isd.size() != group.jobs.size()) {
      throw std::logic_error("argo_manifest: expected ISDs are one per job or none");
    }
    jobs.insert(jobs.end(), group.jobs.begin(), group.jobs.end());
  }
  jobs.insert(jobs.end(), plan.alone.begin(), plan.alone.end());
  if (jobs.empty()) throw std::logic_error("argo_manifest: a plan without jobs");
  if (std::set<std::string>(jobs.begin(), jobs.end()).size() != jobs.size()) {
    throw std::logic_error("argo_manifest: a job occurs twice");
  }
  return jobs;
}

class Manifest {
 public:
  Manifest(const ArgoPlan& plan, const ArgoOptions& options, const ContainerTable* containers)
      : options_(options),
        containers_(containers),
        jobs_(jobs_of(plan)),
        names_(argo_names(jobs_)) {
    for (const ArgoGroup& group : plan.groups) pods_.push_back(group);
    for (const std::string& job : plan.alone) pods_.push_back({{job}, "alone", {}, {}});
  }

  std::string text() {
    out_.SetIndent(2);
    out_ << YAML::BeginMap;
    plain("apiVersion", "argoproj.io/v1alpha1");
    plain("kind", "Workflow");
    begin_map("metadata");
    plain("generateName", options_.name + "-");
    out_ << YAML::EndMap;
    begin_map("spec");
    plain("entrypoint", kEntrypoint);
    out_ << YAML::Key << "parallelism" << YAML::Value << options_.gpus;
    if (containers_ == nullptr) image_parameters();
    if (options_.claim_template.empty()) placement();
    begin_list("templates");
    queue();
    std::size_t first = 0;
    for (std::size_t p = 0; p < pods_.size(); ++p) {
      pod(p, first);
      first += pods_[p].jobs.size();
    }
    out_ << YAML::EndSeq << YAML::EndMap << YAML::EndMap;
    return std::string(out_.c_str()) + "\n";
  }

 private:
  void begin_map(const char* key) { out_ << YAML::Key << key << YAML::Value << YAML::BeginMap; }
  void begin_list(const char* key) { out_ << YAML::Key << key << YAML::Value << YAML::BeginSeq; }

  /// A word that YAML reads as a string without quotes.
  void plain(const char* key, const std::string& value) {
    out_ << YAML::Key << key << YAML::Value << value;
  }
  /// Any text: quoted, so that 1, yes and null stay text.
  void quoted(const std::string& text) { out_ << YAML::DoubleQuoted << text; }
  void quoted(const char* key, const std::string& value) {
    out_ << YAML::Key << key << YAML::Value;
    quoted(value);
  }

  /// Numbers have leading zeros because Argo starts tasks in the order of their names.
  std::string pod_name(std::size_t p) const {
    const std::size_t digits = std::max<std::size_t>(3, std::to_string(pods_.size()).size());
    return fmt::format("pod-{:0{}}", p + 1, digits);
  }

  void image_parameters() {
    begin_map("arguments");
    begin_list("parameters");
    for (const std::string& name : names_) {
      out_ << YAML::BeginMap;
      plain("name", "image-" + name);
      out_ << YAML::EndMap;
    }
    out_ << YAML::EndSeq << YAML::EndMap;
  }

  /// Node selector and anti-affinity: nodes with one GPU, one pod on each.
  void placement() {
    begin_map("podMetadata");
    begin_map("labels");
    quoted(kPodLabel, "true");
    out_ << YAML::EndMap << YAML::EndMap;
    begin_map("nodeSelector");
    for (const auto& [key, value] : options_.node_selector) quoted(key.c_str(), value);
    out_ << YAML::EndMap;
    begin_map("affinity");
    begin_map("podAntiAffinity");
    begin_list("requiredDuringSchedulingIgnoredDuringExecution");
    out_ << YAML::BeginMap;
    begin_map("labelSelector");
    begin_map("matchLabels");
    quoted(kPodLabel, "true");
    out_ << YAML::EndMap << YAML::EndMap;
    plain("topologyKey", "kubernetes.io/hostname");
    out_ << YAML::EndMap << YAML::EndSeq << YAML::EndMap << YAML::EndMap;
  }

  void queue() {
    out_ << YAML::BeginMap;
    plain("name", kEntrypoint);
    begin_map("dag");
    out_ << YAML::Key << "failFast" << YAML::Value << false;
    begin_list("tasks");
    for (std::size_t p = 0; p < pods_.size(); ++p) {
      out_ << YAML::BeginMap;
      plain("name", pod_name(p));
      plain("template", pod_name(p));
      out_ << YAML::EndMap;
    }
    out_ << YAML::EndSeq << YAML::EndMap << YAML::EndMap;
  }

  /// `first`: index of the pod's first job among all jobs.
  void pod(std::size_t p, std::size_t first) {
    const ArgoGroup& group = pods_[p];
    out_ << YAML::BeginMap;
    plain("name", pod_name(p));
    begin_map("metadata");
    begin_map("annotations");
    annotations(group, first);
    out_ << YAML::EndMap << YAML::EndMap;
    if (!options_.claim_template.empty()) {
      const nlohmann::ordered_json claim{{"name", kClaim},
                                         {"resourceClaimTemplateName", options_.claim_template}};
      // JSON, because YAML within YAML depends on indentation.
      quoted("podSpecPatch", nlohmann::ordered_json{{"resourceClaims", {claim}}}.dump());
    }
    begin_map("containerSet");
    begin_list("containers");
    for (std::size_t j = first; j < first + group.jobs.size(); ++j) container(j);
    out_ << YAML::EndSeq << YAML::EndMap << YAML::EndMap;
  }

  void annotations(const ArgoGroup& group, std::size_t first) {
    nlohmann::ordered_json jobs;
    for (std::size_t j = first; j < first + group.jobs.size(); ++j) jobs[names_[j]] = jobs_[j];
    // ASCII only, and no "{{".
    std::string json = jobs.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
    for (std::size_t at = 1; (at = json.find('{', at)) != std::string::npos;) {
      json.replace(at, 1, "\\u007b");
    }
    quoted("corun/jobs", json);
    if (!group.reason.empty()) {
      std::string reason = printable(group.reason, 1000);
      for (std::size_t at; (at = reason.find("{{")) != std::string::npos;)
        reason.insert(at + 1, 1, ' ');
      quoted("corun/reason", reason);
    }
    const auto percent = [](double x) {
      return std::isfinite(x) ? fmt::format("{:.1f}", x * 100) : std::string("-");
    };
    if (!group.expected_isd.empty()) {
      std::vector<std::string> isd;
      for (const double x : group.expected_isd) isd.push_back(percent(x));
      quoted("corun/expected-isd-percent", fmt::format("{}", fmt::join(isd, ", ")));
    }
    if (group.expected_ps && std::isfinite(*group.expected_ps)) {
      quoted("corun/expected-ps-percent", percent(*group.expected_ps));
    }
  }

  void container(std::size_t j) {
    out_ << YAML::BeginMap;
    quoted("name", names_[j]);
    if (containers_ == nullptr) {
      quoted("image", "{{workflow.parameters.image-" + names_[j] + "}}");
    } else {
      emit_container(out_, *containers_, jobs_[j]);
    }
    begin_map("resources");
    if (options_.claim_template.empty()) {
      // Requests of an extended resource follow from its limits.
      begin_map("limits");
      out_ << YAML::Key << options_.gpu_resource << YAML::Value << 1 << YAML::EndMap;
    } else {
      begin_list("claims");
      out_ << YAML::BeginMap;
      plain("name", kClaim);
      out_ << YAML::EndMap << YAML::EndSeq;
    }
    out_ << YAML::EndMap << YAML::EndMap;
  }

  const ArgoOptions& options_;
  const ContainerTable* containers_;
  std::vector<std::string> jobs_;
  std::vector<std::string> names_;
  std::vector<ArgoGroup> pods_;
  YAML::Emitter out_;
};

}  // namespace

std::vector<std::string> argo_names(std::span<const std::string> jobs) {
  const auto keeps = [](const std::string& job) {
    return is_label(job) && std::find(kReserved.begin(), kReserved.end(), job) == kReserved.end();
  };
  // Names that are valid labels are reserved first, so that no generated name takes one.
  std::set<std::string> taken;
  for (const std::string& job : jobs) {
    if (keeps(job)) taken.insert(job);
  }
  std::vector<std::string> names;
  for (const std::string& job : jobs) {
    if (keeps(job)) {
      names.push_back(job);
      continue;
    }
    const std::string ending = fmt::format("{:08x}", hash(job));
    std::string name = with_ending(label_like(job), ending);
    for (int n = 2; !taken.insert(name).second; ++n) {
      name = with_ending(label_like(job), fmt::format("{}-{}", ending, n));
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::string argo_manifest(const ArgoPlan& plan, const ArgoOptions& options,
                          const ContainerTable* containers) {
  check(options);
  return Manifest(plan, options, containers).text();
}

}  // namespace corun::inline results
