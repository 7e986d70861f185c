#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/profile.hpp"

/// Tables of solo profiles: what a profiler saw of jobs that ran alone, and, held apart from it, what
/// those jobs were.
namespace corun {

/// What a profile was taken of. Sensitive (PriRecT section I): it serves synthetic generation and
/// evaluation only. Nothing that clusters, believes or schedules takes this type.
struct WorkloadOrigin {
  std::string model;  ///< empty when not known
  std::string dataset;
  std::optional<double> epochs;
  std::optional<double> batch_size;
};

/// One row per job. `jobs`, `profiles` and `origins` are of one length.
struct ProfileTable {
  std::vector<std::string> jobs;  ///< how the output calls them; all different
  std::vector<Profile> profiles;
  std::vector<WorkloadOrigin> origins;
  std::vector<std::string> attributes;  ///< the numeric columns, the profile's included, file order
  std::vector<double> values;           ///< jobs x attributes, row-major; NaN where a field is empty
  std::string source;                   ///< the file, as messages call it
};

/// Reads corun's own table of profiles or the Futurewei mini-ML Workload Dataset (PriRecT Table I),
/// told apart by their headers. Throws InputError "FILE:LINE:COLUMN: ...".
ProfileTable read_profile_csv(const std::string& path);
/// The same from a stream, called `name` in messages.
ProfileTable read_profile_csv(std::istream& in, const std::string& name);

}  // namespace corun
