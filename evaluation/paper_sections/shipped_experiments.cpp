#include "evaluation/paper_sections/shipped_experiments.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "sim/error.hpp"

namespace corun::inline evaluation {

namespace {

/// The first sentence of the comment that opens a file, on one line.
std::string first_sentence(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text;
  for (std::string line; std::getline(file, line) && line.starts_with('#');) {
    line.erase(0, line.find_first_not_of("# "));
    if (line.empty()) break;
    text += (text.empty() ? "" : " ") + line;
    const auto end = text.find(". ");
    if (end != std::string::npos) return text.substr(0, end + 1);
    if (text.back() == '.') break;
  }
  return text;
}

/// Whether a configuration is one of `corun live`, which `corun replay` refuses.
bool is_live(const std::filesystem::path& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("live:") || line.starts_with("workloads:")) return true;
  }
  return false;
}

}  // namespace

std::vector<ShippedExperiment> shipped_experiments() {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path root = "experiments";
  if (!fs::is_directory(root, error)) {
    root = fs::read_symlink("/proc/self/exe", error).parent_path() / "../../experiments";
    root = root.lexically_normal();
  }
  std::vector<ShippedExperiment> all;
  for (auto at = fs::recursive_directory_iterator(root, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->path().extension() != ".yaml") continue;
    all.push_back({at->path().string(),
                   (is_live(at->path()) ? "[corun live run] " : "") + first_sentence(at->path())});
  }
  std::ranges::sort(all, {}, &ShippedExperiment::path);
  if (all.empty()) {
    throw InputError("corun list experiments",
                     "none found in experiments/; run it in the checkout");
  }
  return all;
}

}  // namespace corun::inline evaluation
