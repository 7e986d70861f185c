#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/time.hpp"

/// Texts that people and programs write into the cells of logs. No function throws: a text of another form is
/// "nothing".
namespace corun::inline traces {

/// Whether the text stands for a value that is not known: empty, or (in any case) NaN, NaT, None, null, nil,
/// NA, N/A, [N/A], \N, -, --, ?, INVALID, Unknown, unset, Not Set.
bool is_absent(std::string_view text);

struct DateCell {
  Time time{0};           ///< since 1970-01-01 00:00 UTC
  bool has_zone = false;  ///< else the text was taken as UTC
};

/// A date with a time of day: "2024-05-17 11:00:00", with 'T' in place of the blank, with '/' in place of
/// '-', without seconds, with a fraction of a second (to the nanosecond, more digits are cut), and with a
/// zone: Z, UTC, GMT, +08:00, +0800, +08. Years 1970 to 2089.
std::optional<DateCell> parse_date(std::string_view text);

/// A length of time with units in its form, 0 s to 4e9 s: [D-]HH:MM:SS and MM:SS with a fraction, hours
/// beyond 24 too; "1 day, 2:03:04" and "2 days 02:03:04" of Python; ISO 8601 such as P1DT2H3M4.5S, in days
/// and below. A bare number is no such text.
std::optional<Duration> parse_duration(std::string_view text);

/// A number of GPUs, 0 to 1e6: "2", "2.0", "0.5", "50 %" (of one GPU), and Slurm's words for them, in which
/// other resources count as none: "gpu:2(S:0-1)", "gpu:a100:4", "gres/gpu=4", "cpu=8,gres/gpu:a100=4,gres/gpu=4"
/// (gres/gpu is the total of the typed ones), "1=40,2=170000,1001=2" (TRES of the accounting database, 1001 is
/// gres/gpu).
std::optional<double> parse_gpus(std::string_view text);

/// The GPU type that Slurm's words for GPUs name, in lower case: "a100" of "gpu:a100:4" and of "gres/gpu:a100=4". Empty
/// if they name none or several.
std::string parse_gpu_type(std::string_view text);

/// Memory in MiB, 0 to 1e12: a number with a unit, "80G", "4321 MiB", "64GB", "1.5T", "16384M", "8Gn" (per node)
/// and "2Gc" (per core) as sacct prints them; K, M, G and T count by 1024, a bare B is a byte. A bare number is
/// no such text.
std::optional<double> parse_memory_mib(std::string_view text);

/// The text with the decimal comma of "600,5" made a point; other texts stay.
std::string with_decimal_point(std::string_view text);

}  // namespace corun::inline traces
