#include "report/report_source.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "policies/catalog.hpp"
#include "support/checksum.hpp"
#include "support/statistics/metric_choice.hpp"

namespace corun::inline report {

using namespace hdf5;  // NOLINT: all of this file uses it

namespace {

/// The workload of a configuration, for the title: the name of its file, if it has one, and its source. Empty if the text
/// is no configuration.
std::string workload_of(const std::string& config) {
  try {
    const YAML::Node workload = YAML::Load(config)["workload"];
    auto source = workload["source"].as<std::string>();
    const YAML::Node path = workload["path"];
    if (!path || !path.IsScalar()) return source;
    const auto file = std::filesystem::path(path.as<std::string>()).filename().string();
    return source == "csv" ? file : file + " (" + source + ")";
  } catch (const YAML::Exception&) {
    return "";
  }
}

}  // namespace

ReportSource::ReportSource(const std::string& path)
    : path_(path),
      file_(open_file(path)),
      root_(H5Gopen2(file_, "/", H5P_DEFAULT), H5Gclose, "open the root"),
      kind_(read_text_attribute(root_, "kind")) {}

Json ReportSource::header() const {
  Json out;
  out["file"] = std::filesystem::path(path_).filename().string();
  out["sha256"] = sha256_of_file(path_);
  out["corun"] = read_text_attribute(root_, "corun_version");
  out["commit"] = read_text_attribute(root_, "commit");
  out["config"] = read_text_attribute(root_, "config");
  out["workload"] = short_name(workload_of(out["config"].get<std::string>()));
  // A text: a page keeps only 53 bits of a number.
  out["seed"] = fmt::format("{}", read_unsigned_attribute(root_, "seed"));
  out["replications"] = read_integer_attribute(root_, "replications");
  out["complete"] = read_integer_attribute(root_, "complete") == 1;
  out["inputs"] = read_texts_attribute(root_, "inputs");
  out["measured_on"] = measured_on();
  out["real_runs"] =
      has_attribute(root_, "real_runs") ? read_text_attribute(root_, "real_runs") : "";
  return out;
}

std::vector<std::string> ReportSource::warnings() const {
  if (!has_attribute(root_, "warnings")) return {};
  return read_texts_attribute(root_, "warnings");
}

std::string ReportSource::measured_on() const {
  return has_attribute(root_, "measured_on") ? read_text_attribute(root_, "measured_on") : "";
}

std::vector<RunRows> ReportSource::runs(const TableReader& table, std::size_t policies) const {
  constexpr std::size_t kBlock = 1 << 20;
  std::vector<RunRows> out;
  for (std::size_t first = 0; first < table.rows(); first += kBlock) {
    const RowRange block{first, std::min(kBlock, table.rows() - first)};
    const auto policy = table.integers("policy", block);
    const auto replication = table.integers("replication", block);
    for (std::size_t i = 0; i < block.count; ++i) {
      const std::size_t p = index(policy[i], policies);
      const std::size_t r = index(replication[i], SIZE_MAX);
      if (out.empty() || out.back().policy != p || out.back().replication != r) {
        const bool rises = out.empty() || out.back().policy < p ||
                           (out.back().policy == p && out.back().replication < r);
        if (!rises) throw damaged();
        out.push_back({p, r, {first + i, 0}});
      }
      ++out.back().rows.count;
    }
  }
  return out;
}

InputError ReportSource::damaged() const {
  return {path_, "its tables do not fit each other; was it changed by hand?"};
}

std::size_t ReportSource::index(std::int64_t value, std::size_t limit) const {
  if (value < 0 || static_cast<std::uint64_t>(value) >= limit) throw damaged();
  return static_cast<std::size_t>(value);
}

Metric metric_of(const ReportSource& source, const std::string& name) {
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    if (metric_info(static_cast<Metric>(m)).name == name) return static_cast<Metric>(m);
  }
  throw source.damaged();
}

Json metrics_json() {
  Json out = Json::array();
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    const auto metric = static_cast<Metric>(m);
    const MetricInfo& info = metric_info(metric);
    const Judgement& judgement = judged(metric);
    out.push_back({{"name", info.name},
                   {"unit", info.unit},
                   {"description", info.description},
                   {"better", !judgement.has_better         ? 0
                              : judgement.smaller_is_better ? -1
                                                            : 1},
                   {"percent", judgement.percent}});
  }
  return out;
}

std::string policy_description(const std::string& name) {
  const PolicyEntry* entry = find_policy(name);
  return entry == nullptr ? "" : std::string(entry->description);
}

Json solo_json(const TableReader& table) {
  constexpr std::array<const char*, 5> kSources{"reference", "measured", "predicted", "scaled",
                                                "assumed"};
  std::array<double, kSources.size()> sums{};
  double all = 0;
  for (std::size_t s = 0; s < kSources.size(); ++s) {
    const std::string column = fmt::format("solo_{}_s", kSources[s]);
    if (!table.has_column(column)) continue;
    for (const double x : table.reals(column)) sums[s] += x;
    all += sums[s];
  }
  if (!(all > 0)) return nullptr;
  Json out;
  for (std::size_t s = 0; s < kSources.size(); ++s) out[kSources[s]] = short_json(sums[s] / all);
  return out;
}

std::string short_name(const std::string& name) {
  constexpr std::size_t kMost = 200;
  if (name.size() <= kMost) return name;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return name.substr(0, end);
}

Json short_json(double x) {
  if (!std::isfinite(x)) return nullptr;
  if (x == std::floor(x) && std::abs(x) < 1e15) return static_cast<std::int64_t>(x);
  return std::strtod(fmt::format("{:.6g}", x).c_str(), nullptr);
}

Json short_json(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double x : values) out.push_back(short_json(x));
  return out;
}

}  // namespace corun::inline report
