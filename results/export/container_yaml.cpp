#include "results/export/container_yaml.hpp"

#include <vector>

#include <yaml-cpp/yaml.h>

namespace corun::inline results {

namespace {

void emit_words(YAML::Emitter& out, const char* key, const std::vector<std::string>& words) {
  if (words.empty()) return;
  out << YAML::Key << key << YAML::Value << YAML::BeginSeq;
  for (const std::string& word : words) out << YAML::DoubleQuoted << word;
  out << YAML::EndSeq;
}

}  // namespace

void emit_container(YAML::Emitter& out, const ContainerTable& containers, const std::string& job) {
  const ContainerSpec& spec = container_of(containers, job);
  out << YAML::Key << "image" << YAML::Value << YAML::DoubleQuoted << spec.image;
  emit_words(out, "command", spec.command);
  emit_words(out, "args", spec.args);
}

}  // namespace corun::inline results
