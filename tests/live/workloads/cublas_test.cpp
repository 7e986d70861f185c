#include "live/workloads/cublas.hpp"

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <gtest/gtest.h>

#include "live/workloads/device.hpp"
#include "sim/error.hpp"

namespace corun::live::cublas_test {
namespace {

/// The version of fake_cublas.cpp's library.
constexpr int kFakeMajor = 99;

class CublasTest : public ::testing::Test {
 protected:
  // Once it is loaded, Cublas::load() finds it by its name, whatever its directory.
  void SetUp() override { ASSERT_NE(dlopen(CORUN_FAKE_CUBLAS, RTLD_NOW), nullptr) << dlerror(); }
  void TearDown() override {
    unsetenv("FAKE_CUBLAS_CREATE");
    unsetenv("FAKE_CUBLAS_SGEMM");
  }
  int stream = 0;
};

TEST_F(CublasTest, MultipliesByRows) {
  const auto cublas = Cublas::load(kFakeMajor, &stream);
  ASSERT_NE(cublas, nullptr);
  // A B differs from B A and from the products of the transposes.
  const std::vector<float> a{1, 2, 3, 4, 5, 6, 7, 8, 10};
  const std::vector<float> b{0, 1, 0, 2, 0, 0, 0, 0, 3};
  std::vector<float> c(9, std::numeric_limits<float>::quiet_NaN());
  cublas->multiply(a.data(), b.data(), c.data(), 3);
  EXPECT_EQ(c, (std::vector<float>{4, 1, 9, 10, 4, 18, 16, 7, 30}));
}

TEST_F(CublasTest, WhatCannotStartIsNotPassedOver) {
  setenv("FAKE_CUBLAS_CREATE", "1", 1);
  try {
    Cublas::load(kFakeMajor, &stream);
    ADD_FAILURE() << "went on";
  } catch (const DeviceError& e) {
    EXPECT_STREQ(e.what(), "cuBLAS failed while starting: status 1; --gemm own does without it");
  }
}

TEST_F(CublasTest, NoMemoryIsToldFromOtherFailures) {
  setenv("FAKE_CUBLAS_CREATE", "3", 1);
  EXPECT_THROW(Cublas::load(kFakeMajor, &stream), DeviceOutOfMemory);
  unsetenv("FAKE_CUBLAS_CREATE");
  const auto cublas = Cublas::load(kFakeMajor, &stream);
  float x = 1;
  setenv("FAKE_CUBLAS_SGEMM", "3", 1);
  EXPECT_THROW(cublas->multiply(&x, &x, &x, 1), DeviceOutOfMemory);
  setenv("FAKE_CUBLAS_SGEMM", "13", 1);
  try {
    cublas->multiply(&x, &x, &x, 1);
    ADD_FAILURE() << "went on";
  } catch (const DeviceOutOfMemory&) {
    ADD_FAILURE() << "that was not for want of memory";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("status 13"), std::string::npos);
  }
}

}  // namespace
}  // namespace corun::live::cublas_test
