#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "predictors/onnx/onnx_import.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// The files that ONNX tests its own operators with (Debian: libonnx-testdata).
namespace corun::onnx_test_data_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "/usr/share/libonnx-testdata/data";

std::vector<std::string> files() {
  std::vector<std::string> result;
  if (!fs::is_directory(kFolder)) return result;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder)) {
    if (entry.path().filename() == "model.onnx") result.push_back(entry.path().string());
  }
  std::ranges::sort(result);
  return result;
}

/// The shape that a file states; second is false if it leaves something open.
std::pair<Shape, bool> stated(const onnx::ValueInfoProto& info) {
  Shape shape;
  if (!info.type().has_tensor_type() || !info.type().tensor_type().has_shape()) return {{}, false};
  for (const auto& dim : info.type().tensor_type().shape().dim()) {
    if (!dim.has_dim_value() || dim.dim_value() == 0) return {{}, false};
    shape.push_back(dim.dim_value());
  }
  return {shape, true};
}

TEST(OnnxTestData, AllFilesAreReadAndShapesAgree) {
  const std::vector<std::string> all = files();
  if (all.empty()) GTEST_SKIP() << "libonnx-testdata is not installed: 1,072 models are not read";
  ASSERT_EQ(all.size(), 1072U);
  int with_unknown = 0;  // with the shapes that the file states
  int agree = 0;         // without them: outputs whose shape was derived
  int open = 0;
  int without_size = 0;
  for (const std::string& path : all) {
    SCOPED_TRACE(path);
    const std::string bytes = test::read_file(path);
    OnnxOptions options;
    options.use_stated_shapes = false;
    try {
      if (import_onnx(bytes).unknown_count() > 0) ++with_unknown;
      const OnnxModel model = import_onnx(bytes, options);
      onnx::ModelProto file;
      ASSERT_TRUE(file.ParseFromString(bytes));
      for (int i = 0; i < file.graph().output_size(); ++i) {
        const auto [shape, complete] = stated(file.graph().output(i));
        const OnnxOutput& output = model.outputs.at(static_cast<std::size_t>(i));
        if (!complete || !output.derived) {
          ++open;
          continue;
        }
        EXPECT_EQ(text_of(output.shape), text_of(shape)) << output.name;
        agree += output.shape == shape;
      }
    } catch (const MissingSize&) {
      ++without_size;  // a tensor without elements, of which 0 says nothing else than that it is open
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
  // Unknown are operators of texts, sequences, spectra and training. Open
  // are their outputs, and those whose shape is a number that only a run gives.
  EXPECT_LE(with_unknown, 82);
  EXPECT_GE(agree, 1027);
  EXPECT_LE(open, 238);
  EXPECT_EQ(without_size, 1);
}

}  // namespace
}  // namespace corun::onnx_test_data_test
