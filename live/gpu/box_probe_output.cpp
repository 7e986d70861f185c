#include "live/gpu/box_probe_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/csv_text.hpp"
#include "support/text_table.hpp"

namespace corun::live {

namespace {

Json gpu_json(const ProbedGpu& gpu) {
  const GpuFacts& facts = gpu.facts;
  const GpuReading& now = gpu.now;
  Json json{{"index", facts.index},
            {"name", facts.name},
            {"uuid", facts.uuid},
            {"memory_mib", facts.memory_mib},
            {"memory_used_mib", now.memory_used_mib},
            {"util_pct", json_or_null(now.util_pct)},
            {"temperature_c", json_or_null(now.temperature_c)},
            {"sm_clock_mhz", json_or_null(now.sm_clock_mhz)},
            {"mig", json_or_null(facts.mig)},
            {"compute_mode", facts.mode ? Json(name_of(*facts.mode)) : Json(nullptr)},
            {"processes", nullptr},
            {"refused", Json::object()}};
  if (gpu.processes) {
    json["processes"] = Json::array();
    for (const GpuProcess& p : *gpu.processes) {
      json["processes"].push_back({{"pid", p.pid}, {"memory_mib", json_or_null(p.memory_mib)}});
    }
  }
  for (std::size_t u = 0; u < kGpuUses.size(); ++u) {
    json["refused"][std::string(kGpuUses[u].name)] = gpu.refused[u];
  }
  return json;
}

std::string mode_or(const GpuFacts& facts, const char* untold) {
  return facts.mode ? std::string(name_of(*facts.mode)) : untold;
}

}  // namespace

Json probe_json(const BoxProbe& box, const std::string& error) {
  const auto told = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  Json json{{"driver", told(box.driver)},
            {"cuda", told(box.cuda)},
            {"mps", told(box.mps)},
            {"gpus", Json::array()}};
  for (const ProbedGpu& gpu : box.gpus) json["gpus"].push_back(gpu_json(gpu));
  json["error"] = told(error);
  return json;
}

std::string probe_csv(const BoxProbe& box) {
  std::string text =
      "index,name,uuid,memory_mib,memory_used_mib,util_pct,temperature_c,mig,compute_mode,"
      "refused_alone,refused_time_slicing,refused_mps\n";
  for (const ProbedGpu& gpu : box.gpus) {
    const GpuFacts& facts = gpu.facts;
    text += fmt::format("{},{},{},{},{},{},{},{},{}", facts.index, csv_text(facts.name),
                        csv_text(facts.uuid), csv_number(facts.memory_mib),
                        csv_number(gpu.now.memory_used_mib), csv_number(gpu.now.util_pct),
                        csv_number(gpu.now.temperature_c),
                        facts.mig ? (*facts.mig ? "1" : "0") : "", mode_or(facts, ""));
    for (const auto& reasons : gpu.refused) {
      text += "," + csv_text(fmt::format("{}", fmt::join(reasons, "; ")));
    }
    text += "\n";
  }
  return text;
}

std::string probe_table(const BoxProbe& box) {
  const auto told = [](const std::string& text) { return text.empty() ? "-" : text; };
  std::vector<std::vector<std::string>> rows{
      {"GPU", "MiB", "used", "util %", "deg C", "processes", "MIG", "compute mode"}};
  std::string uses;
  for (const ProbedGpu& gpu : box.gpus) {
    const GpuFacts& facts = gpu.facts;
    rows.push_back({fmt::format("{} {}", facts.index, facts.name), shown(facts.memory_mib, 0),
                    shown(gpu.now.memory_used_mib, 0), shown(gpu.now.util_pct, 0),
                    shown(gpu.now.temperature_c, 0),
                    gpu.processes ? std::to_string(gpu.processes->size()) : "-",
                    facts.mig ? (*facts.mig ? "on" : "off") : "-", mode_or(facts, "-")});
    for (std::size_t u = 0; u < kGpuUses.size(); ++u) {
      const std::string yes = gpu.processes ? "yes" : "yes, if no other process uses it";
      const auto& why = gpu.refused[u];
      uses += fmt::format("GPU {}, {}: {}\n", facts.index, kGpuUses[u].name,
                          why.empty() ? yes : fmt::format("refused: {}", fmt::join(why, "; ")));
    }
  }
  return fmt::format("driver {}, CUDA up to {}; MPS: {}\n\n{}(-: not reported by the driver)\n\n{}",
                     told(box.driver), told(box.cuda), box.mps, aligned(rows), uses);
}

}  // namespace corun::live
