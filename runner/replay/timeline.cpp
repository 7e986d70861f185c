#include "runner/replay/timeline.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

namespace corun::inline runner {

namespace fs = std::filesystem;

namespace {

/// A label as a file name: characters that are unsafe in a path become '_'.
std::string file_name(std::string label) {
  for (char& c : label) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("-_.#=").find(c) != std::string_view::npos;
    if (!plain) c = '_';
  }
  return label;
}

}  // namespace

std::vector<std::string> timeline_files(const Experiment& experiment,
                                        const std::string& directory) {
  std::vector<std::string> files;
  for (const PolicyInstance& policy : experiment.policies()) {
    const std::string stem = (fs::path(directory) / file_name(policy.label)).string();
    std::string file = stem + ".csv";
    for (int n = 2; std::find(files.begin(), files.end(), file) != files.end(); ++n) {
      file = stem + "-" + std::to_string(n) + ".csv";
    }
    files.push_back(file);
  }
  return files;
}

std::vector<OutputText> timeline_texts(const Experiment& experiment, const std::string& directory) {
  const std::vector<std::string> files = timeline_files(experiment, directory);
  const std::shared_ptr<const Trace> shared_trace = experiment.make_trace(0);
  const Trace& trace = *shared_trace;
  std::vector<OutputText> texts;
  for (std::size_t p = 0; p < files.size(); ++p) {
    EventLog log;
    RunObservation observation;
    observation.log = &log;
    experiment.run_policy(trace, 0, experiment.policies()[p], observation);
    std::ostringstream text;
    write_event_log(text, log, [&](JobId j) { return trace.jobs[index(j)].name; });
    texts.push_back({"--timeline", files[p], std::move(text).str()});
  }
  return texts;
}

}  // namespace corun::inline runner
