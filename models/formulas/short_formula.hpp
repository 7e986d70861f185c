#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "models/formulas/speed_belief.hpp"

/// The members of a formula that is evaluated in an innermost loop. Jobs owns arrays with one entry per job,
/// and has
///
///   size()         the number of jobs
///   Jobs::View     plain pointers to the arrays, with the equation
///   view(at)       a View of the arrays at at(array): copies in the memory of the device that reads them
///
/// A View has
///   Job               the data of one job that beside() needs
///   job(i)            the data of job i
///   beside(slowed, co_runner)
///                     speed of `slowed` beside `co_runner` with its standard deviation, as in predict(),
///                     and 1 / speed, correctly rounded (SpeedBelief; math::inverse() spares the division)
///   with_co_runners(residents, count, slowed)
///                     speed of residents[slowed] beside the others of `count` residents, as
///                     InterferenceModel::speeds() gives it
///   kNeverFaster      true only if beside() gives no speed above 1: the speed is then not limited to 1
namespace corun::inline models {

template <class Jobs>
concept ShortFormula = requires(const typename Jobs::View& view,
                                const typename Jobs::View::Job& job, const std::uint32_t* residents,
                                std::size_t i) {
  { Jobs::View::kNeverFaster } -> std::convertible_to<bool>;
  { view.job(i) } -> std::same_as<typename Jobs::View::Job>;
  { view.beside(job, job) } -> std::same_as<SpeedBelief>;
  { view.with_co_runners(residents, i, i) } -> std::same_as<double>;
};

/// A view of the arrays themselves, in the memory of the host.
template <ShortFormula Jobs>
typename Jobs::View view_of(const Jobs& jobs) {
  return jobs.view([](const auto& numbers) { return numbers.data(); });
}

}  // namespace corun::inline models
