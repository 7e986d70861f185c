#include "results/results_identity.hpp"

#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <system_error>

#include "models/limited_json.hpp"
#include "results/hdf5_table.hpp"
#include "support/json.hpp"

namespace corun::inline results {

namespace fs = std::filesystem;

using namespace hdf5;

namespace {

/// Larger than the facts of any run.
constexpr std::size_t kRunFileBytesMax = std::size_t{1} << 24U;

}  // namespace

std::optional<ResultsIdentity> identity_of_results(const std::string& path) {
  if (!is_filled(path)) return std::nullopt;
  const std::lock_guard lock(hdf5_mutex());
  silence_hdf5();
  try {
    const Handle file = open_file(path);
    const Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, "open the root");
    ResultsIdentity identity;
    identity.kind = read_text_attribute(root, "kind");
    identity.corun_version = read_text_attribute(root, "corun_version");
    identity.commit = read_text_attribute(root, "commit");
    identity.config = read_text_attribute(root, "config");
    identity.inputs = read_texts_attribute(root, "inputs");
    if (H5Aexists(root, "measured_on") > 0) {
      identity.measured_on = read_text_attribute(root, "measured_on");
    }
    identity.complete = read_integer_attribute(root, "complete") == 1;
    return identity;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

void check_run_file(const std::string& path, const std::string& place, Existing existing) {
  const std::string run_file = path + ".run.json";
  if (existing == Existing::kReplace || !is_filled(run_file)) return;
  std::ifstream in(run_file, std::ios::binary);
  std::string text(kRunFileBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  Json json;
  if (text.size() <= kRunFileBytesMax) {
    json = parse_limited_json<Json>(text, {16, text.size()}).value_or(Json());
  }
  const std::string kind = json.is_object() && json.contains("kind") && json["kind"].is_string()
                               ? json["kind"].get<std::string>()
                               : "";
  if (kind == "corun run" || kind == "corun sweep run") return;
  refuse_existing(run_file, place, "holds something else than facts of a run");
}

void check_replaceable(const std::string& path, const ResultsHeader& header,
                       const std::string& place, Existing existing) {
  if (existing == Existing::kReplace) return;
  check_run_file(path, place, existing);
  if (!is_filled(path)) return;
  const auto there = identity_of_results(path);
  if (!there)
    refuse_existing(path, place, "holds something else than results of corun, or damaged ones,");
  if (there->kind != "corun results" || there->measured_on != header.measured_on) {
    refuse_existing(path, place,
                    there->measured_on.empty()
                        ? "holds results of another command (" + there->kind + ")"
                        : "holds measurements of " + there->measured_on);
  }
  if (there->config != header.config) {
    refuse_existing(path, place, "holds results of another configuration");
  }
  if (there->inputs != header.inputs) {
    refuse_existing(path, place, "holds results of other inputs");
  }
}

std::string interrupted_name(const std::string& path) {
  const fs::path whole(path);
  const std::string stem = (whole.parent_path() / whole.stem()).string() + ".interrupted";
  const std::string suffix = whole.extension().string();
  std::string name = stem + suffix;
  std::error_code error;
  for (int n = 2; fs::exists(name, error); ++n) name = stem + "-" + std::to_string(n) + suffix;
  return name;
}

}  // namespace corun::inline results
