#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/interference/catalog.hpp"
#include "support/output_file.hpp"
#include "traces/workload_names.hpp"

/// A fitted interference model as a file: a line of text,
///
///   corun speed model, version 7, bytes 1234567, sha256 0f3c...
///
/// followed by that many bytes of CBOR (RFC 8949) with that SHA-256: a map of exactly these keys,
///
///   about        what the model was fitted to, one line
///   model        name in the catalogue
///   features     [{name, scale: linear or log}]
///   workloads    the jobs it has seen, each as the first 16 hexadecimal digits of the SHA-256 of its
///                name; "" for a job without one
///   sharing      how processes shared the GPU: unknown, time-slicing, mps or separate
///   gpu          GPU type; "" if it is not known or there are several
///   machine      its bandwidth [GB/s] and FP32 peak [TFLOP/s], 0 if not known; mean and deviation of -log(speed)
///   co_runners   pooling, idle and scatter of the rule of each sharing mode (co_runner_rule.hpp)
///   saturations  the five numbers of each workload (saturation.hpp), NaN where they are not known; empty: of none
///   saturated_gpu  GPU type on which these were measured, by MPS; "" if it is not known
///   effort       of the fit, below 1 (models/interference/fits/effort.hpp); there is no such key if it is 1
///   state        InterferenceModel::save(), each model its own: lists of numbers are byte strings,
///                little-endian (model_state.hpp)
///
/// Files of another version are refused: fit the model again.
///
/// A model that was read predicts the same bits on any machine. The file does not contain the names
/// of workloads, but a guessed name can be confirmed by its digest.
namespace corun::inline knowledge {

struct ModelFile {
  std::string name;  ///< in the catalogue
  std::shared_ptr<const InterferenceModel> model;
  std::vector<std::string> workloads;  ///< digests, one per entry of `model->workloads()`
  std::string about;
};

inline constexpr int kModelVersion = 7;

/// The first 16 hexadecimal digits of the SHA-256 of a workload's name; "" for none.
std::string workload_digest(std::string_view name);
/// The digests of all jobs of a model that was fitted with keys of `keys`, in the order of
/// model.workloads().
std::vector<std::string> workload_digests(const InterferenceModel& model, const WorkloadKeys& keys);

/// Whether the file begins as a model file does, whole or damaged; false if it cannot be read. The path `prefitted`
/// stands for the model that comes with corun, here and in read_model_file().
bool has_model_header(const std::string& path);

/// Throws InputError "FILE: ..." for a file of another form: another kind or version, a truncated
/// or damaged file, inconsistent sizes, impossible numbers. Workloads among `names` (those of the
/// table to predict) get their keys from `keys`. The others stay kUnknownWorkload because no
/// prediction asks for them.
ModelFile read_model_file(const std::string& path, WorkloadKeys& keys,
                          std::span<const std::string> names);
/// The same from a file's bytes, called `place` in messages.
ModelFile parse_model(std::string_view bytes, const std::string& place, WorkloadKeys& keys,
                      std::span<const std::string> names);

/// Throws std::logic_error if `file.workloads` and the model differ in their number of jobs.
std::string model_bytes(const ModelFile& file);

/// Writes the file atomically, after a check that its bytes can be read back; `place` is the flag
/// that named the path, for errors. A file that exists stays or not as output_file.hpp says. InputError as
/// write_outputs(), for the path `prefitted`, and if the check fails.
void write_model_file(const std::string& path, const ModelFile& file, const std::string& place,
                      Existing existing = Existing::kReplace);

}  // namespace corun::inline knowledge
