#include "services/service_times.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "sim/error.hpp"

namespace corun::inline services {

ServiceTimes::ServiceTimes(std::vector<MeasuredBatch> measured) : measured_(std::move(measured)) {
  constexpr int kLargestBatch = 1'000'000;
  if (measured_.empty()) {
    throw InputError("a service has no measured batch size, expected one or more; measure one");
  }
  int last = 0;
  for (const auto& [batch, mean_s] : measured_) {
    const std::string place = "service time of batch size " + std::to_string(batch);
    if (batch < 1 || batch > kLargestBatch) {
      throw InputError(place, "expected a size from 1 to 1000000; correct it");
    }
    if (batch <= last) {
      throw InputError(place,
                       "it does not follow a smaller one; sort the sizes and name each once");
    }
    if (!(mean_s >= 1e-9 && mean_s <= 1e6)) {
      throw InputError(
          place, "found " + std::to_string(mean_s) + " s, expected 1e-9 to 1e6 s; correct it");
    }
    if (last == 0) {
      mean_s_.assign(static_cast<std::size_t>(batch), mean_s);
    } else {
      const double before = mean_s_.back();
      for (int size = last + 1; size <= batch; ++size) {
        const double share = static_cast<double>(size - last) / (batch - last);
        mean_s_.push_back(before + share * (mean_s - before));
      }
    }
    last = batch;
  }
}

}  // namespace corun::inline services
