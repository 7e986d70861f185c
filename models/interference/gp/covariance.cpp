#include "models/interference/gp/covariance.hpp"

#include <cmath>

#include "sim/base/math.hpp"

namespace corun::inline models::gp {

double dot(const Pressures& x, const Pressures& y) {
  double sum = 0;
  for (std::size_t p = 0; p < x.size(); ++p) sum += x[p] * y[p];
  return sum;
}

Covariance::Covariance(std::span<const double> parameters) {
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    scales_.push_back(math::exp(p < kLengths ? parameters[p] : -parameters[p]));
  }
}

double Covariance::kernel(const Place& x, const Place& y, std::span<const double> rates) {
  double distance = 0;
  for (std::size_t f = 0; f < x.x.size(); ++f) {
    const double d = (x.x[f] - y.x[f]) * rates[f];
    distance += d * d;
  }
  return math::exp(-distance / 2);
}

std::vector<double> Covariance::own(const Place& place, const std::vector<Place>& places) const {
  std::vector<double> out;
  out.reserve(places.size());
  for (const Place& other : places) out.push_back(own(place, other));
  return out;
}

std::vector<double> Covariance::co_runner(const Place& place,
                                          const std::vector<Place>& places) const {
  std::vector<double> out;
  out.reserve(places.size());
  for (const Place& other : places) out.push_back(co_runner(place, other));
  return out;
}

double Covariance::of(const Pair& pair) const {
  const std::vector<double>& s = scales_;
  double slowed = pair.own;
  double co_runner = pair.co_runner;
  double sum =
      s[kConstant] + s[kOwn] * slowed + s[kCoRunner] * co_runner + s[kPressures] * pair.pressures;
  if (pair.same_own) {
    sum += s[kOwnIdentity];
    slowed += s[kProductOwn];
  }
  if (pair.same_co_runner) {
    sum += s[kCoRunnerIdentity];
    co_runner += s[kProductCoRunner];
  }
  return sum + s[kProduct] * slowed * co_runner;
}

}  // namespace corun::inline models::gp
