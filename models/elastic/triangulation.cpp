#include "models/elastic/triangulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

namespace corun::inline models {

namespace {

using Corners = std::array<std::size_t, 4>;

/// Releases what Qhull holds, whatever happened in between.
class QhullRun {
 public:
  explicit QhullRun(std::FILE* messages) { qh_zero(&qh_, messages); }
  QhullRun(const QhullRun&) = delete;
  QhullRun& operator=(const QhullRun&) = delete;
  ~QhullRun() {
    qh_freeqhull(&qh_, !qh_ALL);
    int left = 0;
    int left_bytes = 0;
    qh_memfreeshort(&qh_, &left, &left_bytes);
  }
  qhT* get() { return &qh_; }

 private:
  qhT qh_{};
};

std::vector<Corners> delaunay_of(const std::vector<Triangulation::Point>& points) {
  std::vector<coordT> coordinates;
  for (const auto& point : points)
    coordinates.insert(coordinates.end(), point.begin(), point.end());
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> messages(std::tmpfile(), close);
  std::FILE* const errors = messages != nullptr ? messages.get() : stderr;
  QhullRun run(errors);
  qhT* const qh = run.get();
  char command[] = "qhull d Qt Qbb Qc Qz Q12";  // Qhull takes no const text
  const int failed = qh_new_qhull(qh, 3, static_cast<int>(points.size()), coordinates.data(), False,
                                  command, nullptr, errors);
  if (failed != 0) throw std::invalid_argument("the points have no triangulation");
  std::vector<Corners> found;
  facetT* facet = nullptr;
  FORALLfacets {
    if (facet->upperdelaunay || !facet->simplicial) continue;
    Corners corners{};
    std::size_t count = 0;
    vertexT* vertex = nullptr;
    vertexT** vertexp = nullptr;
    bool inner = true;
    FOREACHvertex_(facet->vertices) {
      const int point = qh_pointid(qh, vertex->point);
      // With Qz there is one point more, at infinity.
      inner &= point >= 0 && static_cast<std::size_t>(point) < points.size();
      if (count < corners.size()) corners[count] = static_cast<std::size_t>(std::max(point, 0));
      ++count;
    }
    if (inner && count == corners.size()) found.push_back(corners);
  }
  return found;
}

double determinant(const std::array<std::array<double, 3>, 3>& m) {
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
         m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

}  // namespace

Triangulation::Triangulation(std::vector<Point> points) : points_(std::move(points)) {
  if (points_.size() < 5) throw std::invalid_argument("fewer than five points");
  for (const Corners& corners : delaunay_of(points_)) {
    Simplex simplex;
    simplex.corners = corners;
    std::array<std::array<double, 3>, 3> edges{};  // column c: from the last corner to corner c
    const Point& last = points_[corners[3]];
    simplex.least = simplex.greatest = last;
    double longest = 1;
    for (std::size_t c = 0; c < 3; ++c) {
      double square = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        edges[d][c] = points_[corners[c]][d] - last[d];
        square += edges[d][c] * edges[d][c];
        simplex.least[d] = std::min(simplex.least[d], points_[corners[c]][d]);
        simplex.greatest[d] = std::max(simplex.greatest[d], points_[corners[c]][d]);
      }
      longest *= std::sqrt(square);
    }
    const double volume = determinant(edges);
    constexpr double kFlat = 1e-12;
    if (!(std::abs(volume) > kFlat * longest)) continue;
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t column = 0; column < 3; ++column) {
        // Cofactors of the transposed matrix.
        const std::size_t r1 = (column + 1) % 3;
        const std::size_t r2 = (column + 2) % 3;
        const std::size_t c1 = (row + 1) % 3;
        const std::size_t c2 = (row + 2) % 3;
        simplex.inverse[row][column] =
            (edges[r1][c1] * edges[r2][c2] - edges[r1][c2] * edges[r2][c1]) / volume;
      }
    }
    simplices_.push_back(simplex);
  }
  if (simplices_.empty()) throw std::invalid_argument("the points have no volume");
}

std::optional<std::array<Triangulation::Weight, 4>> Triangulation::at(const Point& at) const {
  constexpr double kTolerance = 1e-9;
  for (const Simplex& simplex : simplices_) {
    bool near = true;
    for (std::size_t d = 0; d < 3; ++d) {
      const double slack = kTolerance * (1 + std::abs(at[d]));
      near &= at[d] >= simplex.least[d] - slack && at[d] <= simplex.greatest[d] + slack;
    }
    if (!near) continue;
    std::array<Weight, 4> weights{};
    const Point& last = points_[simplex.corners[3]];
    double rest = 1;
    double least = 1;
    for (std::size_t c = 0; c < 3; ++c) {
      double weight = 0;
      for (std::size_t d = 0; d < 3; ++d) weight += simplex.inverse[c][d] * (at[d] - last[d]);
      weights[c] = {simplex.corners[c], weight};
      rest -= weight;
      least = std::min(least, weight);
    }
    weights[3] = {simplex.corners[3], rest};
    least = std::min(least, rest);
    if (least >= -kTolerance) return weights;
  }
  return std::nullopt;
}

}  // namespace corun::inline models
