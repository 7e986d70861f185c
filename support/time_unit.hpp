#pragma once

/// Units in which people read times.
namespace corun::inline support {

struct TimeUnit {
  const char* name = "s";
  double seconds = 1;
};

/// The unit for times of up to `largest_s` seconds: s below 1000 s, then min below 5 h, h below 4 days,
/// and days. Seconds if it is NaN.
TimeUnit time_unit(double largest_s);

}  // namespace corun::inline support
