#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// The wire format of protocol buffers (protobuf.dev, "Encoding"): reads a file's outline before its messages
/// are made, so that a small hostile file cannot ask for much memory, and large tensors are not copied.
namespace corun::inline predictors::onnx_file {

/// Messages of ONNX that hold others.
enum class Message : std::uint8_t {
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kStatement,
  kType,
  kTensorType,
  kTypeOfTypes,  ///< sequence, map or optional
  kShape,
  kTraining,
  kFunction,
  kOther,
  kNone,  ///< text or numbers
};

struct Field {
  std::uint32_t number = 0;
  bool has_bytes = false;  ///< else a number
  std::string_view bytes;  ///< the content of a field with bytes
  std::string_view whole;  ///< with its tag
};

/// Takes the first field from `rest`; none at the end. std::invalid_argument if the bytes are no field.
std::optional<Field> take_field(std::string_view& rest);

/// Memory in bytes, about, of the messages that `bytes` decode to. Data of the main graph's initialisers is
/// not counted. std::invalid_argument for bytes that are no message, and if it is more than `most`.
std::size_t memory_of(std::string_view bytes, std::size_t most);

}  // namespace corun::inline predictors::onnx_file
