#include "models/knowledge/interpolation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

// clang-format off
// Boost 1.74's pchip calls ::isnan, so <math.h> goes before it.
#include <math.h>  // NOLINT(modernize-deprecated-headers)
#include <boost/math/interpolators/pchip.hpp>
// clang-format on

#include "models/knowledge/smoothing_spline.hpp"

namespace corun::interpolation_test {
namespace {

using Values = std::vector<double>;

const Values kRows{0, 5, 10, 15, 20};
const Values kMobileNet{46.07, 50.6, 47.93, 39.53, 23.87};  // measured MGUP of the data set
const Values kUneven{1, 2, 4, 8, 10, 20};
const Values kUnevenY{3, 4, 4, 7, 6.5, 1};

void expect_near(const Values& ours, const Values& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(ours.size(), expected.size()) << what;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_NEAR(ours[i], expected[i], tolerance) << what << " [" << i << "]";
  }
}

std::string refusal(Technique technique, const Values& x, const Values& y, const Values& at) {
  try {
    interpolate(technique, x, y, at);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Interpolation, TheTableNamesEveryTechniqueOnce) {
  std::set<std::string_view> names;
  int position = 0;
  for (const TechniqueEntry& entry : technique_catalog()) {
    EXPECT_EQ(static_cast<int>(entry.technique), position++);
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.description.empty()) << entry.name;
    EXPECT_EQ(find_technique(entry.name), entry.technique);
    EXPECT_EQ(technique_name(entry.technique), entry.name);
  }
  EXPECT_EQ(position, 6);
  EXPECT_EQ(find_technique("spline"), std::nullopt);
}

TEST(Interpolation, AllButTheSmoothingSplinePassThroughThePoints) {
  for (const TechniqueEntry& entry : technique_catalog()) {
    const Values back = interpolate(entry.technique, kUneven, kUnevenY, kUneven);
    if (entry.technique != Technique::kSpline2) {
      expect_near(back, kUnevenY, 1e-12, std::string(entry.name));
      continue;
    }
    const Values rough{30, 40, 10, 70, 65, 10};
    double off = 0;
    const Values smooth = interpolate(entry.technique, kUneven, rough, kUneven);
    for (std::size_t i = 0; i < rough.size(); ++i) off += std::pow(smooth[i] - rough[i], 2);
    EXPECT_NEAR(off, 6, 6e-3);
  }
}

TEST(Interpolation, TheDirectionOfTheAxisDoesNotMatter) {
  const Values at{0.5, 3, 5, 9, 15, 21};
  for (const TechniqueEntry& entry : technique_catalog()) {
    const Values up = interpolate(entry.technique, kUneven, kUnevenY, at);
    const Values down = interpolate(entry.technique, Values(kUneven.rbegin(), kUneven.rend()),
                                    Values(kUnevenY.rbegin(), kUnevenY.rend()), at);
    EXPECT_EQ(up, down) << entry.name;
  }
}

TEST(Interpolation, PolynomialsComeBackExactlyInsideAndOutside) {
  const auto quartic = [](double t) { return 3 - t + 0.5 * t * t - 0.02 * t * t * t * t; };
  const auto cubic = [](double t) { return 2 + t - 0.3 * t * t + 0.1 * t * t * t; };
  const auto parabola = [](double t) { return 2 + 3 * t - 0.25 * t * t; };
  const auto line = [](double t) { return 4 - 2 * t; };
  const Values x{-1, 0.5, 2, 3, 7};
  const Values at{-2, -0.3, 1, 2.5, 5, 8.5};
  const auto check = [&](Technique technique, const auto& f) {
    Values y;
    Values expected;
    for (const double t : x) y.push_back(f(t));
    for (const double t : at) expected.push_back(f(t));
    expect_near(interpolate(technique, x, y, at), expected, 1e-11,
                std::string(technique_name(technique)));
  };
  check(Technique::kBarycentric, quartic);
  check(Technique::kKrogh, quartic);
  check(Technique::kCubicSpline, cubic);
  check(Technique::kSpline2, parabola);
  check(Technique::kPchip, line);
}

TEST(Interpolation, LinearHoldsTheEnds) {
  expect_near(interpolate(Technique::kLinear, kRows, kMobileNet, Values{-7, 0, 2.5, 6, 20, 99}),
              {46.07, 46.07, 48.335, 50.066, 23.87, 23.87}, 1e-12, "linear");
}

// SciPy 1.10: PchipInterpolator, CubicSpline, KroghInterpolator, UnivariateSpline(k=2).
TEST(Interpolation, AgreesWithSciPy) {
  const Values rows{-2.5, 1, 7, 12.5, 19, 23};
  expect_near(interpolate(Technique::kPchip, kRows, kMobileNet, rows),
              {41.45374999999999, 47.581759999999996, 50.049155121951216, 44.59032885266509,
               27.61785077306733, 11.620113915211963},
              1e-12, "pchip");
  expect_near(interpolate(Technique::kCubicSpline, kRows, kMobileNet, rows),
              {40.411249999999995, 47.65856, 50.271679999999996, 44.495, 27.692240000000005,
               10.040719999999979},
              1e-12, "cubicspline");
  expect_near(interpolate(Technique::kSpline2, kRows, kMobileNet, rows),
              {41.46982142857142, 47.500571428571426, 50.329657142857144, 44.590250000000005,
               27.531371428571425, 11.500399999999988},
              1e-11, "spline2");
  const Values at{0.5, 3, 5, 9, 15, 21};
  expect_near(interpolate(Technique::kPchip, kUneven, kUnevenY, at),
              {2.5, 4.0, 4.46875, 6.8293269230769225, 4.353365384615384, 0.1730961538461531}, 1e-12,
              "pchip, uneven");
  expect_near(interpolate(Technique::kCubicSpline, kUneven, kUnevenY, at),
              {1.8749371859296482, 4.047571189279732, 4.511385050251256, 7.024549832495812,
               0.4048890284757123, 3.4191478224455594},
              1e-12, "cubicspline, uneven");
  const Values polynomial{1.7188720703125,   4.0381182992202715,  4.324600563909774,
                          7.291362085769983, -20.253639741715382, 41.21420304232788};
  expect_near(interpolate(Technique::kKrogh, kUneven, kUnevenY, at), polynomial, 1e-11, "krogh");
  expect_near(interpolate(Technique::kBarycentric, kUneven, kUnevenY, at), polynomial, 1e-11,
              "barycentric");
  // Knots at data points 4 and 8: the spline is not a parabola.
  Values ten;
  for (const double y : kUnevenY) ten.push_back(10 * y);
  expect_near(interpolate(Technique::kSpline2, kUneven, ten, at),
              {24.972874759903988, 40.16377233095241, 46.53209243719995, 68.61169396956602,
               43.00596108614339, 2.113807971553838},
              1e-9, "spline2, uneven");
}

TEST(Interpolation, PchipKeepsMonotoneDataMonotone) {
  const Values x{0, 1, 1.5, 4, 4.2, 9, 10};
  const Values y{0, 0.1, 5, 5, 5.2, 60, 60.1};
  Values at;
  for (int i = 0; i <= 1000; ++i) at.push_back(i * 0.01);
  const Values curve = interpolate(Technique::kPchip, x, y, at);
  EXPECT_TRUE(std::ranges::is_sorted(curve, [](double a, double b) { return a < b - 1e-12; }));
  // The other techniques overshoot with these data, so the test can fail.
  const Values cubic = interpolate(Technique::kCubicSpline, x, y, at);
  EXPECT_FALSE(std::ranges::is_sorted(cubic, [](double a, double b) { return a < b - 1e-12; }));
}

TEST(Interpolation, PchipIsBoostsInsideOnceItHasTheEndSlopes) {
  // One-sided three-point slopes: (3 d0 - d1) / 2 on an even grid.
  const double left = (3 * 4.53 + 2.67) / 2 / 5;
  const double right = (3 * -15.66 + 8.4) / 2 / 5;
  Values x = kRows;
  Values y = kMobileNet;
  const boost::math::interpolators::pchip<Values> boost_curve(std::move(x), std::move(y), left,
                                                              right);
  for (double t = 0; t < 20; t += 0.37) {
    EXPECT_NEAR(interpolate(Technique::kPchip, kRows, kMobileNet, Values{t})[0], boost_curve(t),
                1e-12);
  }
}

TEST(Interpolation, SplinesAreSmoothAcrossKnots) {
  // Differences of the derivatives on both sides of the inner points, computed from the curve.
  constexpr double kStep = 1e-3;
  const auto derivatives = [&](Technique technique, double knot, double side) {
    const double h = side * kStep;
    const Values v = interpolate(technique, kUneven, kUnevenY,
                                 Values{knot, knot + h, knot + 2 * h, knot + 3 * h});
    // The difference formula is exact for cubics.
    const double first = (-11 * v[0] + 18 * v[1] - 9 * v[2] + 2 * v[3]) / (6 * h);
    const double second = (2 * v[0] - 5 * v[1] + 4 * v[2] - v[3]) / (h * h);
    return std::pair{first, second};
  };
  for (const double knot : {2.0, 4.0, 8.0, 10.0}) {
    const auto below = derivatives(Technique::kCubicSpline, knot, -1);
    const auto above = derivatives(Technique::kCubicSpline, knot, 1);
    EXPECT_NEAR(below.first, above.first, 1e-9) << knot;
    EXPECT_NEAR(below.second, above.second, 1e-6) << knot;
    EXPECT_NEAR(derivatives(Technique::kPchip, knot, -1).first,
                derivatives(Technique::kPchip, knot, 1).first, 1e-9)
        << knot;
  }
}

TEST(Interpolation, TooFewPointsGiveThePolynomialThroughThem) {
  for (const TechniqueEntry& entry : technique_catalog()) {
    const std::string name(entry.name);
    expect_near(interpolate(entry.technique, Values{3}, Values{7}, Values{-1, 3, 9}), {7, 7, 7}, 0,
                name);
    const bool held = entry.technique == Technique::kLinear;
    expect_near(interpolate(entry.technique, Values{1, 3}, Values{2, 6}, Values{0, 2, 4}),
                held ? Values{2, 4, 6} : Values{0, 4, 8}, 1e-12, name);
  }
  for (const Technique technique :
       {Technique::kBarycentric, Technique::kKrogh, Technique::kCubicSpline, Technique::kSpline2}) {
    expect_near(interpolate(technique, Values{0, 1, 3}, Values{0, 1, 9}, Values{-1, 2, 4}),
                {1, 4, 16}, 1e-12, std::string(technique_name(technique)));
  }
  // Three points are enough for pchip; SciPy.
  expect_near(interpolate(Technique::kPchip, Values{0, 1, 3}, Values{0, 1, 1.5}, Values{0.5, 2, 4}),
              {0.6026785714285714, 1.3571428571428572, 1.3214285714285712}, 1e-12, "pchip");
}

TEST(Interpolation, RefusesWhatIsNoCurve) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const TechniqueEntry& entry : technique_catalog()) {
    const Technique t = entry.technique;
    EXPECT_EQ(refusal(t, {}, {}, {1}), "interpolate: no points");
    EXPECT_EQ(refusal(t, {1, 2}, {1}, {1}), "interpolate: 2 positions but 1 values");
    EXPECT_EQ(refusal(t, {1, kNan}, {1, 2}, {1}), "interpolate: x[1] is not a finite number");
    EXPECT_EQ(refusal(t, {1, 2}, {kNan, 2}, {1}), "interpolate: y[0] is not a finite number");
    EXPECT_EQ(refusal(t, {1, 2}, {1, 2}, {1, 2, kInf}),
              "interpolate: at[2] is not a finite number");
    for (const Values& x : {Values{1, 2, 2, 3}, Values{3, 2, 2, 1}, Values{1, 3, 2, 4}}) {
      EXPECT_EQ(refusal(t, x, {1, 2, 3, 4}, {1}),
                "interpolate: x must be strictly increasing or decreasing");
    }
  }
}

TEST(Interpolation, APolynomialThatOverflowsSaysSo) {
  Values x;
  Values y;
  for (int i = 0; i < 400; ++i) {
    x.push_back(i);
    y.push_back(i % 7);
  }
  EXPECT_NE(refusal(Technique::kKrogh, x, y, {1e6}).find("krogh through 400 points overflows"),
            std::string::npos);
  // The weights of the barycentric form do not overflow with so many points, and it reproduces the points.
  EXPECT_EQ(interpolate(Technique::kBarycentric, x, y, Values{123})[0], 123 % 7);
}

TEST(SmoothingSpline, KeepsTheResidualItWasGiven) {
  // Utilisation near MobileNet's measured rows; knots and values of SciPy for three values of `smoothing`.
  const Values x{1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18, 19};
  const Values y{83.3,  72,   63.63, 57.69, 51.33, 50.13, 49.82, 50.09,
                 51.51, 52.3, 52.97, 53.46, 53.79, 53.7,  53.57, 53.51};
  const Values at{0, 5, 10, 15, 20};
  struct Case {
    double scale;
    Values inner;
    Values expected;
  };
  const Case cases[] = {
      {0.3,
       {11},
       {24.48114817335864, 17.65537792181882, 14.805454456204796, 15.30192434052465,
        17.846539863045052}},
      {1,
       {6, 11},
       {90.77666938820768, 55.16729267335191, 49.58612004854432, 53.63986735325305,
        53.22582637781551}},
      {2,
       {6, 11},
       {187.1571672167895, 108.16374052979094, 99.90556864921601, 107.83450591383496,
        104.96012204397685}},
  };
  for (const Case& c : cases) {
    Values scaled;
    for (const double v : y) scaled.push_back(c.scale * v);
    const SmoothingSpline spline(x, scaled, 16);
    EXPECT_NEAR(spline.residual(), 16, 0.016) << c.scale;
    const auto knots = spline.knots();
    EXPECT_EQ(Values(knots.begin() + 3, knots.end() - 3), c.inner) << c.scale;
    for (std::size_t i = 0; i < at.size(); ++i) {
      EXPECT_NEAR(spline(at[i]), c.expected[i], 1e-8) << c.scale;
    }
    double residual = 0;
    for (std::size_t i = 0; i < x.size(); ++i) residual += std::pow(spline(x[i]) - scaled[i], 2);
    EXPECT_NEAR(residual, spline.residual(), 1e-9) << c.scale;
  }
}

TEST(SmoothingSpline, MoreRoomMeansFewerKnotsAndZeroIsRefused) {
  Values x;
  Values y;
  for (int i = 0; i < 24; ++i) {
    x.push_back(i);
    y.push_back(40 + 30 * std::sin(i / 3.0) + (i % 2));
  }
  std::size_t last = x.size() + 4;
  for (const double smoothing : {1e-3, 1.0, 50.0, 1e3, 1e6}) {
    const SmoothingSpline spline(x, y, smoothing);
    EXPECT_LE(spline.knots().size(), last) << smoothing;
    EXPECT_LE(spline.residual(), smoothing * 1.001) << smoothing;
    last = spline.knots().size();
  }
  EXPECT_EQ(last, 6u);  // the parabola
  EXPECT_THROW(SmoothingSpline(x, y, 0), std::invalid_argument);
  EXPECT_THROW(SmoothingSpline(x, y, std::nan("")), std::invalid_argument);
  EXPECT_THROW(SmoothingSpline(Values{1, 2}, Values{1, 2}, 1), std::invalid_argument);
  EXPECT_THROW(SmoothingSpline(Values{1, 2, 2}, Values{1, 2, 3}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace corun::interpolation_test
