#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <onnx/onnx_pb.h>

#include "predictors/graph/operation.hpp"

/// Builds ONNX files piece by piece with the messages of the format itself.
namespace corun::test::onnx_files {

using Numbers = std::vector<std::int64_t>;
using Setting = std::pair<std::string, std::variant<std::int64_t, double, std::string, Numbers>>;
using Names = std::vector<std::string>;

class FileBuilder {
 public:
  explicit FileBuilder(std::int64_t operator_set = 17) {
    model_.set_ir_version(8);
    auto* set = model_.add_opset_import();
    set->set_domain("");
    set->set_version(operator_set);
    model_.mutable_graph()->set_name("test");
  }

  onnx::ModelProto& model() { return model_; }
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  std::string bytes() const { return model_.SerializeAsString(); }

  FileBuilder& input(const std::string& name, const Shape& shape,
                     int type = onnx::TensorProto::FLOAT) {
    state(*graph().add_input(), name, shape, type);
    return *this;
  }
  /// Without a shape, the file says nothing of it.
  FileBuilder& output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }
  FileBuilder& output(const std::string& name, const Shape& shape) {
    state(*graph().add_output(), name, shape, onnx::TensorProto::FLOAT);
    return *this;
  }
  FileBuilder& value_info(const std::string& name, const Shape& shape) {
    state(*graph().add_value_info(), name, shape, onnx::TensorProto::FLOAT);
    return *this;
  }
  /// The dimension gets a name in place of a number.
  FileBuilder& open(int input, int dimension, const std::string& symbol) {
    graph()
        .mutable_input(input)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(dimension)
        ->set_dim_param(symbol);
    return *this;
  }

  /// Zeros in single precision.
  FileBuilder& weight(const std::string& name, const Shape& shape) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    for (const std::int64_t size : shape) tensor->add_dims(size);
    tensor->set_raw_data(
        std::string(static_cast<std::size_t>(4 * (shape.empty() ? 1 : elements_of(shape))), '\0'));
    return *this;
  }
  /// The file has no numbers for it, whatever its size.
  FileBuilder& weight_of_type(const std::string& name, const Shape& shape, int type) {
    describe(*graph().add_initializer(), shape, type)->set_name(name);
    return *this;
  }
  static onnx::TensorProto* describe(onnx::TensorProto& tensor, const Shape& shape, int type) {
    tensor.set_data_type(type);
    for (const std::int64_t size : shape) tensor.add_dims(size);
    return &tensor;
  }
  FileBuilder& truth(const std::string& name, bool value) {
    describe(*graph().add_initializer(), {}, onnx::TensorProto::BOOL)->set_name(name);
    graph().mutable_initializer(graph().initializer_size() - 1)->add_int32_data(value ? 1 : 0);
    return *this;
  }
  FileBuilder& numbers(const std::string& name, const Numbers& values, bool scalar = false) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::INT64);
    if (!scalar) tensor->add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) tensor->add_int64_data(value);
    return *this;
  }
  FileBuilder& reals(const std::string& name, const std::vector<float>& values) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    tensor->add_dims(static_cast<std::int64_t>(values.size()));
    for (const float value : values) tensor->add_float_data(value);
    return *this;
  }

  onnx::NodeProto& node(const std::string& operation, const Names& inputs, const Names& outputs,
                        const std::vector<Setting>& settings = {}) {
    auto* node = graph().add_node();
    node->set_op_type(operation);
    for (const std::string& name : inputs) node->add_input(name);
    for (const std::string& name : outputs) node->add_output(name);
    for (const Setting& setting : settings) add(*node, setting);
    return *node;
  }

  /// The graph of another file as the body of a control-flow operator.
  static void add_body(onnx::NodeProto& node, const std::string& attribute, FileBuilder& body) {
    auto* added = node.add_attribute();
    added->set_name(attribute);
    added->set_type(onnx::AttributeProto::GRAPH);
    *added->mutable_g() = body.graph();
  }
  /// The nodes of another file as a function of domain "own".
  FileBuilder& function(const std::string& name, const Names& inputs, const Names& outputs,
                        FileBuilder& body) {
    auto* added = model_.add_functions();
    added->set_domain("own");
    added->set_name(name);
    for (const std::string& input : inputs) added->add_input(input);
    for (const std::string& output : outputs) added->add_output(output);
    *added->mutable_node() = body.graph().node();
    return *this;
  }
  onnx::NodeProto& call(const std::string& name, const Names& inputs, const Names& outputs,
                        const std::vector<Setting>& settings = {}) {
    auto& added = node(name, inputs, outputs, settings);
    added.set_domain("own");
    return added;
  }

  static void add(onnx::NodeProto& node, const Setting& setting) {
    auto* attribute = node.add_attribute();
    attribute->set_name(setting.first);
    if (const auto* i = std::get_if<std::int64_t>(&setting.second)) {
      attribute->set_type(onnx::AttributeProto::INT);
      attribute->set_i(*i);
    } else if (const auto* f = std::get_if<double>(&setting.second)) {
      attribute->set_type(onnx::AttributeProto::FLOAT);
      attribute->set_f(static_cast<float>(*f));
    } else if (const auto* s = std::get_if<std::string>(&setting.second)) {
      attribute->set_type(onnx::AttributeProto::STRING);
      attribute->set_s(*s);
    } else {
      attribute->set_type(onnx::AttributeProto::INTS);
      for (const std::int64_t v : std::get<Numbers>(setting.second)) attribute->add_ints(v);
    }
  }

 private:
  static void state(onnx::ValueInfoProto& info, const std::string& name, const Shape& shape,
                    int type) {
    info.set_name(name);
    auto* tensor = info.mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    auto* dims = tensor->mutable_shape();
    for (const std::int64_t size : shape) dims->add_dim()->set_dim_value(size);
  }

  onnx::ModelProto model_;
};

}  // namespace corun::test::onnx_files
