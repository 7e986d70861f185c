#include "results/export/volcano_manifest.hpp"

#include <set>
#include <stdexcept>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "results/export/argo_manifest.hpp"
#include "results/export/container_yaml.hpp"
#include "sim/base/text.hpp"

namespace corun::inline results {

namespace {

constexpr const char* kNodeLabel = "corun/node";
constexpr const char* kGpuMemory = "volcano.sh/gpu-memory";

void emit_job(YAML::Emitter& out, const PlacedJob& job, const std::string& name,
              const ContainerTable& containers) {
  using namespace YAML;
  out << BeginDoc << BeginMap;
  out << Key << "apiVersion" << Value << "batch/v1" << Key << "kind" << Value << "Job";
  out << Key << "metadata" << Value << BeginMap;
  out << Key << "name" << Value << DoubleQuoted << name;
  out << Key << "annotations" << Value << BeginMap;
  out << Key << "corun/job" << Value << DoubleQuoted << printable(job.name, 1000);
  out << EndMap << EndMap;
  out << Key << "spec" << Value << BeginMap;
  out << Key << "backoffLimit" << Value << 0;
  out << Key << "template" << Value << BeginMap << Key << "spec" << Value << BeginMap;
  out << Key << "schedulerName" << Value << "volcano";
  out << Key << "restartPolicy" << Value << "Never";
  out << Key << "nodeSelector" << Value << BeginMap;
  out << Key << kNodeLabel << Value << DoubleQuoted << std::to_string(job.node) << EndMap;
  out << Key << "containers" << Value << BeginSeq << BeginMap;
  out << Key << "name" << Value << DoubleQuoted << name;
  emit_container(out, containers, job.name);
  out << Key << "resources" << Value << BeginMap << Key << "limits" << Value << BeginMap;
  out << Key << kGpuMemory << Value << job.memory_mib;
  out << EndMap << EndMap << EndMap << EndSeq;
  out << EndMap << EndMap << EndMap << EndMap;
}

}  // namespace

std::string volcano_manifest(std::span<const PlacedJob> jobs, const ContainerTable& containers) {
  std::vector<std::string> given;
  for (const PlacedJob& job : jobs) given.push_back(job.name);
  if (std::set<std::string>(given.begin(), given.end()).size() != given.size()) {
    throw std::logic_error("volcano_manifest: a job occurs twice");
  }
  const std::vector<std::string> names = argo_names(given);
  YAML::Emitter out;
  out.SetIndent(2);
  for (std::size_t j = 0; j < jobs.size(); ++j) emit_job(out, jobs[j], names[j], containers);
  return std::string(out.c_str()) + "\n";
}

}  // namespace corun::inline results
