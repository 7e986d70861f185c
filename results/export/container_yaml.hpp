#pragma once

#include <string>

#include "results/export/container_csv.hpp"

namespace YAML {
class Emitter;
}

namespace corun::inline results {

/// Adds image, command and args of a job to the map of a container. Texts are quoted, so that 1, yes and null stay
/// texts. InputError for a job that the table lacks.
void emit_container(YAML::Emitter& out, const ContainerTable& containers, const std::string& job);

}  // namespace corun::inline results
