#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "predictors/catalog.hpp"
#include "support/output_file.hpp"

/// A fitted predictor as a file: a sealed file (support/sealed_file.hpp) of kind "predictor", version 3, whose
/// content is CBOR (RFC 8949): a map of exactly these keys,
///
///   about    what it was fitted to, one line
///   kind     name in the catalogue
///   target   memory, time or utilisation
///   state    Predictor::save(), each kind its own
///
/// The file names no model, family or host: it has digests of them, by which a guess can be confirmed.
namespace corun::inline predictors {

struct PredictorFile {
  std::string kind;  ///< in the catalogue
  std::shared_ptr<const Predictor> predictor;
  std::string about;
};

/// Whether the file begins as a predictor does, whole or damaged; false if it cannot be read.
bool has_predictor_header(const std::string& path);

/// InputError "FILE: ..." for a file of another kind or version, a truncated or damaged one, and one that
/// contradicts itself.
PredictorFile read_predictor_file(const std::string& path);
/// The same from a file's bytes, called `place` in messages.
PredictorFile parse_predictor(std::string_view bytes, const std::string& place);

std::string predictor_bytes(const PredictorFile& file);

/// Writes the file atomically, after a check that its bytes can be read back; `place` is the flag that named
/// the path, for errors. InputError as write_outputs(), and if the check fails.
void write_predictor_file(const std::string& path, const PredictorFile& file,
                          const std::string& place, Existing existing);

}  // namespace corun::inline predictors
