#pragma once

#include <string>

namespace corun::test {

/// A table of pairs in Lucid's form: six jobs, all pairs, also of equal jobs. Light jobs (low) hardly slow
/// others; two heavy jobs do.
inline std::string lucid_pairs() {
  std::string text =
      "job_a,model_a,solo_gpu_util_a,solo_gmem_util_a,solo_gmem_mib_a,norm_a,"
      "job_b,model_b,solo_gpu_util_b,solo_gmem_util_b,solo_gmem_mib_b,norm_b\n";
  const auto side = [](int i, double speed) {
    return "J" + std::to_string(i) + ",M" + std::to_string(i) + "," + std::to_string(10 + 15 * i) +
           "," + std::to_string(5 + 8 * i) + "," + std::to_string(1000 + 500 * i) + "," +
           std::to_string(speed);
  };
  for (int i = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j) {
      text += side(i, 1 - 0.015 * (i + 1) * j) + "," + side(j, 1 - 0.015 * (j + 1) * i) + "\n";
    }
  }
  return text;
}

}  // namespace corun::test
