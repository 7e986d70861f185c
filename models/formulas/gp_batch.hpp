#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/formulas/gp_formula.hpp"

/// A Gaussian process and the jobs it is asked about, as gp_formula.hpp wants them: what
/// GpModel::batch() gives, for predict() and for whoever scores whole queues.
namespace corun {

struct GpBatch {
  // The model. Its pointers are set by model().
  gp::Model formula;
  std::vector<double> own_places, partner_places, own_rates, partner_rates, weights, pressed;
  std::vector<std::uint32_t> first, own_of;
  std::span<const double> precision;  ///< the model's: it must stay, and learn nothing

  // The jobs, in the order asked: lines of `stride` numbers, a multiple of CpuKernels::kPadding.
  std::size_t count = 0;
  std::size_t stride = 0;
  std::vector<double> x, u, t, m;
  std::vector<std::int32_t> own, line;
  /// The partners of the data that are among the jobs: a line in every state for each.
  std::vector<std::uint32_t> known;
  // Filled in by gp::describe_partner() and gp::describe_own().
  std::vector<double> partner, smooth, alone, identity;

  gp::Model model() const {
    gp::Model out = formula;
    out.own_places = own_places.data();
    out.partner_places = partner_places.data();
    out.own_rates = own_rates.data();
    out.partner_rates = partner_rates.data();
    out.first = first.data();
    out.own_of = own_of.data();
    out.weights = weights.data();
    out.precision = precision.data();
    out.pressed = pressed.data();
    return out;
  }
  gp::Jobs jobs() {
    return {count,      stride,      x.data(),       u.data(),      t.data(),     m.data(),
            own.data(), line.data(), partner.data(), smooth.data(), alone.data(), identity.data()};
  }
  std::size_t size() const { return count; }
  gp::Layout layout() const { return {formula.width(), known.size()}; }
};

}  // namespace corun
