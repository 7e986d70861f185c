#include "models/knowledge/kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/rng.hpp"

namespace corun::inline models {
namespace {

/// Sums of squares of larger values could overflow.
constexpr double kMaxValue = 1e150;
constexpr int kMaxPermuted = 8;  ///< 40320 permutations
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t at(int cluster) { return static_cast<std::size_t>(cluster); }

double square_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t f = 0; f < a.size(); ++f) {
    const double difference = a[f] - b[f];
    sum += difference * difference;
  }
  return sum;
}

std::span<const double> row_of(std::span<const double> rows, std::size_t features, std::size_t i) {
  return rows.subspan(i * features, features);
}

[[noreturn]] void refuse(const std::string& message) {
  throw std::invalid_argument("k-means: " + message);
}

/// The number of rows.
std::size_t check_rows(std::span<const double> rows, std::size_t features,
                       const std::string& row = "row") {
  if (features == 0) refuse("rows without features, expected one or more");
  if (rows.empty()) refuse("no " + row + "s, expected one or more");
  if (rows.size() % features != 0) {
    refuse(std::to_string(rows.size()) + " values, expected a multiple of " +
           std::to_string(features) + ", the number of features");
  }
  const auto is_bad = [](double value) { return !(std::fabs(value) <= kMaxValue); };  // or NaN
  const auto bad = std::ranges::find_if(rows, is_bad);
  if (bad != rows.end()) {
    const auto i = static_cast<std::size_t>(bad - rows.begin());
    const std::string found = std::isnan(*bad)   ? "NaN"
                              : std::isinf(*bad) ? "infinite"
                                                 : "too large to square";
    refuse("feature " + std::to_string(i % features) + " of " + row + " " +
           std::to_string(i / features) + " is " + found + ", expected a number of at most 1e150");
  }
  return rows.size() / features;
}

/// The rows in lexicographic order, with their original positions, so that results do not depend on the order
/// of the caller's rows.
struct Points {
  std::vector<double> values;
  std::vector<std::size_t> origin;
  std::size_t features = 0;

  std::size_t size() const { return origin.size(); }
  std::span<const double> operator[](std::size_t i) const { return row_of(values, features, i); }
};

Points sorted(std::span<const double> rows, std::size_t features) {
  Points points;
  points.features = features;
  points.origin.resize(check_rows(rows, features));
  std::iota(points.origin.begin(), points.origin.end(), std::size_t{0});
  std::ranges::stable_sort(points.origin, [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(row_of(rows, features, a),
                                                row_of(rows, features, b));
  });
  points.values.reserve(rows.size());
  for (const std::size_t i : points.origin) {
    const auto row = row_of(rows, features, i);
    points.values.insert(points.values.end(), row.begin(), row.end());
  }
  return points;
}

void check_count(const Points& points, int k) {
  if (k < 1) refuse("k is " + std::to_string(k) + ", expected 1 or more");
  if (at(k) > points.size()) {
    refuse("k is " + std::to_string(k) + ", expected at most the number of rows, " +
           std::to_string(points.size()));
  }
  std::size_t different = 1;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (!std::ranges::equal(points[i], points[i - 1])) ++different;
  }
  if (at(k) > different) {
    refuse("k is " + std::to_string(k) + " and only " + std::to_string(different) + " of " +
           std::to_string(points.size()) +
           " rows differ, expected at least k different rows; choose a smaller k");
  }
}

/// The labels of the points for given centres.
struct Assignment {
  std::vector<int> labels;
  double cost = 0;  ///< sum of squared distances to the centres
  int reseeded = 0;
};

/// Gives every centre without rows the farthest row of a cluster of two or more. A single row stays, because
/// its cluster would be empty. With k different rows there is always a row to move.
void reseed(Assignment& assignment, std::vector<double>& distances, int k) {
  std::vector<std::size_t> sizes(at(k));
  for (const int label : assignment.labels) ++sizes[at(label)];
  for (int cluster = 0; cluster < k; ++cluster) {
    if (sizes[at(cluster)] > 0) continue;
    std::size_t farthest = distances.size();
    for (std::size_t i = 0; i < distances.size(); ++i) {
      if (sizes[at(assignment.labels[i])] < 2) continue;
      if (farthest == distances.size() || distances[i] > distances[farthest]) farthest = i;
    }
    --sizes[at(assignment.labels[farthest])];
    ++sizes[at(cluster)];
    assignment.labels[farthest] = cluster;
    distances[farthest] = 0;
    ++assignment.reseeded;
  }
}

Assignment assign(const Points& points, std::span<const double> centres, int k) {
  Assignment result;
  result.labels.resize(points.size());
  std::vector<double> distances(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    double nearest = kInfinity;
    for (int c = 0; c < k; ++c) {
      const double distance = square_distance(points[i], row_of(centres, points.features, at(c)));
      if (distance < nearest) {
        nearest = distance;
        result.labels[i] = c;
      }
    }
    distances[i] = nearest;
  }
  reseed(result, distances, k);
  for (const double distance : distances) result.cost += distance;
  return result;
}

/// The mean of each cluster; none is empty.
std::vector<double> means(const Points& points, const std::vector<int>& labels, int k) {
  std::vector<double> centres(at(k) * points.features);
  std::vector<double> sizes(at(k));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto row = points[i];
    for (std::size_t f = 0; f < row.size(); ++f) centres[at(labels[i]) * row.size() + f] += row[f];
    ++sizes[at(labels[i])];
  }
  for (std::size_t j = 0; j < centres.size(); ++j) centres[j] /= sizes[j / points.features];
  return centres;
}

/// Lloyd's iteration; labels are in the order of the sorted points.
KMeans iterate(const Points& points, std::span<const double> start, int k) {
  KMeans result;
  result.k = k;
  result.features = points.features;
  Assignment now = assign(points, start, k);
  result.reseeded = now.reseeded;
  for (;;) {
    result.centres = means(points, now.labels, k);
    ++result.iterations;
    Assignment next = assign(points, result.centres, k);
    if (next.labels == now.labels) {
      result.start_was_fixed = result.iterations == 1 && now.reseeded == 0;
      break;
    }
    // The cost falls with every change, except by rounding if a row is halfway between two centres; then
    // labels could alternate without end.
    if (!(next.cost < now.cost)) break;
    result.reseeded += next.reseeded;
    now = std::move(next);
  }
  result.labels = std::move(now.labels);
  for (std::size_t i = 0; i < points.size(); ++i) {
    result.inertia += square_distance(points[i], result.centre(result.labels[i]));
  }
  return result;
}

void restore_order(KMeans& clusters, const Points& points) {
  std::vector<int> labels(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) labels[points.origin[i]] = clusters.labels[i];
  clusters.labels = std::move(labels);
}

/// Cluster `from[c]` becomes cluster c.
void renumber(KMeans& clusters, const std::vector<int>& from) {
  std::vector<double> centres;
  std::vector<int> to(at(clusters.k));
  for (int c = 0; c < clusters.k; ++c) {
    const auto centre = clusters.centre(from[at(c)]);
    centres.insert(centres.end(), centre.begin(), centre.end());
    to[at(from[at(c)])] = c;
  }
  clusters.centres = std::move(centres);
  for (int& label : clusters.labels) label = to[at(label)];
}

std::vector<int> identity(int k) {
  std::vector<int> numbers(at(k));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

void number_by_centres(KMeans& clusters) {
  std::vector<int> order = identity(clusters.k);
  std::ranges::sort(order, [&](int a, int b) {
    return std::ranges::lexicographical_compare(clusters.centre(a), clusters.centre(b));
  });
  renumber(clusters, order);
}

/// Starting centres by k-means++. There are `k` different rows, so every draw has some weight left.
std::vector<double> spread_start(const Points& points, int k, Rng rng) {
  std::vector<double> centres;
  std::vector<double> weights(points.size(), kInfinity);
  std::size_t chosen = rng.below(static_cast<std::uint32_t>(points.size()));
  for (int c = 0;; ++c) {
    const auto centre = points[chosen];
    centres.insert(centres.end(), centre.begin(), centre.end());
    if (c + 1 == k) return centres;
    double total = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      weights[i] = std::min(weights[i], square_distance(points[i], centre));
      total += weights[i];
    }
    double left = rng.uniform() * total;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (weights[i] <= 0) continue;
      chosen = i;  // the last row with weight also takes the rest from rounding
      if (left < weights[i]) break;
      left -= weights[i];
    }
  }
}

KMeans best_of(const Points& points, const KMeansOptions& options) {
  check_count(points, options.k);
  if (options.restarts < 1) {
    refuse(std::to_string(options.restarts) + " restarts, expected 1 or more");
  }
  KMeans best;
  for (int restart = 0; restart < options.restarts; ++restart) {
    const Rng rng(options.seed, Stream::kClustering, static_cast<std::uint64_t>(restart));
    KMeans found = iterate(points, spread_start(points, options.k, rng), options.k);
    if (restart > 0 && !(found.inertia < best.inertia)) continue;
    best = std::move(found);
    best.restart = restart;
  }
  number_by_centres(best);
  return best;
}

std::vector<int> best_permutation(const std::vector<double>& costs, int k) {
  std::vector<int> order = identity(k);
  std::vector<int> best = order;
  double least = kInfinity;
  do {
    double cost = 0;
    for (int c = 0; c < k; ++c) cost += costs[at(c) * at(k) + at(order[at(c)])];
    if (cost < least) {
      least = cost;
      best = order;
    }
  } while (std::ranges::next_permutation(order).found);
  return best;
}

std::vector<int> nearest_first(std::vector<double> costs, int k) {
  std::vector<int> from(at(k));
  for (int matched = 0; matched < k; ++matched) {
    const auto least = static_cast<std::size_t>(std::ranges::min_element(costs) - costs.begin());
    const std::size_t reference = least / at(k);
    const std::size_t cluster = least % at(k);
    from[reference] = static_cast<int>(cluster);
    for (std::size_t c = 0; c < at(k); ++c) {
      costs[reference * at(k) + c] = kInfinity;
      costs[c * at(k) + cluster] = kInfinity;
    }
  }
  return from;
}

}  // namespace

KMeans lloyd(std::span<const double> rows, std::size_t features, std::span<const double> start) {
  const Points points = sorted(rows, features);
  const int k = static_cast<int>(check_rows(start, features, "starting centre"));
  check_count(points, k);
  KMeans result = iterate(points, start, k);
  restore_order(result, points);
  return result;
}

KMeans kmeans(std::span<const double> rows, std::size_t features, const KMeansOptions& options) {
  const Points points = sorted(rows, features);
  KMeans result = best_of(points, options);
  restore_order(result, points);
  return result;
}

void match_to(KMeans& clusters, std::span<const double> reference) {
  if (check_rows(reference, clusters.features, "reference centre") != at(clusters.k)) {
    refuse("reference centres of another number than clusters, expected " +
           std::to_string(clusters.k));
  }
  std::vector<double> costs;  // reference x cluster
  for (int r = 0; r < clusters.k; ++r) {
    for (int c = 0; c < clusters.k; ++c) {
      costs.push_back(
          square_distance(row_of(reference, clusters.features, at(r)), clusters.centre(c)));
    }
  }
  renumber(clusters, clusters.k <= kMaxPermuted ? best_permutation(costs, clusters.k)
                                                : nearest_first(std::move(costs), clusters.k));
}

double mean_silhouette(std::span<const double> rows, std::size_t features,
                       std::span<const int> labels) {
  const std::size_t n = check_rows(rows, features);
  if (labels.size() != n ||
      std::ranges::any_of(labels, [&](int label) { return label < 0 || at(label) >= n; })) {
    refuse("labels that do not fit, expected one for each row, from 0 to the number of rows - 1");
  }
  std::vector<double> sizes(at(std::ranges::max(labels)) + 1);
  for (const int label : labels) ++sizes[at(label)];
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t own = at(labels[i]);
    if (sizes[own] < 2) continue;
    std::vector<double> distances(sizes.size());
    for (std::size_t j = 0; j < n; ++j) {
      distances[at(labels[j])] +=
          std::sqrt(square_distance(row_of(rows, features, i), row_of(rows, features, j)));
    }
    const double a = distances[own] / (sizes[own] - 1);
    double b = kInfinity;
    for (std::size_t c = 0; c < sizes.size(); ++c) {
      if (c != own && sizes[c] > 0) b = std::min(b, distances[c] / sizes[c]);
    }
    if (b < kInfinity && std::max(a, b) > 0) total += (b - a) / std::max(a, b);
  }
  return total / static_cast<double>(n);
}

std::vector<ClusterCount> distortion_curve(std::span<const double> rows, std::size_t features,
                                           int max_k, KMeansOptions options) {
  const Points points = sorted(rows, features);
  check_count(points, max_k);
  std::vector<ClusterCount> curve;
  for (options.k = 1; options.k <= max_k; ++options.k) {
    const KMeans clusters = best_of(points, options);
    curve.push_back(
        {options.k, clusters.inertia, mean_silhouette(points.values, features, clusters.labels)});
  }
  return curve;
}

int elbow(std::span<const ClusterCount> curve) {
  if (curve.empty()) refuse("an empty curve has no elbow");
  const ClusterCount& first = curve.front();
  const ClusterCount& last = curve.back();
  int best = first.k;
  double deepest = 0;
  for (const ClusterCount& point : curve) {
    if (point.k == first.k || point.k == last.k) continue;  // on the chord, apart from rounding
    const double along = static_cast<double>(point.k - first.k) / (last.k - first.k);
    // The distance to a line is proportional to the distance along an axis.
    const double depth = first.inertia + along * (last.inertia - first.inertia) - point.inertia;
    if (depth > deepest) {
      deepest = depth;
      best = point.k;
    }
  }
  return best;
}

}  // namespace corun::inline models
