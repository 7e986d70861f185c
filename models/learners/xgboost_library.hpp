#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Wrappers of XGBoost's C interface 1.7 for the source files of `forest` and `boosting`: owners of handles,
/// and calls that throw std::runtime_error with the library's message if they fail.
namespace corun::inline models::xgboost {

/// std::runtime_error if `status`, the result of the library's `call`, is not 0.
void check(int status, const char* call);

struct FreeMatrix {
  void operator()(void* handle) const;
};
struct FreeBooster {
  void operator()(void* handle) const;
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

/// `values`: rows x columns, row-major; NaN: missing.
Matrix make_matrix(std::span<const float> values, std::size_t rows, std::size_t columns);
/// One number per row.
void set_labels(const Matrix& matrix, std::span<const float> labels);
void set_weights(const Matrix& matrix, std::span<const float> weights);

/// A learner for the rows of `train`, on one thread.
Booster make_booster(const Matrix& train, std::uint32_t seed);
void set(const Booster& booster, const char* name, const std::string& value);
/// Runs one round of boosting.
void update(const Booster& booster, int round, const Matrix& train);
/// One prediction per row; `count`: the number of rows.
std::vector<float> predict(const Booster& booster, const Matrix& rows, std::size_t count);

/// A number as text for the library, with a decimal point in any locale.
std::string decimal(double value);

}  // namespace corun::inline models::xgboost
