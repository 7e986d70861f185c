#pragma once

/// What a formula has that stands in an innermost loop: Jobs own arrays, one number of each job in each, and
///
///   Jobs::View     plain pointers to them, with the equation: job(), beside(), in_company(), kNeverFaster
///   view(at)       a View of the arrays at at(array): where they are in the memory that is to be read
namespace corun {

template <class Jobs>
concept ShortFormula = requires {
  typename Jobs::View;
};

/// Of the arrays as they are, in the memory of the host.
template <ShortFormula Jobs>
typename Jobs::View view_of(const Jobs& jobs) {
  return jobs.view([](const auto& numbers) { return numbers.data(); });
}

}  // namespace corun
