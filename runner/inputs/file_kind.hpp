#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

/// The kinds of files that corun reads, recognised by their first bytes, for errors about a file that was given
/// in the place of another.
namespace corun::inline runner {

enum class FileKind : std::uint8_t {
  kConfiguration,
  kSweep,          ///< a configuration with a section `sweep`
  kJobs,           ///< a job trace in a format of `corun list traces`
  kPairs,          ///< a table of measured pairs (measurements.hpp)
  kGroups,         ///< a table of groups of jobs (group_table.hpp)
  kRates,          ///< Gavel's rates (gavel_throughputs.hpp)
  kSoloTimes,      ///< a table of solo times by GPU type (solo_table.hpp)
  kProfiles,       ///< a table of profiles in corun's own form (profile_csv.hpp)
  kKnowledgeBase,  ///< knowledge_file.hpp
  kModel,          ///< a fitted model (knowledge/model_file.hpp)
  kNvidiaSmi,      ///< samples of nvidia-smi --query-gpu
  kHdf5,           ///< results of corun replay or sweep
  kUnknown,  ///< none of these; also a file that cannot be read, is empty, or is no regular file
};

struct FoundKind {
  FileKind kind = FileKind::kUnknown;
  std::string_view format = {};  ///< of kJobs: its name in `corun list traces`
};

FoundKind kind_of_file(const std::string& path);

/// Throws InputError that begins with the path and names the right command if the file is of a known kind that
/// is none of `expected`. `what` names what was expected: "a table of measured co-runs".
void check_kind(const std::string& path, std::initializer_list<FileKind> expected,
                std::string_view what);

/// check_kind() for a table of profiles: of these kinds only nvidia-smi's samples are mistaken for one.
void refuse_gpu_samples(const std::string& path);

}  // namespace corun::inline runner
