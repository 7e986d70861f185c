#include "runner/replay/replay_files.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "results/results_identity.hpp"
#include "runner/experiment/experiment_header.hpp"
#include "runner/replay/knowledge_history.hpp"
#include "runner/replay/replay_figure.hpp"
#include "runner/replay/timeline.hpp"
#include "runner/replay/volcano_jobs.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"

namespace corun::inline runner {

namespace fs = std::filesystem;

namespace {

/// Memory per job row of a results file until it is written: record, episode and image [bytes]. Measured with
/// 200,000 rows of fifo and fcfs.
constexpr std::size_t kRowBytes = 640;

void check_rows_fit(const Experiment& experiment) {
  const std::size_t jobs = experiment.make_trace(0)->jobs.size();
  const auto replications = static_cast<std::size_t>(experiment.config().replications);
  const std::size_t policies = experiment.policies().size();
  const auto memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const std::string problem = rows_problem(jobs, policies, replications, memory);
  if (!problem.empty()) throw InputError("--output", problem);
}

std::vector<OutputText> texts_of(const Experiment& experiment, const ReplayFiles& files) {
  std::vector<OutputText> texts;
  if (files.timeline) texts = timeline_texts(experiment, *files.timeline);
  if (files.knowledge) {
    texts.push_back({"--knowledge", *files.knowledge, knowledge_history(experiment)});
  }
  if (files.volcano) {
    texts.push_back({"--volcano", *files.volcano,
                     volcano_jobs(experiment, read_container_csv(files.containers))});
  }
  return texts;
}

MadeDirectory made_for_timeline(const std::string& directory) {
  try {
    return MadeDirectory(directory);
  } catch (const fs::filesystem_error& e) {
    throw InputError("--timeline", "cannot make '" + directory + "': " + e.code().message());
  }
}

/// Files with the events or the knowledge of other runs stay: what would be written is compared.
void check_texts(const Experiment& experiment, const ReplayFiles& files,
                 const std::vector<std::string>& paths) {
  if (files.existing == Existing::kReplace || std::ranges::none_of(paths, is_filled)) return;
  check_outputs(texts_of(experiment, files), files.existing);
}

}  // namespace

std::string rows_problem(std::size_t jobs, std::size_t policies, std::size_t replications,
                         double memory_bytes) {
  const double rows =
      static_cast<double>(jobs) * static_cast<double>(policies) * static_cast<double>(replications);
  const double needed = rows * kRowBytes;
  if (needed <= memory_bytes) return "";
  return fmt::format(
      "{:.0f} rows of jobs ({} jobs x {} policies x {} replications) take about {:.1f} GB of "
      "memory, "
      "this machine has {:.1f} GB; use fewer replications or policies, or leave the option out: "
      "tables "
      "keep no rows",
      rows, jobs, policies, replications, needed / 1e9, memory_bytes / 1e9);
}

MadeDirectory check_replay_files(const Experiment& experiment,
                                 const std::optional<std::string>& config,
                                 const ReplayFiles& files) {
  const auto same = [](const std::string& path) {
    std::error_code error;
    return fs::weakly_canonical(path, error);
  };
  std::map<fs::path, std::string> taken;
  for (const std::string& file : experiment.input_files()) taken[same(file)] = "an input";
  if (config) taken[same(*config)] = "the configuration";
  if (files.volcano) taken[same(files.containers)] = "the input of --containers";
  const auto claim = [&](const std::string& path, const std::string& place) {
    checked_output_path(path, place);
    const auto [at, fresh] = taken.emplace(same(path), "the output of " + place);
    if (!fresh) {
      throw InputError(place, "'" + path + "' is " + at->second + "; choose another file");
    }
  };
  if (files.output) {
    check_rows_fit(experiment);
    check_name(*files.output, "--output", {"hdf5"});
    claim(*files.output, "--output");
    claim(*files.output + ".run.json", "--output");
  }
  std::vector<std::string> texts;
  if (files.knowledge) {
    check_name(*files.knowledge, "--knowledge", {"csv"});
    claim(*files.knowledge, "--knowledge");
    texts.push_back(*files.knowledge);
  }
  if (files.figure) {
    check_name(*files.figure, "--figure", {"svg"});
    claim(*files.figure, "--figure");
    check_figure_replaceable(experiment, *files.figure, files.existing);
  }
  if (files.volcano) {
    check_volcano(experiment, read_container_csv(files.containers));
    check_name(*files.volcano, "--volcano", {"yaml"});
    claim(*files.volcano, "--volcano");
    texts.push_back(*files.volcano);
  }
  if (files.output) {
    check_replaceable(*files.output, results_header(experiment), "--output", files.existing);
  }
  MadeDirectory timeline = files.timeline ? made_for_timeline(*files.timeline) : MadeDirectory();
  if (files.timeline) {
    for (const std::string& file : timeline_files(experiment, *files.timeline)) {
      claim(file, "--timeline");
      texts.push_back(file);
    }
  }
  check_texts(experiment, files, texts);
  return timeline;
}

std::string finish_results(ResultsWriter& writer, const std::string& output,
                           const ReplayResult& result) {
  if (!result.interrupted || !is_filled(output)) {
    writer.finish(result);
    return output;
  }
  std::string beside = interrupted_name(checked_output_path(output, kOutputFlag));
  writer.finish(result, beside);
  return beside;
}

void write_replay_texts(const Experiment& experiment, const ReplayFiles& files) {
  write_outputs(texts_of(experiment, files), files.existing);
}

std::string write_replay_figure(const Experiment& experiment, const ReplayResult& result,
                                const ReplayFiles& files) {
  if (!files.figure) return "";
  std::string path = *files.figure;
  if (result.interrupted && is_filled(path)) {
    path = interrupted_name(checked_output_path(path, "--figure"));
  }
  write_file_atomically(path, replay_figure(experiment, result));
  return path;
}

}  // namespace corun::inline runner
