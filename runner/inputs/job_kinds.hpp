#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/interference/interference_model.hpp"
#include "traces/tables/measurements.hpp"
#include "traces/trace.hpp"
#include "traces/workload_names.hpp"

/// The jobs of a file as kinds: jobs of one workload are copies, and a model knows them by its name.
///
/// The file is a job trace (job_csv.hpp), a table of profiles (profile_csv.hpp), such as solo.csv of live mode, or a
/// table of pairs (measurements.hpp), of which only the jobs count. A job without a workload is named by itself.
namespace corun::inline runner {

struct JobKinds {
  std::string source;               ///< the file's name in messages
  std::vector<std::string> names;   ///< of kinds, all different, in order of appearance
  std::vector<WorkloadKey> keys;    ///< of kinds
  std::vector<std::uint32_t> jobs;  ///< kind of each job
  std::vector<std::string> notes;   ///< of jobs left out, for the user
  Measurements table;               ///< if the file is a table of pairs; else without jobs
  Trace trace;                      ///< if it is not: one job per kind
};

/// Jobs of several GPUs are left out: they share none here. InputError as the readers, and for another kind of file.
JobKinds read_job_kinds(const std::string& path, WorkloadKeys& keys);

/// The features `wanted` of each kind, in that order, kinds x features; NaN: unknown. InputError, naming the file, if
/// it can have none of them: it is of another form than the table that the model was fitted on.
std::vector<double> kind_features(const JobKinds& kinds,
                                  const std::vector<SpeedTable::Feature>& wanted);

}  // namespace corun::inline runner
