#include "experiments/replay/replay_files.hpp"

#include <filesystem>
#include <map>
#include <system_error>

#include "experiments/base/atomic_file.hpp"
#include "experiments/replay/timeline.hpp"
#include "sim/error.hpp"

namespace corun {

namespace fs = std::filesystem;

void check_replay_files(const Experiment& experiment, const std::optional<std::string>& config,
                        const ReplayFiles& files) {
  const auto same = [](const std::string& path) {
    std::error_code error;
    return fs::weakly_canonical(path, error);
  };
  std::map<fs::path, std::string> taken;
  for (const std::string& file : experiment.input_files()) taken[same(file)] = "an input";
  if (config) taken[same(*config)] = "the configuration";
  const auto claim = [&](const std::string& path, const std::string& place) {
    checked_output_path(path, place);
    const auto [at, fresh] = taken.emplace(same(path), "the output of " + place);
    if (!fresh) {
      throw InputError(place, "'" + path + "' is " + at->second + "; choose another file");
    }
  };
  if (files.output) {
    claim(*files.output, "--output");
    claim(*files.output + ".run.json", "--output");
  }
  if (files.knowledge) claim(*files.knowledge, "--knowledge");
  if (!files.timeline) return;
  std::error_code error;
  fs::create_directories(*files.timeline, error);
  if (error)
    throw InputError("--timeline", "cannot make '" + *files.timeline + "': " + error.message());
  for (const std::string& file : timeline_files(experiment, *files.timeline))
    claim(file, "--timeline");
}

}  // namespace corun
