#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// Linear interpolation between points in space over their Delaunay triangulation (Qhull: Barber, Dobkin, Huhdanpaa, "The
/// Quickhull algorithm for convex hulls", ACM TOMS 1996).
namespace corun::inline models {

class Triangulation {
 public:
  using Point = std::array<double, 3>;

  /// Points on a grid have many triangulations; Qhull takes the options "Qt Qbb Qc Qz Q12", those of SciPy's Delaunay, so
  /// that values between points are those of its LinearNDInterpolator. std::invalid_argument if the points have no volume.
  explicit Triangulation(std::vector<Point> points);

  /// The weights of up to four points whose weighted mean `at` is: by place in the points, adding up to 1.
  struct Weight {
    std::size_t point = 0;
    double weight = 0;
  };
  /// Nothing outside of the points' hull. On a face that neighbours divide differently, as on a grid, the first simplex in
  /// Qhull's order counts.
  std::optional<std::array<Weight, 4>> at(const Point& at) const;

  const std::vector<Point>& points() const { return points_; }

 private:
  struct Simplex {
    std::array<std::size_t, 4> corners{};
    std::array<std::array<double, 3>, 3>
        inverse{};  ///< from an offset to the last corner to weights of the others
    Point least{};
    Point greatest{};
  };

  std::vector<Point> points_;
  std::vector<Simplex> simplices_;
};

}  // namespace corun::inline models
