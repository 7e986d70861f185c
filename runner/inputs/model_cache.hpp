#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "knowledge/model_file.hpp"
#include "models/interference/catalog.hpp"
#include "models/interference/held_out.hpp"
#include "support/recent_values.hpp"
#include "traces/workload_names.hpp"

/// Interference models that several experiments share: the points of a sweep that learn from the same
/// rows fit a model once, and read a model file once. Shared models do not change; a belief that
/// learns copies its model first (models/model_belief.hpp).
namespace corun::inline runner {

/// Thread-safe. The least recently requested models are dropped; a caller's pointer keeps its model
/// alive.
class ModelCache {
 public:
  /// Bounds of the models held. A model's size grows with its rows, so a fit counts its rows and
  /// kLeastWeight.
  static constexpr std::size_t kFitsWeight = 8000;
  static constexpr std::size_t kLeastWeight = 500;
  static constexpr std::size_t kFilesMax = 4;

  explicit ModelCache(unsigned threads = 1) : threads_(static_cast<int>(threads)) {}

  /// Threads that a fit may use for which others wait.
  int threads() const { return threads_; }

  /// The model that entry.fit() gives; it is the same for tables that are equal in every bit, keys of
  /// workloads included, and equal seeds and efforts. std::invalid_argument as entry.fit().
  std::shared_ptr<const InterferenceModel> fit(const InterferenceModelEntry& entry,
                                               const SpeedTable& table, const FitOptions& options);

  /// held_out_error() of the same, once for each.
  std::optional<HeldOutError> held_out(const InterferenceModelEntry& entry, const SpeedTable& table,
                                       const FitOptions& options);

  /// The model file at `path` with the SHA-256 `sha256`. Its workloads get their keys in `keys`;
  /// those that `keys` does not know stay kUnknownWorkload. InputError as read_model_file().
  std::shared_ptr<const ModelFile> file(const std::string& path, const std::string& sha256,
                                        const WorkloadKeys& keys);

  /// Number of fits and of files read, not from the cache.
  std::size_t fits() const { return fits_.made(); }
  std::size_t files_read() const { return files_.made(); }

 private:
  struct FitQuery {
    const InterferenceModelEntry* entry = nullptr;
    std::uint64_t seed = 0;
    double effort = 1;
    SpeedTable table;

    bool operator==(const FitQuery& other) const;
  };
  struct FileQuery {
    std::string sha256;
    std::vector<std::string> names;  ///< texts of the keys 0, 1, ...

    bool operator==(const FileQuery&) const = default;
  };

  int threads_;
  RecentValues<FitQuery, std::shared_ptr<const InterferenceModel>> fits_{kFitsWeight};
  RecentValues<FitQuery, std::optional<HeldOutError>> held_out_{kFitsWeight};
  RecentValues<FileQuery, std::shared_ptr<const ModelFile>> files_{kFilesMax};
};

}  // namespace corun::inline runner
