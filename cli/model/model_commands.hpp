#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cli.hpp"

/// The commands of `corun model`, each in a file of its own.
namespace corun::inline cli {

int model_fit_command(const std::vector<std::string>& arguments);
int model_predict_command(const std::vector<std::string>& arguments);
int model_suggest_command(const std::vector<std::string>& arguments);
int model_eval_command(const std::vector<std::string>& arguments);

/// `corun model eval --split ...`: cross-validation over tables of pairs.
struct CrossValidation {
  std::vector<std::string> tables;
  std::string split;                ///< pairs, job, family or all
  std::vector<std::string> models;  ///< values of --model; empty: all of the catalogue
  std::vector<std::size_t> rows;    ///< points of a learning curve; empty: all rows
  std::vector<std::size_t> probes;  ///< points of a curve over probes; empty: no probes
  std::string figure;               ///< path of the figure; empty: none
  std::size_t queues = 0;
  std::uint64_t seed = 0;
  double effort = 1;  ///< of the fits
};
int model_cross_validate(const CrossValidation& asked, const CommonOptions& common);

/// `corun model eval --measure ...`: regret by the number of measurements, for several ways to choose them.
struct MeasurementCurveAsked {
  std::vector<std::string> tables;
  std::vector<std::string> models;    ///< values of --model; empty: the default
  std::vector<std::size_t> measured;  ///< points of the curve
  std::size_t known = 0;
  std::string figure;  ///< path of the figure; empty: none
  std::size_t queues = 0;
  std::uint64_t seed = 0;
  double effort = 1;  ///< of the fits
};
int model_measurement_curve(const MeasurementCurveAsked& asked, const CommonOptions& common);

}  // namespace corun::inline cli
