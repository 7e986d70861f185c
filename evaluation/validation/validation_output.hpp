#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "evaluation/validation/validation.hpp"

/// The output of `corun validate`. Fractions and seconds in JSON and CSV, per cent in the table.
namespace corun::inline evaluation {

std::string validation_table(const Validation& v);
nlohmann::ordered_json validation_json(const Validation& v);
/// A row per job of every tested run: run,given,job,real_jct_s,jct_s,low_s,high_s,error.
std::string validation_csv(const Validation& v);
/// Simulated completion times against real ones, a panel per tested run.
std::string validation_svg(const Validation& v);

}  // namespace corun::inline evaluation
