#include "predictors/onnx/wire.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace corun::inline predictors::onnx_file {

namespace {

/// Bodies of bodies of control-flow operators: a level is three messages.
constexpr int kDeepest = 60;

[[noreturn]] void refuse_damaged() {
  throw std::invalid_argument("the file ends early, is damaged, or is not an ONNX model");
}

std::uint64_t take_number(std::string_view& rest) {
  std::uint64_t number = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest.empty()) refuse_damaged();
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return number;
  }
  refuse_damaged();
}

struct Contents {
  Message parent;
  std::uint32_t number;
  Message child;
};

// The numbers of fields in onnx.proto (ONNX 1.12).
constexpr std::array kContents{
    Contents{Message::kModel, 7, Message::kGraph},
    Contents{Message::kModel, 8, Message::kOther},
    Contents{Message::kModel, 14, Message::kOther},
    Contents{Message::kModel, 20, Message::kTraining},
    Contents{Message::kModel, 25, Message::kFunction},
    Contents{Message::kGraph, 1, Message::kNode},
    Contents{Message::kGraph, 5, Message::kTensor},
    Contents{Message::kGraph, 11, Message::kStatement},
    Contents{Message::kGraph, 12, Message::kStatement},
    Contents{Message::kGraph, 13, Message::kStatement},
    Contents{Message::kGraph, 14, Message::kOther},
    Contents{Message::kGraph, 15, Message::kSparseTensor},
    Contents{Message::kNode, 5, Message::kAttribute},
    Contents{Message::kAttribute, 5, Message::kTensor},
    Contents{Message::kAttribute, 6, Message::kGraph},
    Contents{Message::kAttribute, 10, Message::kTensor},
    Contents{Message::kAttribute, 11, Message::kGraph},
    Contents{Message::kAttribute, 14, Message::kType},
    Contents{Message::kAttribute, 15, Message::kType},
    Contents{Message::kAttribute, 22, Message::kSparseTensor},
    Contents{Message::kAttribute, 23, Message::kSparseTensor},
    Contents{Message::kTensor, 3, Message::kOther},
    Contents{Message::kTensor, 13, Message::kOther},
    Contents{Message::kSparseTensor, 1, Message::kTensor},
    Contents{Message::kSparseTensor, 2, Message::kTensor},
    Contents{Message::kStatement, 2, Message::kType},
    Contents{Message::kType, 1, Message::kTensorType},
    Contents{Message::kType, 4, Message::kTypeOfTypes},
    Contents{Message::kType, 5, Message::kTypeOfTypes},
    Contents{Message::kType, 8, Message::kTensorType},
    Contents{Message::kType, 9, Message::kTypeOfTypes},
    Contents{Message::kTensorType, 2, Message::kShape},
    Contents{Message::kTypeOfTypes, 1, Message::kType},
    Contents{Message::kTypeOfTypes, 2, Message::kType},
    Contents{Message::kShape, 1, Message::kOther},
    Contents{Message::kTraining, 1, Message::kGraph},
    Contents{Message::kTraining, 2, Message::kGraph},
    Contents{Message::kTraining, 3, Message::kOther},
    Contents{Message::kTraining, 4, Message::kOther},
    Contents{Message::kFunction, 7, Message::kNode},
    Contents{Message::kFunction, 9, Message::kOther},
    Contents{Message::kFunction, 11, Message::kAttribute},
};

Message message_in(Message parent, std::uint32_t number) {
  const auto* found = std::find_if(kContents.begin(), kContents.end(), [&](const Contents& c) {
    return c.parent == parent && c.number == number;
  });
  return found == kContents.end() ? Message::kNone : found->child;
}

/// Numbers of a byte or more, which take eight in memory.
bool holds_short_numbers(Message message, std::uint32_t number) {
  return (message == Message::kTensor &&
          (number == 1 || number == 5 || number == 7 || number == 11)) ||
         (message == Message::kAttribute && number == 8);
}

class Outline {
 public:
  explicit Outline(std::size_t most) : most_(most) {}

  void read(std::string_view bytes, Message message, int depth) {
    if (depth > kDeepest) {
      throw std::invalid_argument(
          fmt::format("messages lie in each other, more than {} deep", kDeepest));
    }
    std::string_view rest = bytes;
    while (const std::optional<Field> field = take_field(rest)) {
      if (!field->has_bytes) {
        count(16);
        continue;
      }
      const Message child = message_in(message, field->number);
      if (depth == 1 && message == Message::kGraph && child == Message::kTensor) {
        count(400);
      } else if (child != Message::kNone) {
        count(400);  // an empty message takes some 200 bytes, and our record of it as much again
        read(field->bytes, child, depth + 1);
      } else {
        count(80 + (holds_short_numbers(message, field->number) ? 8 : 2) * field->bytes.size());
      }
    }
  }

  std::size_t memory() const { return memory_; }

 private:
  void count(std::size_t bytes) {
    memory_ += bytes;
    if (memory_ > most_) {
      throw std::invalid_argument(
          fmt::format("the model without its weights needs more than {} MiB", most_ >> 20));
    }
  }

  std::size_t most_;
  std::size_t memory_ = 0;
};

}  // namespace

std::optional<Field> take_field(std::string_view& rest) {
  if (rest.empty()) return std::nullopt;
  const std::string_view from = rest;
  const std::uint64_t tag = take_number(rest);
  Field field;
  field.number = static_cast<std::uint32_t>(tag >> 3);
  if (tag >> 3 == 0 || tag >> 3 >= (std::uint64_t{1} << 29)) refuse_damaged();
  std::uint64_t length = 0;
  switch (tag & 7) {
    case 0:
      take_number(rest);
      break;
    case 1:
      length = 8;
      break;
    case 2:
      length = take_number(rest);
      field.has_bytes = true;
      break;
    case 5:
      length = 4;
      break;
    default:
      refuse_damaged();
  }
  if (length > rest.size()) refuse_damaged();
  field.bytes = rest.substr(0, length);
  rest.remove_prefix(length);
  field.whole = from.substr(0, from.size() - rest.size());
  return field;
}

std::size_t memory_of(std::string_view bytes, std::size_t most) {
  Outline outline(most);
  outline.read(bytes, Message::kModel, 0);
  return outline.memory();
}

}  // namespace corun::inline predictors::onnx_file
