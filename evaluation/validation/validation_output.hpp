#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "evaluation/validation/validation.hpp"

/// The output of `corun validate`. Fractions and seconds in JSON and CSV, per cent in the table.
namespace corun::inline evaluation {

std::string validation_table(const Validation& v);
nlohmann::ordered_json validation_json(const Validation& v);
/// The same with `jobs` of each run: [[real, simulated, low, high]], completion times.
nlohmann::ordered_json validation_page_json(const Validation& v);
/// A row per job of every tested run: run,given,job,real_jct_s,jct_s,low_s,high_s,error.
std::string validation_csv(const Validation& v);
/// What was fitted, as keys of a configuration of `corun replay` (docs/configuration.md): YAML without a workload. InputError
/// for a model with a comma in its name.
std::string validation_config(const Validation& v);
/// Simulated completion times against real ones, a panel per tested run.
std::string validation_svg(const Validation& v);

}  // namespace corun::inline evaluation
