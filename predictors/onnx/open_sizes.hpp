#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "predictors/onnx/model_file.hpp"
#include "predictors/onnx/onnx_import.hpp"

/// Sizes of the dimensions that a file leaves open: by a name, by -1, or by 0.
namespace corun::inline predictors::onnx_file {

/// "INPUT.DIMENSION", as "ids.1".
std::string place_name(const std::string& tensor, std::size_t index);

class OpenSizes {
 public:
  /// `read`: the inputs that an output depends on, weights excepted. `zeros_are_open`: else they are tensors without
  /// elements. std::invalid_argument for sizes of dimensions that the file has not, and for two of one dimension.
  OpenSizes(const Graph& graph, const std::vector<const Statement*>& read,
            const OnnxOptions& options, bool zeros_are_open);

  std::int64_t samples() const { return samples_; }
  /// 0: left open.
  std::int64_t samples_in_file() const { return samples_in_file_; }
  /// The dimension that counts the samples: the first one called after batches, else the first of the first input.
  /// Empty if the file has a number for it.
  const std::string& samples_name() const { return samples_name_; }
  /// Whether that is a first dimension called by another name.
  bool samples_by_place() const { return samples_by_place_; }
  bool samples_given() const { return samples_given_; }

  /// Of an input; MissingSize if a size is not known. None if the file states no shape.
  std::optional<Shape> of_input(const Statement& input) const;
  /// What the file says of another tensor's shape, if that is complete.
  std::optional<Shape> of(const Statement& statement) const;
  /// std::invalid_argument for sizes that only outputs and other tensors have, if of() was asked for none of these.
  void refuse_unused() const;

 private:
  bool is_open(const Dimension& dimension) const;
  /// An open dimension called after batches, or the first one where none is.
  bool counts_samples(const Dimension& dimension, std::size_t index) const;
  void find_samples(const std::vector<const Statement*>& read);
  void refuse_unknown(const Graph& graph);
  void bind(const std::vector<const Statement*>& read);
  std::optional<std::int64_t> size_of(const Dimension& dimension, const std::string& tensor,
                                      std::size_t index) const;

  const OnnxOptions& options_;
  bool zeros_are_open_;
  std::int64_t samples_ = 1;
  std::int64_t samples_in_file_ = 0;
  std::string samples_name_;
  bool samples_by_place_ = false;
  bool samples_given_ = false;
  bool called_batch_ = false;
  std::map<std::string, std::int64_t> bound_;  ///< by the dimension's name
  std::set<std::string> of_inputs_;            ///< names of their dimensions
  mutable std::set<std::string> used_;         ///< given sizes that were asked for
};

}  // namespace corun::inline predictors::onnx_file
