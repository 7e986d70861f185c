#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// k-means, which makes clusters of profiles (PriRecT section IV, JRS section IV), over rows of any number of
/// features, all of one unit or standardised.
///
/// It searches centres m_1 .. m_k and labels l_i with a small inertia:
///
///     J = sum over rows i of |x_i - m_(l_i)|^2
///
/// Lloyd's iteration ("Least squares quantization in PCM", 1982) alternates two steps: it assigns each row to
/// its nearest centre and moves each centre to the mean of its rows. J falls in every turn, so the iteration
/// ends in a local optimum, which depends on the start. Starts are those of k-means++ (Arthur and
/// Vassilvitskii, SODA 2007: the next centre is a row, drawn with a probability proportional to its squared
/// distance to the nearest centre drawn before). The best of several starts is the result.
///
/// Shapes: `rows` is n x `features`, row-major; centres are k x `features`, row-major; labels are n
/// numbers from 0 to k - 1. Cost: O(n k features) a turn; the silhouette O(n^2 features).
///
/// Results are repeatable to the byte. Sums run over the sorted rows, so the result does not depend on the
/// order of rows; of equally near centres the lowest number is taken, of equal inertias the first restart.
/// Seeds that reach the same optimum give the same bytes.
///
/// std::invalid_argument: no rows, a length that is not a multiple of `features`, a value not finite or with
/// a modulus above 1e150, k below 1, above n or above the number of different rows.
namespace corun::inline models {

struct KMeans {
  int k = 0;
  std::size_t features = 0;
  std::vector<double> centres;   ///< the mean of each cluster, k x features, row-major
  std::vector<int> labels;       ///< one per row, in the caller's order
  double inertia = 0;            ///< J, in the unit of the features squared
  int iterations = 0;            ///< how often centres were moved
  bool start_was_fixed = false;  ///< no label changed after the first assignment
  int reseeded = 0;              ///< how often a centre without rows was moved
  int restart = 0;               ///< number of the best start, from 0

  std::span<const double> centre(int cluster) const {
    return std::span(centres).subspan(static_cast<std::size_t>(cluster) * features, features);
  }
};

/// Lloyd's iteration from the centres `start` (k x features), until no label changes, or until the inertia no
/// longer falls because of rounding. Clusters keep the numbers of their starting centres. A centre without
/// rows moves to the row that is farthest from its centre, among rows that are not alone in their cluster (of
/// equally far rows the lowest in sorted order).
KMeans lloyd(std::span<const double> rows, std::size_t features, std::span<const double> start);

struct KMeansOptions {
  int k = 3;
  /// 1 or more. On the papers' 175 samples, one start in twenty ends in the best optimum: of 20 seeds, 8 find
  /// it in 10 starts, 18 in 50, all in 100. 200 starts take milliseconds there.
  int restarts = 200;
  std::uint64_t seed = 1;  ///< of Stream::kClustering, entity = restart
};

/// The best of `restarts` runs of lloyd() from k-means++ starts. Clusters are numbered by their centres,
/// ascending by the first feature, then by the second, and so on; match_to() numbers them by known centres.
/// std::invalid_argument also for fewer than 1 restart.
KMeans kmeans(std::span<const double> rows, std::size_t features, const KMeansOptions& options);

/// Renumbers the clusters such that the sum of the squared distances between centres and `reference` centres
/// (k x features) of the same number is least: over all permutations for k up to 8, of equal ones the
/// lexicographically first; for larger k by matching the nearest remaining pair first. std::invalid_argument
/// for another number of reference centres.
void match_to(KMeans& clusters, std::span<const double> reference);

/// Mean silhouette (Rousseeuw 1987) over all rows, from -1 to 1: (b - a) / max(a, b), where a is the mean
/// Euclidean distance of a row to the others of its cluster and b the least mean distance to the rows of
/// another cluster. A row that is alone in its cluster counts 0, and so does every row if there is only one
/// cluster. One label per row, from 0 to n - 1; std::invalid_argument if not.
double mean_silhouette(std::span<const double> rows, std::size_t features,
                       std::span<const int> labels);

/// The inertia and the mean silhouette of kmeans() with k clusters.
struct ClusterCount {
  int k = 0;
  double inertia = 0;
  double silhouette = 0;
};

/// The results for k = 1 .. max_k; `options.k` has no effect.
std::vector<ClusterCount> distortion_curve(std::span<const double> rows, std::size_t features,
                                           int max_k, KMeansOptions options = {});

/// The k whose point is farthest below the chord from (1, J_1) to (max_k, J_max_k); of equals the smallest,
/// and 1 if no point is below. It does not depend on the scale of the axes, but on the end of the curve: for
/// the papers' 175 samples it is 3 for max_k from 8 to 10, and 2 for shorter curves. `curve`: from
/// distortion_curve(); std::invalid_argument if empty.
int elbow(std::span<const ClusterCount> curve);

}  // namespace corun::inline models
