#pragma once

#include <iosfwd>
#include <string>
#include <vector>

/// Tables of measured times of batches of requests. Two forms, recognised by their headers:
///
///   corun's own, one row per model, GPU type, slice, processes and batch size:
///     model, batch_size, latency_ms
///                  required; latency_ms: the mean time of a whole batch alone on its GPU or slice
///     gpu_type     "" if absent
///     slice        "" (the whole GPU) if absent; such as 2g.20gb or 2g
///     processes    equal ones that share the slice, each with a batch of its own at a time; 1 if absent
///     phase        rows of another one than "inference" are left out
///     sequence_tokens, latency_sd_ms, samples_per_s
///                  read and part of what a row is (sequence_tokens), or ignored
///   The form of MIGProfiler's measurements has mig_profile for slice, that of ParvaGPU's has mig_slices (2 is the slice
///   2g) and requests_per_s_per_process. ParvaGPU publishes latencies in steps of 1 ms, so the time is batch_size /
///   requests_per_s_per_process there.
namespace corun::inline traces {

struct MeasuredServiceTime {
  std::string model;
  std::string gpu_type;
  std::string slice;  ///< "": the whole GPU
  int processes = 1;
  int sequence_tokens = 0;  ///< 0: not stated
  int batch = 1;            ///< requests
  double mean_s = 0;        ///< [s] of a whole batch
  std::string place;        ///< FILE:LINE:COLUMN of the row's model
};

/// In the file's order. InputError "FILE:LINE:COLUMN: ..." for a missing column, a value out of range, a second row of
/// the same measurement, and a file without rows.
std::vector<MeasuredServiceTime> read_service_times(const std::string& path);
/// The same from a stream; `name` stands for the file in messages.
std::vector<MeasuredServiceTime> read_service_times(std::istream& in, const std::string& name);

/// Which rows of a table are meant; an empty text means any.
struct ServiceTimeChoice {
  std::string model;
  std::string gpu_type;
  std::string slice;
  int processes = 1;
  int sequence_tokens = 0;  ///< 0: any
};

/// The rows of the choice, ascending by batch size. InputError if there is none, naming what the table has, and if two
/// have the same batch size, naming how they differ.
std::vector<MeasuredServiceTime> chosen_times(const std::vector<MeasuredServiceTime>& table,
                                              const ServiceTimeChoice& choice);

}  // namespace corun::inline traces
