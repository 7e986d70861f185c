#pragma once

#include "sim/speed_table.hpp"

/// Fits to few speeds. A model with effects per job takes much of its deviation from its prior then, and may be less sure
/// than a constant, the mean of the measured t = -log(speed), whose deviation is known: Student's t with
///
///   sd sqrt(1 + 1/m)        m - 1 degrees of freedom
///
/// m is the number of measured jobs, because speeds of one job are alike. sd is the mode of the deviation of t under a
/// log-normal prior: 0.3 by a factor e^0.6, as public tables differ (campaigns.hpp), so equal speeds do not make it 0.
namespace corun::inline models {

/// The constant's 90 % interval, in t, over twice 1.645, if there are fewer measured speeds than effects of the
/// additive model, two per measured job: as slowed and as co-runner. Infinity for more speeds or fewer
/// than two jobs.
double constant_deviation_of_few(const SpeedTable& table);

}  // namespace corun::inline models
