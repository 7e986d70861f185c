#include "models/interference/gp/posterior.hpp"

#include "models/interference/gp/vector_view.hpp"

namespace corun::inline models::gp {

Posterior::Posterior(Covariance covariance, const Rows& rows, const Panels& root)
    : covariance_(std::move(covariance)), root_(root, rows.observations.size()) {
  for (std::size_t a = 0; a < root_.size(); ++a) weigh(rows, a);
}

void Posterior::take_in(const Rows& rows) {
  const std::size_t a = root_.size();
  const Rows::Observation& x = rows.observations[a];
  const std::vector<double> slowed = covariance_.own(rows.places[x.own], rows.places);
  const std::vector<double> co_runner =
      covariance_.co_runner(rows.places[x.co_runner], rows.places);
  std::vector<double> covariances(a + 1);
  for (std::size_t b = 0; b <= a; ++b) {
    const Rows::Observation& y = rows.observations[b];
    covariances[b] = covariance_.of({slowed[y.own], x.own == y.own, co_runner[y.co_runner],
                                     x.co_runner == y.co_runner, dot(rows.phi[a], rows.phi[b])});
  }
  root_.append(covariances.data(), covariances[a] + (covariance_[kNoise] + kLeastNoise));
  weigh(rows, a);
}

void Posterior::weigh(const Rows& rows, std::size_t a) {
  const double* const row = root_.row(a);
  double sum = 0;
  Pressures phi{};
  for (std::size_t b = 0; b <= a; ++b) {
    sum += row[b] * rows.observations[b].target;
    for (std::size_t p = 0; p < kPressureCount; ++p) phi[p] += row[b] * rows.phi[b][p];
  }
  weights_.push_back(0);
  view(weights_.data(), a + 1) += sum * view(row, a + 1);
  for (std::size_t p = 0; p < kPressureCount; ++p) {
    weighted_pressures_[p].push_back(0);
    view(weighted_pressures_[p].data(), a + 1) += phi[p] * view(row, a + 1);
  }
}

}  // namespace corun::inline models::gp
