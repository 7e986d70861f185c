#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "traces/tables/measurements.hpp"

/// Several tables of measured co-runs as one.
namespace corun::inline traces {

/// Adds the rows of `more`, read with the same `keys`. Features are joined by name; a job has NaN for those that its
/// table lacks.
///
/// A job of both is one job, and a value that is known first stays. It is another job if two known values of a feature
/// differ that must not: of one GPU type by its name (solo_v100), or of any if GPU type and sharing mode are the same.
/// It then gets a name and a key with its features (name_with_features()), and a note counts such jobs.
///
/// A campaign of `more` becomes that of `to` with the same GPU type and sharing mode in the same form, unless they have
/// other jobs of one name. Else it is a new one.
///
/// The header and the fields stay only if both are tables of pairs with the same columns. A table without jobs becomes `more`. InputError
/// naming both sources, which leaves `to` unchanged, if families of a job differ in one GPU type and sharing mode.
/// std::logic_error if `more` was read with other keys, or has a feature on another scale.
void append(Measurements& to, const Measurements& more, WorkloadKeys& keys);

/// "NAME {solo_k80 4.8, solo_v100 32.4}": the name of a job and its known features in alphabetical order. It distinguishes
/// jobs that have one name in several tables, and it is the same whatever else a model was fitted on.
std::string name_with_features(std::string_view name, const SpeedTable& table, std::size_t job);

}  // namespace corun::inline traces
