#include "models/interference/gp/inverse_root.hpp"

#include <algorithm>
#include <cmath>

#include "models/interference/gp/vector_view.hpp"

namespace corun::inline models::gp {

void InverseRoot::append(const double* covariance, double variance) {
  white_.resize(size_);
  for (std::size_t r = 0; r < size_; ++r) {
    white_[r] = view(row(r), r + 1).dot(view(covariance, r + 1));
  }
  // Without rounding, at least kLeastNoise would be left.
  const double left =
      std::max(variance - view(white_.data(), size_).squaredNorm(), kLeastNoise / 2);
  const double scale = 1 / std::sqrt(left);
  packed_.resize(packed_.size() + size_ + 1, 0);
  double* const added = packed_.data() + packed_.size() - size_ - 1;
  for (std::size_t r = 0; r < size_; ++r) {
    view(added, r + 1) -= (white_[r] * scale) * view(row(r), r + 1);
  }
  added[size_] = scale;
  ++size_;
}

}  // namespace corun::inline models::gp
