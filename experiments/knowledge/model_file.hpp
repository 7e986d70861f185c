#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/interference/catalog.hpp"
#include "traces/workload_names.hpp"

/// A fitted interference model as a file, so that learning is done once. Version 3 is a line of text,
///
///   corun speed model, version 3, bytes 1234567, sha256 0f3c...
///
/// and so many bytes of CBOR (RFC 8949), of which that is the SHA-256: a map of exactly these keys,
///
///   about        what it was learnt from, one line
///   model        its name in the catalogue
///   features     [{name, scale: linear or log}]
///   workloads    the jobs it has seen, each as the first 16 hexadecimal digits of the SHA-256 of its
///                name; "" for a job without one
///   state        InterferenceModel::save(), each model its own: lists of numbers are byte strings,
///                little-endian (model_state.hpp)
///
/// Version 2 lacked `strength` in the samples of `factors`. Files of another version are refused: a model is
/// fitted again.
///
/// A model read predicts the same bits on any machine. What the workloads are called cannot be read off
/// the file; whoever guesses a name can confirm it.
namespace corun {

struct ModelFile {
  std::string name;  ///< in the catalogue
  std::shared_ptr<const InterferenceModel> model;
  std::vector<std::string> workloads;  ///< digests, one per job of `model->workloads()`
  std::string about;
};

inline constexpr int kModelVersion = 3;

/// The first 16 hexadecimal digits of the SHA-256 of a workload's name; "" for none.
std::string workload_digest(std::string_view name);
/// Those of all jobs of a model that was fitted with keys of `keys`.
std::vector<std::string> workload_digests(const InterferenceModel& model, const WorkloadKeys& keys);

/// Throws InputError "FILE: ..." for anything that is not as above: another kind, another version, a
/// file cut short or damaged, sizes that do not fit each other, numbers that are not possible.
/// Workloads that are among `names`, those of the table to predict, get their keys from `keys`; the
/// others stay kUnknownWorkload: the model has learnt from them, but nobody asks for them.
ModelFile read_model_file(const std::string& path, WorkloadKeys& keys,
                          std::span<const std::string> names);
/// The same from a file's bytes, called `place` in messages.
ModelFile parse_model(std::string_view bytes, const std::string& place, WorkloadKeys& keys,
                      std::span<const std::string> names);

std::string model_bytes(const ModelFile& file);

/// Writes it whole or not at all; `place` is the flag that named the path, for errors. Nothing that
/// could not be read back takes the place of a good file.
void write_model_file(const std::string& path, const ModelFile& file, const std::string& place);

}  // namespace corun
