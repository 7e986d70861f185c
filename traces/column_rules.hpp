#pragma once

#include <cstddef>
#include <string_view>

#include "traces/csv_reader.hpp"
#include "traces/trace.hpp"

/// Value ranges of columns that several formats share.
namespace corun::inline traces {

inline constexpr NumberRule kShare{"a percentage", 0, 100};
/// A framework can reserve more than the GPU has.
inline constexpr NumberRule kReserved{"a percentage", 0, 1000};
inline constexpr NumberRule kMib{"a number of MiB", 0, 1e12};
/// Solo time on a GPU type.
inline constexpr NumberRule kSoloOnType{"'-' (does not run there) or a number of seconds",
                                        kLeastSoloS, kLongestSoloS};
inline constexpr IntegerRule kFlag{"a flag", 0, 1};
/// Profile::packing_label.
inline constexpr IntegerRule kPackingLabelRule{"a label", 0, 2};
/// Speed in a co-run over that alone; noise gives up to 1.5.
inline constexpr NumberRule kRelativeSpeed{"a speed relative to the one alone, from 0.001 to 2"};
inline constexpr double kFastestSpeed = 2;
inline constexpr double kSlowestSpeed = 0.001;
/// Allowed relative difference of two values of one feature of one job: digits lost in writing.
inline constexpr double kFeatureTolerance = 1e-6;
/// What sharing_of() reads.
inline constexpr std::string_view kSharingExpected =
    "a sharing mode: one with MPS, time-slicing or MIG in it, or unknown";
/// The GPU type that a table's words say; empty if it is not known.
constexpr std::string_view stated_gpu(std::string_view words) {
  return words == "unknown" || words == "not stated" ? std::string_view() : words;
}
/// Most GPU types with sharing modes in a file: a column with more is something else.
inline constexpr std::size_t kMostCampaigns = 64;
inline constexpr IntegerRule kPriority{"a whole number", -1'000'000'000, 1'000'000'000};

}  // namespace corun::inline traces
