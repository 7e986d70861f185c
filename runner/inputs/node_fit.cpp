#include "runner/inputs/node_fit.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace corun::inline runner {

namespace {

/// A request of 0 fits anywhere.
bool within(std::int64_t asked, std::int64_t have) { return asked == 0 || asked <= have; }

std::string too_much(std::int64_t asked, const char* unit, std::int64_t have) {
  return fmt::format("asks for {} {}, a node has {}", asked, unit, have);
}

}  // namespace

NodeFit::NodeFit(const ClusterSpec& cluster) : models_(cluster.models()) {
  std::set<Shape, std::greater<>> shapes;
  auto& [gpus, cpu, memory, model] = most_;
  for (const NodeSpec& node : cluster.nodes) {
    const auto bit = std::uint32_t{1}
                     << (std::ranges::find(models_, node.gpu.name) - models_.begin());
    shapes.emplace(node.gpus, node.cpu_milli, node.memory_mib, bit);
    gpus = std::max(gpus, node.gpus);
    cpu = std::max(cpu, node.cpu_milli);
    memory = std::max(memory, node.memory_mib);
  }
  shapes_.assign(shapes.begin(), shapes.end());
}

std::optional<NodeLack> NodeFit::lack_of(const JobSpec& job) const {
  const ResourceRequest& asked = job.request;
  const std::uint32_t wanted = job.gpu_models;
  const bool fits = std::ranges::any_of(shapes_, [&](const Shape& shape) {
    const auto& [gpus, cpu, memory, model] = shape;
    return job.gpus <= gpus && within(asked.cpu_milli, cpu) && within(asked.memory_mib, memory) &&
           (wanted == 0 || (wanted & model) != 0);
  });
  if (fits) return std::nullopt;
  const auto& [gpus, cpu, memory, model] = most_;
  if (job.gpus > gpus) return NodeLack{too_much(job.gpus, "GPUs", gpus), "gpus_per_node"};
  if (!within(asked.cpu_milli, cpu)) {
    return NodeLack{too_much(asked.cpu_milli, "cpu_milli", cpu), "cpu_milli_per_node"};
  }
  if (!within(asked.memory_mib, memory)) {
    return NodeLack{too_much(asked.memory_mib, "MiB of main memory", memory),
                    "memory_mib_per_node"};
  }
  std::string names;
  for (std::size_t m = 0; m < models_.size(); ++m) {
    if ((wanted >> m & 1U) != 0) names += (names.empty() ? " of " : " or ") + models_[m];
  }
  return NodeLack{
      fmt::format("asks for {} GPUs{}, {} cpu_milli and {} MiB of main memory, which no "
                  "node has together",
                  job.gpus, printable(names), asked.cpu_milli, asked.memory_mib),
      ""};
}

bool NodeFit::is_too_wide(const JobSpec& job) const {
  return std::ranges::none_of(shapes_, [&](const Shape& shape) {
    const auto& [gpus, cpu, memory, model] = shape;
    return job.gpus <= gpus && (job.gpu_models == 0 || (job.gpu_models & model) != 0);
  });
}

}  // namespace corun::inline runner
