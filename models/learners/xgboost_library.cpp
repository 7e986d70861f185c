#include "models/learners/xgboost_library.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <stdexcept>

#include <xgboost/c_api.h>

namespace corun::inline models::xgboost {

void check(int status, const char* call) {
  if (status != 0) {
    throw std::runtime_error(std::string("XGBoost, ") + call + ": " + XGBGetLastError());
  }
}

void FreeMatrix::operator()(void* handle) const { XGDMatrixFree(handle); }
void FreeBooster::operator()(void* handle) const { XGBoosterFree(handle); }

Matrix make_matrix(std::span<const float> values, std::size_t rows, std::size_t columns) {
  DMatrixHandle handle = nullptr;
  check(XGDMatrixCreateFromMat(values.data(), rows, columns,
                               std::numeric_limits<float>::quiet_NaN(), &handle),
        "XGDMatrixCreateFromMat");
  return Matrix(handle);
}

void set_labels(const Matrix& matrix, std::span<const float> labels) {
  check(XGDMatrixSetFloatInfo(matrix.get(), "label", labels.data(), labels.size()),
        "XGDMatrixSetFloatInfo");
}

void set_weights(const Matrix& matrix, std::span<const float> weights) {
  check(XGDMatrixSetFloatInfo(matrix.get(), "weight", weights.data(), weights.size()),
        "XGDMatrixSetFloatInfo");
}

Booster make_booster(const Matrix& train, std::uint32_t seed) {
  DMatrixHandle cache = train.get();
  BoosterHandle handle = nullptr;
  check(XGBoosterCreate(&cache, 1, &handle), "XGBoosterCreate");
  Booster booster(handle);
  set(booster, "verbosity", "0");
  set(booster, "nthread", "1");
  set(booster, "seed", std::to_string(seed));
  set(booster, "objective", "reg:squarederror");
  set(booster, "base_score", "0");
  set(booster, "tree_method", "exact");
  return booster;
}

void set(const Booster& booster, const char* name, const std::string& value) {
  check(XGBoosterSetParam(booster.get(), name, value.c_str()), name);
}

void update(const Booster& booster, int round, const Matrix& train) {
  check(XGBoosterUpdateOneIter(booster.get(), round, train.get()), "XGBoosterUpdateOneIter");
}

std::vector<float> predict(const Booster& booster, const Matrix& rows, std::size_t count) {
  bst_ulong length = 0;
  const float* values = nullptr;  // owned by the library, valid until its next call
  check(XGBoosterPredict(booster.get(), rows.get(), 0, 0, 0, &length, &values), "XGBoosterPredict");
  if (length != count) throw std::runtime_error("XGBoost: not one prediction per row");
  return {values, values + length};
}

std::string decimal(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace corun::inline models::xgboost
