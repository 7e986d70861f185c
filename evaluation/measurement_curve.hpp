#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/interference/catalog.hpp"
#include "traces/tables/measurements.hpp"

/// What choosing the next measurements is worth: regret and error by the number of pairs measured, for lists that
/// choose_measurements() makes, by chance, and by the largest standard deviation.
///
/// A few random pairs of a table of measured pairs are known, and a model is fitted on them. For a queue of 24
/// different jobs, each rule makes one list of further pairs of the queue from that model; only pairs that the table
/// has can be measured or share a GPU. After the first n of the list, the model is fitted again on all that is known.
/// The queue is paired by minimum-cost matching on the measured costs, and the predicted ones of other pairs.
///
/// Regret: as in pair_evaluation.hpp, of the mean ISD of the queue; 0 is the optimum, 1 equals random. Error: mean
/// absolute error of ISD over both directions of the queue's pairs that were not known at the start; it is 0 for a
/// pair measured since.
namespace corun::inline evaluation {

struct MeasurementCurvePoint {
  std::string_view rule;  ///< suggest, random or sd
  std::size_t measured = 0;
  double regret = 0;
  double regret_error = 0;  ///< standard error over queues
  double mae = 0;           ///< [fraction]
  double mae_error = 0;
  /// The regret less that of `random` at the same point, over the same queues; 0 for `random`.
  double less_regret = 0;
  double less_regret_error = 0;
};

struct MeasurementCurve {
  std::string data;
  std::string model;
  std::size_t known = 0;
  std::size_t queues = 0;
  double pairs = 0;       ///< of a queue that could be measured, mean
  double best_isd = 0;    ///< mean over the optimally paired queues [fraction]
  double random_isd = 0;  ///< the same, paired at random
  std::vector<MeasurementCurvePoint>
      points;  ///< rule by rule, in the order of the options' `measured`
};

struct MeasurementCurveOptions {
  const InterferenceModelEntry* model = nullptr;
  std::uint64_t seed = 1;  ///< of queues, known pairs, fits and lists
  std::size_t queues = 40;
  std::size_t known = 30;             ///< pairs known at the start
  std::vector<std::size_t> measured;  ///< points of the curve
  unsigned threads = 1;               ///< changes speed only
  double effort = 1;                  ///< of the fits
};

/// InputError, naming the table, if it has too few measured pairs or if the model cannot be fitted on them.
/// `progress(done, queues)` is called after each queue.
MeasurementCurve measurement_curve(
    const Measurements& table, const MeasurementCurveOptions& options,
    const std::function<void(std::size_t, std::size_t)>& progress = {});

std::string measurement_curve_table(const MeasurementCurve& curve);
std::string measurement_curve_csv(const MeasurementCurve& curve);
std::string measurement_curve_json(const MeasurementCurve& curve);
/// Regret and error over the number of measured pairs, as SVG.
std::string measurement_curve_figure(const MeasurementCurve& curve, std::uint64_t seed);

}  // namespace corun::inline evaluation
