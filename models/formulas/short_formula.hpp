#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "models/formulas/speed_belief.hpp"

/// What a formula has that stands in an innermost loop: Jobs own arrays, one number of each job in each, and
///
///   size()         how many jobs
///   Jobs::View     plain pointers to the arrays, with the equation
///   view(at)       a View of the arrays at at(array): where they are in the memory that is to be read
///
/// A View has
///   Job               what beside() needs of one job
///   job(i)            that of job i
///   beside(own, co-runner)
///                     speed of `own` beside `co-runner` and its deviation, as predict() gives them, and 1 / speed
///                     rounded (SpeedBelief); where the reciprocal may be had otherwise, math.hpp says
///   with_co_runners(residents, count, own)
///                     speed of resident number `own` of `count`, as InterferenceModel::speeds() gives it
///   kNeverFaster      true only if no speed of beside() is above 1: it is then not clamped
namespace corun {

template <class Jobs>
concept ShortFormula = requires(const typename Jobs::View& view,
                                const typename Jobs::View::Job& job, const std::uint32_t* residents,
                                std::size_t i) {
  { Jobs::View::kNeverFaster } -> std::convertible_to<bool>;
  { view.job(i) } -> std::same_as<typename Jobs::View::Job>;
  { view.beside(job, job) } -> std::same_as<SpeedBelief>;
  { view.with_co_runners(residents, i, i) } -> std::same_as<double>;
};

/// Of the arrays as they are, in the memory of the host.
template <ShortFormula Jobs>
typename Jobs::View view_of(const Jobs& jobs) {
  return jobs.view([](const auto& numbers) { return numbers.data(); });
}

}  // namespace corun
