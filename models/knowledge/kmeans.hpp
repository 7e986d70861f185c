#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// k-means (PriRecT section IV, JRS section IV: how profiles become clusters) over rows of any number
/// of features, all of one unit or standardised.
///
/// Finds centres m_1 .. m_k and labels l_i that make the inertia small:
///
///     J = sum over rows i of |x_i - m_(l_i)|^2
///
/// Lloyd's iteration ("Least squares quantization in PCM", 1982) takes turns: each row to its nearest
/// centre, each centre to the mean of its rows. J falls with every turn, so it ends, in a local
/// optimum that depends on the start. Starts are k-means++ (Arthur and Vassilvitskii, SODA 2007: the
/// next centre is a row, drawn with a probability in proportion to its squared distance from the
/// centres drawn before), and the best of several wins.
///
/// Shapes: `rows` is n x `features`, row-major; centres are k x `features`, row-major; labels are n
/// numbers from 0 to k - 1. Cost: O(n k features) a turn; the silhouette O(n^2 features).
///
/// Repeatable to the byte: sums run over the rows in sorted order, so the outcome depends on what the
/// rows are and not on how they are ordered; of equally near centres the lowest number wins, of equal
/// inertias the first restart. Different seeds may end in different optima; those that end in the
/// same one give the same bytes.
///
/// std::invalid_argument: no rows, rows that are not a multiple of `features`, a value that is not
/// finite or above 1e150, k below 1, above n or above the number of different rows.
namespace corun {

struct KMeans {
  int k = 0;
  std::size_t features = 0;
  std::vector<double> centres;   ///< each the mean of its rows
  std::vector<int> labels;       ///< of the rows, in the order they were given
  double inertia = 0;            ///< J; [unit of the features squared]
  int iterations = 0;            ///< how often centres were moved, the last time in vain
  bool start_was_fixed = false;  ///< no label changed after the first assignment
  int reseeded = 0;              ///< how often a centre that had lost all its rows was moved
  int restart = 0;               ///< the start that won, from 0

  std::span<const double> centre(int cluster) const {
    return std::span(centres).subspan(static_cast<std::size_t>(cluster) * features, features);
  }
};

/// Lloyd's iteration from these centres until no label changes, or labels change and the inertia no
/// longer falls, which only rounding can bring about. Clusters keep the numbers of the centres they
/// came from. A centre without rows moves to the row that is farthest from its own centre, of those
/// that do not stand alone (of equally far ones the lowest in sorted order).
KMeans lloyd(std::span<const double> rows, std::size_t features, std::span<const double> start);

struct KMeansOptions {
  int k = 3;
  /// 1 or more. On the 175 samples of the papers one start in twenty ends in the best optimum: of 20
  /// seeds 8 find it in 10 starts, 18 in 50, all in 100. So many cost milliseconds there.
  int restarts = 200;
  std::uint64_t seed = 1;  ///< draws are Stream::kClustering, entity = restart
};

/// The best of `restarts` runs of lloyd() from k-means++ starts. Clusters are numbered by their
/// centres, ascending by the first feature (then by the second, and so on): use match_to() to follow
/// the numbers of known centres instead.
KMeans kmeans(std::span<const double> rows, std::size_t features, const KMeansOptions& options);

/// Renumbers the clusters such that the squared distances of the centres to those of the same number
/// in `reference` (k x features) have the least sum: over all permutations for k up to 8, of equal
/// ones the lexicographically first; beyond, the nearest pair of all that are left is matched first.
void match_to(KMeans& clusters, std::span<const double> reference);

/// Mean silhouette (Rousseeuw 1987) over all rows, from -1 to 1: (b - a) / max(a, b), where a is a
/// row's mean Euclidean distance to the others of its cluster and b that to the rows of the nearest
/// other cluster. A row that stands alone in its cluster counts 0, and so do all rows if there is
/// one cluster only. Labels are from 0 to n - 1.
double mean_silhouette(std::span<const double> rows, std::size_t features,
                       std::span<const int> labels);

/// What k clusters would give; both of kmeans() with these options.
struct ClusterCount {
  int k = 0;
  double inertia = 0;
  double silhouette = 0;
};

/// k = 1 .. max_k; `options.k` is not looked at.
std::vector<ClusterCount> distortion_curve(std::span<const double> rows, std::size_t features,
                                           int max_k, KMeansOptions options = {});

/// The k whose point lies farthest below the chord from (1, J_1) to (max_k, J_max_k); of equals the
/// smallest, and 1 if none lies below. No axis has to be scaled for that, yet the answer depends on
/// where the curve ends: of the papers' 175 samples it is 3 for max_k from 8 to 10, and 2 for
/// shorter curves. `curve` is distortion_curve()'s, not empty.
int elbow(std::span<const ClusterCount> curve);

}  // namespace corun
