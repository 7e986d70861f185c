#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// What `forest` and `boosting` share of XGBoost's C interface 1.7; for their sources only. Handles that
/// free themselves, and calls whose failures are exceptions (std::runtime_error with the library's own
/// message).
namespace corun::xgboost {

/// Every call of the library returns 0 or leaves a message.
void check(int status, const char* call);

struct FreeMatrix {
  void operator()(void* handle) const;
};
struct FreeBooster {
  void operator()(void* handle) const;
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

/// Rows x columns, row-major; NaN marks what is missing.
Matrix make_matrix(std::span<const float> values, std::size_t rows, std::size_t columns);
void set_labels(const Matrix& matrix, std::span<const float> labels);

/// A learner for the rows of `train`, on one thread.
Booster make_booster(const Matrix& train, std::uint32_t seed);
void set(const Booster& booster, const char* name, const std::string& value);
/// One round more.
void update(const Booster& booster, int round, const Matrix& train);
/// One number per row.
std::vector<float> predict(const Booster& booster, const Matrix& rows, std::size_t count);

/// The library takes its parameters as text; whatever the locale, with a decimal point.
std::string decimal(double value);

}  // namespace corun::xgboost
