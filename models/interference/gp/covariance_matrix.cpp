#include "models/interference/gp/covariance_matrix.hpp"

namespace corun::inline models::gp {

JobKernels kernels_between(const std::vector<Place>& places, const Covariance& covariance) {
  JobKernels out(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      out.slowed.at(i, j) = out.slowed.at(j, i) = covariance.own(places[i], places[j]);
      out.co_runner.at(i, j) = out.co_runner.at(j, i) = covariance.co_runner(places[i], places[j]);
    }
  }
  return out;
}

Panels covariance_matrix(const Rows& rows, const Covariance& covariance,
                         const JobKernels& kernels) {
  const std::size_t count = rows.observations.size();
  Panels out(count, count);
  for (std::size_t a = 0; a < count; ++a) {
    const Rows::Observation& x = rows.observations[a];
    for (std::size_t b = a; b < count; ++b) {
      const Rows::Observation& y = rows.observations[b];
      out.at(a, b) = covariance.of({kernels.slowed.at(x.own, y.own), x.own == y.own,
                                    kernels.co_runner.at(x.co_runner, y.co_runner),
                                    x.co_runner == y.co_runner, dot(rows.phi[a], rows.phi[b])});
    }
    out.at(a, a) += covariance[kNoise] + kLeastNoise;
  }
  return out;
}

}  // namespace corun::inline models::gp
