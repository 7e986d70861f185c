#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "predictors/graph/operation.hpp"

/// Tensors of a file that are the same for all samples, and which of them have been counted as weights.
namespace corun::inline predictors::onnx_file {

/// How an operation reads a constant tensor.
enum class Use : std::uint8_t {
  kBuffer,  ///< a mask, a table of positions: it lies in memory
  kAddition,  ///< weights if it is an initialiser of two elements or more, or a constant of more than kMostValues
  kWeight,  ///< weights wherever they come from
};

struct Constant {
  std::vector<std::size_t> made_of;  ///< other constants
  std::vector<std::size_t> beside;   ///< others that are no weights: scales of quantised ones
  std::int64_t elements = 0;
  int type = 0;         ///< ElementType
  bool listed = false;  ///< an initialiser
  bool given = false;   ///< the tensor of a Constant
};

struct Weights {
  std::int64_t learnt = 0;  ///< numbers of floating-point tensors
  int tensors = 0;          ///< of these
  double learnt_bytes = 0;
  std::int64_t frozen =
      0;  ///< numbers of quantised tensors: those of at most 32 bits that are read as weights
  double frozen_bytes = 0;  ///< of these and of buffers of more than kMostValues elements

  void add(const Weights& more);
  /// Sets the operation's counts.
  void count_for(Operation& operation) const;
};

class ConstantList {
 public:
  std::size_t add(Constant constant);

  /// What lies in memory of `from` and of what it was made of, and was not counted before. A tensor of more than
  /// kMostValues elements that was made of no more, such as a filling, lies there itself; others were computed
  /// from tensors of the file, and these do.
  Weights claim(std::size_t from, Use use);

  /// Claims after mark() are undone by roll_back(), which returns them for repeat().
  struct Change {
    std::size_t constant = 0;
    int walked = 0;
    bool counted = false;
  };
  std::size_t mark() const { return changes_.size(); }
  std::vector<Change> roll_back(std::size_t mark);
  void repeat(const std::vector<Change>& changes);

 private:
  struct Entry {
    Constant constant;
    double stored = 0;  ///< elements of the tensors of the file that it was made of
    int walked = 0;     ///< 1 + the most of the uses for which it was looked at
    bool counted = false;
  };
  void change(std::size_t index, int walked, bool counted);

  std::vector<Entry> entries_;
  std::vector<Change> changes_;  ///< what each entry was before
};

}  // namespace corun::inline predictors::onnx_file
