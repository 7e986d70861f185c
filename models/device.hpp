#pragma once

#include <string>
#include <string_view>

/// Where numbers are crunched: `--device auto | cpu | cuda`.
namespace corun {

struct DeviceReport {
  int cuda_devices = 0;  ///< usable ones
  std::string reason;    ///< why there is none, or the first one's name
};

/// Asks the CUDA runtime. Any error means: no usable GPU, with the runtime's own words as the reason.
DeviceReport probe_devices();

/// The device that a run uses, for the record: always "cpu", because no model of this version has a
/// GPU kernel. "cuda" throws DeviceError with the reason; an unknown word throws InputError.
std::string choose_device(std::string_view wanted);

}  // namespace corun
