#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "predictors/onnx/onnx_import.hpp"
#include "tests/predictors/onnx/file_builder.hpp"

/// Dimensions that a file leaves open: by a name, -1 or 0, in any place.
namespace corun::onnx_open_sizes_test {
namespace {

using namespace test::onnx_files;
using Sizes = std::map<std::string, std::int64_t>;

std::string error_of(FileBuilder& file, const Sizes& sizes = {}) {
  OnnxOptions options;
  options.sizes = sizes;
  try {
    import_onnx(file.bytes(), options);
    return "";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

OnnxModel read(FileBuilder& file, const Sizes& sizes = {}) {
  OnnxOptions options;
  options.sizes = sizes;
  return import_onnx(file.bytes(), options);
}

FileBuilder relu_file(const Shape& shape) {
  FileBuilder file;
  file.input("x", shape).output("y").node("Relu", {"x"}, {"y"});
  return file;
}

TEST(OnnxOpenSizes, MinusOneAndZeroAreOpen) {
  for (const std::int64_t mark : {-1, 0}) {
    FileBuilder first = relu_file({mark, 8});
    const OnnxModel model = read(first);
    EXPECT_EQ(model.outputs.at(0).shape, (Shape{1, 8})) << mark;
    EXPECT_EQ(model.samples_in_file, 0);
    EXPECT_EQ(model.samples_name, "x.0");
    FileBuilder second = relu_file({mark, 3, mark, mark});
    EXPECT_EQ(error_of(second), "dimension 2 of input 'x' is open; a size for 'x.2' is needed");
    EXPECT_EQ(error_of(second, {{"x.2", 5}}),
              "dimension 3 of input 'x' is open; a size for 'x.3' is needed");
    EXPECT_EQ(read(second, {{"x.2", 5}, {"x.3", 7}}).outputs.at(0).shape, (Shape{1, 3, 5, 7}));
  }
}

/// What is left of a model whose dimension of 0 is one: the others.
TEST(OnnxOpenSizes, AZeroWithoutASizeMayBeAnEmptyTensor) {
  FileBuilder file;
  file.input("cache", {1, 0, 8}).input("x", {1, 4, 8}).output("y");
  file.node("Concat", {"cache", "x"}, {"y"}, {{"axis", 1}});
  EXPECT_EQ(read(file).outputs.at(0).shape, (Shape{1, 4, 8}));
  EXPECT_EQ(read(file, {{"cache.1", 3}}).outputs.at(0).shape, (Shape{1, 7, 8}));
}

/// O11
TEST(OnnxOpenSizes, ASizeOfZeroIsATensorWithoutElements) {
  FileBuilder file;
  file.input("cache", {1, 1, 8}).open(0, 0, "batch").open(0, 1, "past").output("y");
  file.input("x", {1, 4, 8}).open(1, 0, "batch");
  file.node("Concat", {"cache", "x"}, {"y"}, {{"axis", 1}});
  const OnnxModel model = read(file, {{"past", 0}});
  EXPECT_EQ(model.outputs.at(0).shape, (Shape{1, 4, 8}));
  EXPECT_EQ(model.graph.size(), 2U);
  EXPECT_EQ(read(file, {{"past", 2}}).outputs.at(0).shape, (Shape{1, 6, 8}));
}

/// O10
TEST(OnnxOpenSizes, TheDimensionCalledBatchCountsTheSamples) {
  FileBuilder file = relu_file({1, 1, 512});
  file.open(0, 0, "seq").open(0, 1, "Batch_Size");
  EXPECT_EQ(error_of(file), "dimension 0 of input 'x' is open; a size for 'seq' is needed");
  const OnnxModel model = read(file, {{"seq", 128}});
  EXPECT_EQ(model.samples_name, "Batch_Size");
  EXPECT_EQ(model.outputs.at(0).shape, (Shape{128, 1, 512}));
  EXPECT_EQ(model.graph.samples(), 1);
  EXPECT_FALSE(model.samples_given);
  const OnnxModel given = read(file, {{"seq", 128}, {"Batch_Size", 16}});
  EXPECT_TRUE(given.samples_given);
  EXPECT_EQ(given.graph.samples(), 16);
  EXPECT_EQ(totals_of(given.graph).input_elements, totals_of(model.graph).input_elements);
  // A number in the first place is none of samples.
  FileBuilder fixed = relu_file({128, 1, 512});
  fixed.open(0, 1, "batch");
  EXPECT_EQ(read(fixed).samples_in_file, 0);
  EXPECT_EQ(read(fixed).graph.samples(), 1);
}

TEST(OnnxOpenSizes, ThePlaceDecidesWhereNoNameDoes) {
  FileBuilder file = relu_file({1, 8});
  file.open(0, 0, "rows");
  const OnnxModel model = read(file);
  EXPECT_EQ(model.samples_name, "rows");
  EXPECT_EQ(model.notes, (std::vector<std::string>{"the batch sets the first dimension, 'rows'"}));
  EXPECT_EQ(read(file, {{"rows", 6}}).graph.samples(), 6);
  EXPECT_EQ(read(file, {{"x.0", 6}}).graph.samples(), 6);
  EXPECT_EQ(error_of(file, {{"rows", 6}, {"x.0", 7}}),
            "rows=6 and x.0=7 are sizes of one dimension");
  EXPECT_EQ(error_of(file, {{"rows", 0}}), "rows=0: a step has 1 sample or more");
}

/// O12
TEST(OnnxOpenSizes, UnknownNamesAreRefusedWithThoseOfTheFile) {
  FileBuilder file = relu_file({1, 1, -1, 4});
  file.open(0, 0, "N").open(0, 1, "height");
  EXPECT_EQ(error_of(file, {{"heigth", 512}}),
            "no dimension 'heigth' is open in the file; open are: N, height, x.2");
  EXPECT_EQ(error_of(file, {{"x.3", 512}}),
            "no dimension 'x.3' is open in the file; open are: N, height, x.2");
  EXPECT_EQ(error_of(file, {{"height", 2}, {"x.2", 2}}), "");
  // An output's own name has no effect where its shape follows from the inputs.
  file.output("y", {1, 1, 1, 4});
  file.graph().mutable_output()->DeleteSubrange(0, 1);
  file.graph()
      .mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_param("tall");
  EXPECT_EQ(error_of(file, {{"height", 2}, {"x.2", 2}, {"tall", 3}}),
            "tall=3 has no effect: the size of 'tall' follows from the inputs");
  FileBuilder none = relu_file({1, 4});
  EXPECT_EQ(error_of(none, {{"N", 1}}), "no dimension 'N' is open in the file; none is");
  FileBuilder many = relu_file(Shape(30, -1));
  EXPECT_NE(error_of(many, {{"N", 1}}).find("and 10 more"), std::string::npos);
}

}  // namespace
}  // namespace corun::onnx_open_sizes_test
