#include "models/knowledge/smoothing_spline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include <Eigen/Dense>

namespace corun::inline models {

namespace {

constexpr std::size_t kDegree = 2;
constexpr std::size_t kEnds = 2 * (kDegree + 1);  ///< knots without inner knots
constexpr double kSmoothingTolerance = 1e-3;      ///< as a share of the smoothing
constexpr int kRationalSteps = 20;                ///< of the search for p; usually under ten
constexpr int kMaxSteps = 120;                    ///< with steps of bisection

/// The piece [t_i, t_i+1) for x, as the index of its left knot; outside, the outermost piece.
std::size_t knot_piece(std::span<const double> knots, double x) {
  const auto first = knots.begin() + kDegree + 1;
  const auto last = knots.end() - kDegree - 1;
  return static_cast<std::size_t>(std::upper_bound(first, last, x) - knots.begin()) - 1;
}

/// The three B-splines that are not zero on the piece, at x (de Boor's recurrence). Their indices
/// are piece - 2 to piece.
std::array<double, kDegree + 1> basis(std::span<const double> knots, std::size_t piece, double x) {
  std::array<double, kDegree + 1> value{1, 0, 0};
  for (std::size_t degree = 1; degree <= kDegree; ++degree) {
    double carried = 0;
    for (std::size_t i = 0; i < degree; ++i) {
      const double left = knots[piece + i + 1 - degree];
      const double right = knots[piece + i + 1];
      const double share = value[i] / (right - left);
      value[i] = carried + share * (right - x);
      carried = share * (x - left);
    }
    value[degree] = carried;
  }
  return value;
}

double evaluate(std::span<const double> knots, std::span<const double> coefficients, double x) {
  const std::size_t piece = knot_piece(knots, x);
  const auto weight = basis(knots, piece, x);
  double sum = 0;
  for (std::size_t i = 0; i <= kDegree; ++i) {
    sum += weight[i] * coefficients[piece - kDegree + i];
  }
  return sum;
}

/// Rows: data points, then `below` empty ones. Columns: B-splines.
Eigen::MatrixXd collocation(std::span<const double> knots, std::span<const double> x,
                            std::size_t below) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(x.size() + below),
                                            static_cast<Eigen::Index>(knots.size() - kDegree - 1));
  for (std::size_t r = 0; r < x.size(); ++r) {
    const std::size_t piece = knot_piece(knots, x[r]);
    const auto weight = basis(knots, piece, x[r]);
    for (std::size_t i = 0; i <= kDegree; ++i) {
      a(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(piece - kDegree + i)) = weight[i];
    }
  }
  return a;
}

/// Row l: the jump of each B-spline's second derivative at inner knot l, up to a common factor, with the mean
/// length of a piece as the unit:
///
///   (t_j+3 - t_j) / prod_{i = j..j+3, t_i != t_l} (t_l - t_i)
Eigen::MatrixXd jumps(std::span<const double> knots) {
  const std::size_t inner = knots.size() - kEnds;
  Eigen::MatrixXd b = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(inner),
                                            static_cast<Eigen::Index>(knots.size() - kDegree - 1));
  const double mean = (knots.back() - knots.front()) / static_cast<double>(inner + 1);
  for (std::size_t row = 0; row < inner; ++row) {
    const std::size_t l = row + kDegree + 1;
    for (std::size_t j = row; j <= l; ++j) {
      double product = 1;
      for (std::size_t i = j; i <= j + kDegree + 1; ++i) {
        if (i != l) product *= knots[l] - knots[i];
      }
      b(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(j)) =
          mean * mean * (knots[j + kDegree + 1] - knots[j]) / product;
    }
  }
  return b;
}

/// A fit and its residuals.
struct Fit {
  std::vector<double> coefficients;
  std::vector<double> squares;  ///< squared residual per data point
  double residual = 0;
  double diagonal = 0;  ///< sum of the moduli of the diagonal of R in A = QR
};

/// Least squares with the penalty (jump / p)^2; p = infinity is without penalty.
Fit fit(std::span<const double> knots, std::span<const double> x, std::span<const double> y,
        double p) {
  const std::size_t penalties = std::isinf(p) ? 0 : knots.size() - kEnds;
  Eigen::MatrixXd a = collocation(knots, x, penalties);
  if (penalties > 0) a.bottomRows(static_cast<Eigen::Index>(penalties)) = jumps(knots) / p;
  Eigen::VectorXd b = Eigen::VectorXd::Zero(a.rows());
  for (std::size_t r = 0; r < y.size(); ++r) b[static_cast<Eigen::Index>(r)] = y[r];
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(a);
  const Eigen::VectorXd solution = qr.solve(b);
  Fit result;
  result.coefficients.assign(solution.data(), solution.data() + solution.size());
  result.diagonal = qr.matrixQR().diagonal().cwiseAbs().sum();
  for (std::size_t r = 0; r < x.size(); ++r) {
    const double error = y[r] - evaluate(knots, result.coefficients, x[r]);
    result.squares.push_back(error * error);
    result.residual += error * error;
  }
  return result;
}

/// A piece between two knots while knots are being added.
struct Piece {
  std::size_t first = 0;   ///< data point at its left knot
  std::size_t inside = 0;  ///< data points strictly between its knots
  double squares = 0;      ///< its share of the residual
};

/// Knots at data points, and the residual of every piece.
class KnotPlan {
 public:
  explicit KnotPlan(std::span<const double> x) : x_(x), pieces_{{0, x.size() - 2, 0}} {}

  /// Sets the pieces' squares. A data point at a knot counts half to each side.
  void share(std::span<const double> squares) {
    for (Piece& piece : pieces_) {
      const std::size_t last = piece.first + piece.inside + 1;
      piece.squares = squares[piece.first] * (piece.first == 0 ? 1 : 0.5) +
                      squares[last] * (last + 1 == x_.size() ? 1 : 0.5);
      for (std::size_t r = piece.first + 1; r < last; ++r) piece.squares += squares[r];
    }
  }

  /// Splits the piece with the largest squares. False if no piece has both a residual and room for a knot.
  bool split_worst() {
    std::size_t worst = pieces_.size();
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].inside == 0) continue;
      const double least = worst == pieces_.size() ? 0 : pieces_[worst].squares;
      if (pieces_[i].squares > least) worst = i;
    }
    if (worst == pieces_.size()) return false;
    Piece& left = pieces_[worst];
    const std::size_t before = left.inside / 2;
    Piece right{left.first + before + 1, left.inside - before - 1, 0};
    const double per_point = left.squares / static_cast<double>(left.inside);
    right.squares = per_point * static_cast<double>(right.inside);
    left.squares = per_point * static_cast<double>(before);
    left.inside = before;
    pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(worst) + 1, right);
    return true;
  }

  std::size_t count() const { return pieces_.size() - 1 + kEnds; }

  std::vector<double> knots() const {
    std::vector<double> t(kDegree + 1, x_.front());
    for (std::size_t i = 1; i < pieces_.size(); ++i) t.push_back(x_[pieces_[i].first]);
    t.insert(t.end(), kDegree + 1, x_.back());
    return t;
  }

 private:
  std::span<const double> x_;
  std::vector<Piece> pieces_;
};

/// The knots of an interpolating spline; inner knots are midway between data points.
std::vector<double> interpolating_knots(std::span<const double> x) {
  std::vector<double> t(kDegree + 1, x.front());
  for (std::size_t i = 1; i + 2 < x.size(); ++i) t.push_back((x[i] + x[i + 1]) / 2);
  t.insert(t.end(), kDegree + 1, x.back());
  return t;
}

/// F at one p, which may be infinite.
struct Probe {
  double p = 0;
  double f = 0;  ///< F(p) - smoothing; falls with p
};

/// Where the rational function through three probes is zero.
double rational_zero(const Probe& low, const Probe& middle, const Probe& high) {
  const double a = low.f * (middle.f - high.f);
  const double b = middle.f * (high.f - low.f);
  const double c = high.f * (low.f - middle.f);
  if (std::isinf(high.p)) return -(low.p * b + middle.p * a) / c;
  return -(low.p * middle.p * c + middle.p * high.p * a + high.p * low.p * b) /
         (low.p * a + middle.p * b + high.p * c);
}

/// The zero of F(p) - smoothing between `low` (f > 0) and `high` (f < 0).
struct Search {
  Probe low;
  Probe high;
  bool low_met = false;  ///< a probe with f > 0 differed significantly from the first `low`
  bool high_met = false;

  /// The next p to try after `now`, whose |f| is at least `near`.
  double next(const Probe& now, double near, int step) {
    // `now` has nearly the same f as one end, which then shows no shape: step towards the other end.
    if (!high_met && now.f - high.f <= near) {
      high = now;
      return now.p / 25 > low.p ? now.p / 25 : 0.9 * low.p + 0.1 * now.p;
    }
    if (!low_met && low.f - now.f <= near) {
      low = now;
      return std::isinf(high.p) || 25 * now.p < high.p ? 25 * now.p : 0.1 * now.p + 0.9 * high.p;
    }
    (now.f < 0 ? high_met : low_met) = true;
    const double p = rational_zero(low, now, high);
    (now.f < 0 ? high : low) = now;
    // Bisect if rounding moves the zero out of the bracket or convergence is slow.
    if (step < kRationalSteps && p > low.p && p < high.p) return p;
    if (std::isinf(high.p)) return 25 * low.p;
    return low.p > 0 ? std::sqrt(low.p * high.p) : high.p / 25;
  }
};

}  // namespace

SmoothingSpline::SmoothingSpline(std::span<const double> x, std::span<const double> y,
                                 double smoothing) {
  const std::size_t m = x.size();
  if (m != y.size()) throw std::invalid_argument("SmoothingSpline: x and y of different lengths");
  if (m <= kDegree) throw std::invalid_argument("SmoothingSpline: fewer than three points");
  if (!(smoothing > 0)) throw std::invalid_argument("SmoothingSpline: smoothing must be above 0");
  for (std::size_t i = 0; i < m; ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i]) || (i > 0 && x[i] <= x[i - 1])) {
      throw std::invalid_argument("SmoothingSpline: x must increase and all be finite");
    }
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double near = kSmoothingTolerance * smoothing;
  const std::size_t most = m + kDegree + 1;
  // The authors' library stops once at this number of knots, then continues without a stop.
  std::size_t stop = std::max(m / 2, kEnds);

  KnotPlan plan(x);
  knots_ = plan.knots();
  Fit found = fit(knots_, x, y, kInfinity);
  const double parabola = found.residual;
  double last = 0;      // F before the last knots were added
  std::size_t add = 0;  // how many those were
  while (found.residual - smoothing >= near && knots_.size() < most) {
    if (knots_.size() == stop) {
      stop = most;
      add = 0;
    }
    if (add == 0) {
      add = 1;
    } else {
      // As many knots as are needed if each gains as much as the last ones did.
      const double gained = last - found.residual;
      const double wanted = gained > near
                                ? static_cast<double>(add) * (found.residual - smoothing) / gained
                                : 2 * static_cast<double>(add);
      const auto capped = static_cast<std::size_t>(std::min(wanted, 2 * static_cast<double>(add)));
      add = std::max({capped, add / 2, std::size_t{1}});
    }
    last = found.residual;
    plan.share(found.squares);
    for (std::size_t i = 0; i < add && plan.count() < stop; ++i) {
      if (!plan.split_worst()) break;
    }
    const bool stuck = plan.count() == knots_.size();
    knots_ = plan.count() >= most || stuck ? interpolating_knots(x) : plan.knots();
    found = fit(knots_, x, y, kInfinity);
  }

  // Without inner knots, or if F of the least-squares fit is already `smoothing`, there is nothing to smooth.
  if (knots_.size() > kEnds && found.residual - smoothing <= -near) {
    Search search{{0, parabola - smoothing}, {kInfinity, found.residual - smoothing}};
    double p = static_cast<double>(knots_.size() - kDegree - 1) / found.diagonal;
    for (int step = 0; step < kMaxSteps; ++step) {
      found = fit(knots_, x, y, p);
      const Probe now{p, found.residual - smoothing};
      if (std::abs(now.f) < near) break;
      p = search.next(now, near, step);
    }
  }
  coefficients_ = std::move(found.coefficients);
  residual_ = found.residual;
}

double SmoothingSpline::operator()(double t) const { return evaluate(knots_, coefficients_, t); }

}  // namespace corun::inline models
