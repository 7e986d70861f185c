#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Operations of deep-learning models: what a computation graph is made of.
namespace corun::inline predictors {

/// Sizes of a tensor, outermost first. The first one is the number of samples or a multiple of it.
using Shape = std::vector<std::int64_t>;

/// Number of elements; 1 for a scalar. std::invalid_argument for a size below 1, and for more than 2^42
/// elements: 16 TiB of single precision, so that sums over a graph are exact.
std::int64_t elements_of(const Shape& shape);

/// "2 x 3 x 224 x 224", for messages.
std::string text_of(const Shape& shape);

enum class OperationKind : std::uint8_t {
  kInput,
  kConvolution,
  kLinear,         ///< a matrix product with weights
  kMatrixProduct,  ///< of two activations
  kNormalisation,
  kActivation,  ///< a function of each element: ReLU, GELU, sigmoid, ...
  kSoftmax,
  kPooling,
  kElementwise,  ///< add, multiply, ... of whole tensors
  kConcatenation,
  kDropout,
  kEmbedding,
  kRecurrent,  ///< an LSTM, GRU or RNN layer
  kReduction,
  kCopy,  ///< moves elements: transpose, slice, gather, pad, resize
  kView,  ///< another shape of the same memory: no kernel
  kLoss,
  kUnknown,  ///< of an imported model; it counts as a copy without multiply-adds
};
inline constexpr int kOperationKinds = 18;

/// "convolution", "linear", ...
const char* name_of(OperationKind kind);

/// What training keeps of an operation until its backward pass, as PyTorch does. A tensor kept by several
/// operations is kept once.
struct Kept {
  bool inputs = false;
  bool output = false;
  int bytes_per_output =
      0;  ///< a mask (1) or indices (8) of its own, for each element of the output
};

/// Of the numbers that an operation multiplies: which of a GPU's peaks bounds it.
enum class Precision : std::uint8_t { kSingle, kHalf, kBfloat16, kDouble };
inline constexpr int kPrecisions = 4;

/// "float32", "float16", ...
const char* name_of(Precision precision);

struct Operation {
  std::string name;  ///< of the layer, as in the model's source
  OperationKind kind = OperationKind::kUnknown;
  Shape output;
  double bytes_per_element = 4;  ///< of the output; packed numbers take less than one
  std::int64_t parameters = 0;   ///< learnt numbers
  int parameter_tensors = 0;  ///< lists in which they lie; an optimiser launches kernels for each
  double bytes_per_parameter = 4;      ///< mean over these lists
  std::int64_t frozen_parameters = 0;  ///< weights that training leaves as they are: quantised ones
  double frozen_bytes = 0;   ///< of these, and of other tensors that lie in memory with the weights
  double multiply_adds = 0;  ///< forward, for all samples of the graph
  Precision precision = Precision::kSingle;
  double repeats = 1;  ///< how often a step runs it: trips of a loop; all other counts are for one
  /// Multiply-adds per element of the output: the length of the inner product; 0 without.
  double inner_length = 0;
  std::int64_t groups = 1;  ///< of channels, of a convolution
  std::int64_t window = 1;  ///< elements of a convolution's kernel, per channel
  bool strided = false;     ///< a convolution that moves by more than one element
  bool in_place = false;    ///< writes its output over its first input
  Kept kept;
  int forward_kernels = 1;  ///< GPU kernels launched
  int backward_kernels = 1;
  std::string type;  ///< of an unknown operation: its name in the file
};

/// Bytes of the numbers that training learns.
double learnt_bytes(const Operation& operation);
/// Bytes of all weights.
double weight_bytes(const Operation& operation);

}  // namespace corun::inline predictors
