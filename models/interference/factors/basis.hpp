#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/interference/factors/state.hpp"

/// What a job looks like to a FactorModel: phi = (1, x, kernel features), without unit.
///
/// x: the features, those on a log scale as logarithms and beside them the difference of every two of these,
/// standardised over the jobs seen, at most kFarthest deviations from the mean; NaN is the mean. Kernel
/// features: k(x, seen) V omega^(-1/2), from the eigenvectors V and eigenvalues omega of k among the jobs
/// seen, the heaviest kMostKernelFeatures of them, where
///
///   k(x, y) = exp(-|x - y|^2 / 2) + exp(-|x - y|^2 / 8) + mean_f exp(-(x_f - y_f)^2 / 2)
///
/// so that a linear model of phi is a linear model of x plus a Gaussian process of low rank. Source:
/// Williams and Seeger, "Using the Nystroem method to speed up kernel machines", NIPS 2000.
namespace corun::factors {

/// Features further from the mean than this many deviations count as this far: nobody has seen what
/// is out there, and factors that grow with them multiply.
inline constexpr double kFarthest = 10;
/// The most kernel features: what they cost grows with their cube.
inline constexpr std::size_t kMostKernelFeatures = 64;
/// k of a job and itself.
inline constexpr double kKernelOfItself = 3;

/// x of a job. std::invalid_argument as expand_features().
std::vector<double> standardised(const FactorState& state, std::span<const double> features);
/// How many kernel features there are.
std::size_t kernel_features(const FactorState& state);
/// phi of a job, from its x.
std::vector<double> basis_of(const FactorState& state, std::span<const double> x);

/// From `raw`, the features of the jobs seen as expand_features() has them: mean and deviation of x.
void learn_standardisation(const std::vector<std::vector<double>>& raw, FactorState& state);
/// From the inducing points: kernel_root.
void learn_kernel(FactorState& state);

}  // namespace corun::factors
