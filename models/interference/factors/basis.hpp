#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/interference/factors/state.hpp"

/// The features of a job in a FactorModel: phi = (1, x, kernel features), without unit.
///
/// x are the features, those on a log scale as logarithms, and the difference of every two logarithms. They
/// are standardised over the seen jobs and limited to kFarthest deviations from the mean; NaN becomes the
/// mean. The kernel features are k(x, seen) V omega^(-1/2), with the eigenvectors V and eigenvalues omega of
/// k among the seen jobs, for the kMostKernelFeatures largest eigenvalues, where
///
///   k(x, y) = exp(-|x - y|^2 / 2) + exp(-|x - y|^2 / 8) + mean_f exp(-(x_f - y_f)^2 / 2)
///
/// A linear model of phi is therefore a linear model of x plus a Gaussian process of low rank. Source:
/// Williams and Seeger, "Using the Nystroem method to speed up kernel machines", NIPS 2000.
namespace corun::inline models::factors {

/// Bound of the modulus of standardised features: beyond it there are no data, and products of factors would
/// grow without limit.
inline constexpr double kFarthest = 10;
/// The most kernel features; their cost grows with the cube of their number.
inline constexpr std::size_t kMostKernelFeatures = 64;
/// k(x, x).
inline constexpr double kKernelOfItself = 3;

/// x of a job. std::invalid_argument as expand_features().
std::vector<double> standardised(const FactorState& state, std::span<const double> features);
/// The number of kernel features.
std::size_t kernel_features(const FactorState& state);
/// phi of a job, from its x.
std::vector<double> basis_of(const FactorState& state, std::span<const double> x);

/// Sets mean and deviation of x. `raw`: expand_features() of each seen job.
void learn_standardisation(const std::vector<std::vector<double>>& raw, FactorState& state);
/// Sets kernel_root from the inducing points. std::logic_error if the eigenvalue solver fails.
void learn_kernel(FactorState& state);

}  // namespace corun::inline models::factors
