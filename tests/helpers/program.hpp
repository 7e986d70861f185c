#pragma once

#include <string>
#include <vector>

#include "tests/helpers/temporary_directory.hpp"

/// Runs the program as users do.
namespace corun::test {

struct Outcome {
  int code = -1;    ///< exit code; 128 + signal when killed
  std::string out;  ///< stdout
  std::string err;  ///< stderr
};

/// Runs corun with these arguments in `directory` and waits for it, at most kProgramLimitSeconds: a program that
/// runs longer is killed (code 137).
Outcome run_corun(const std::vector<std::string>& arguments, const std::string& directory = ".");

constexpr int kProgramLimitSeconds = 300;

}  // namespace corun::test
