#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/formulas/speed_belief.hpp"
#include "sim/base/math.hpp"

/// The equation of the contention model, compiled for every device. models/interference/contention.hpp has the equation in
/// words, its fit and its known error.
namespace corun::inline models {

/// What the equation reads of a job. All values are fractions.
struct ContentionLoad {
  double free_u = 0;    ///< (1 - m) u
  double u = 0;         ///< maximum GPU utilisation, a fraction
  double t = 0;         ///< share of time accessing memory
  double light = 0;     ///< max(0, 1 - u / 0.10): weight of the launch latency
  double overflow = 0;  ///< max(0, t - 0.5): memory time over capacity without co-runners

  /// u: maximum GPU utilisation; m: memory allocated; t: time accessing memory; fractions in [0, 1].
  static ContentionLoad of(double u, double m, double t) {
    return {(1 - m) * u, u, t, math::max(0.0, 1 - u / kLight), math::max(0.0, t - kKnee)};
  }
  static constexpr double kLight = 0.10;  ///< utilisation below which launch latency binds
  static constexpr double kKnee = 0.5;    ///< share of time beyond which memory traffic collides
};

struct ContentionEquation {
  static constexpr std::size_t kTerms = 4;
  double coefficients[kTerms] = {};  ///< c1 to c4, at least 0
  double deviation = 0;              ///< standard deviation of -log(speed) of a single co-run

  /// The four pressures on the slowed job, without coefficients. `others_*`: sums over its co-runners.
  CORUN_HOST_DEVICE_INLINE void pressures(const ContentionLoad& slowed, double others_free_u,
                                          double others_u, double others_t,
                                          double out[kTerms]) const {
    out[0] = slowed.free_u * others_free_u;
    out[1] = slowed.t * others_u;
    out[2] = slowed.light * others_u;
    out[3] = math::max(0.0, slowed.t + others_t - ContentionLoad::kKnee) - slowed.overflow;
  }
  /// Normalised speed in (0, 1], with its standard deviation and its reciprocal.
  CORUN_HOST_DEVICE_INLINE SpeedBelief speed(const ContentionLoad& slowed, double others_free_u,
                                             double others_u, double others_t) const {
    double p[kTerms];
    pressures(slowed, others_free_u, others_u, others_t, p);
    double excess = 0;
    for (std::size_t k = 0; k < kTerms; ++k) excess += coefficients[k] * p[k];
    const double speed = 1 / (1 + excess);
    return {speed, speed * deviation, math::inverse(speed, 1 + excess)};
  }
};

/// Many jobs, one entry per job in each array. The arrays lie in the memory of the device that reads them.
struct ContentionView {
  ContentionEquation equation;
  const double* free_u = nullptr;
  const double* u = nullptr;
  const double* t = nullptr;
  const double* light = nullptr;
  const double* overflow = nullptr;

  static constexpr bool kNeverFaster = true;  ///< no speed is above 1
  /// One job, in registers.
  using Job = ContentionLoad;
  CORUN_HOST_DEVICE_INLINE Job job(std::size_t i) const {
    return {free_u[i], u[i], t[i], light[i], overflow[i]};
  }
  CORUN_HOST_DEVICE_INLINE SpeedBelief beside(const Job& slowed, const Job& co_runner) const {
    return equation.speed(slowed, co_runner.free_u, co_runner.u, co_runner.t);
  }
  /// Speed of residents[slowed] beside all other residents. `residents`: `count` positions of jobs.
  CORUN_HOST_DEVICE_INLINE double with_co_runners(const std::uint32_t* residents, std::size_t count,
                                                  std::size_t slowed) const {
    double others_free_u = 0;
    double others_u = 0;
    double others_t = 0;
    for (std::size_t r = 0; r < count; ++r) {
      if (r == slowed) continue;
      others_free_u += free_u[residents[r]];
      others_u += u[residents[r]];
      others_t += t[residents[r]];
    }
    // A job alone has speed 1 exactly: the equation could give a rounded quotient.
    return count == 1
               ? 1.0
               : equation.speed(job(residents[slowed]), others_free_u, others_u, others_t).speed;
  }
};

/// The jobs of a ContentionView, in vectors of the host.
struct ContentionJobs {
  using View = ContentionView;
  ContentionEquation equation;
  std::vector<double> free_u, u, t, light, overflow;

  void add(const ContentionLoad& job) {
    free_u.push_back(job.free_u);
    u.push_back(job.u);
    t.push_back(job.t);
    light.push_back(job.light);
    overflow.push_back(job.overflow);
  }
  std::size_t size() const { return u.size(); }
  /// A view of the arrays at at(array) (short_formula.hpp).
  template <class At>
  ContentionView view(const At& at) const {
    return {equation, at(free_u), at(u), at(t), at(light), at(overflow)};
  }
};

}  // namespace corun::inline models
