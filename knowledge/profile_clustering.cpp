#include "knowledge/profile_clustering.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "knowledge/knowledge_file.hpp"
#include "models/knowledge/kmeans.hpp"
#include "models/learners/standardiser.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline knowledge {

namespace {

constexpr int kPaperClusters = 3;

std::vector<double> flat(const std::vector<FeatureVector>& rows) {
  std::vector<double> out;
  for (const FeatureVector& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}

std::ptrdiff_t synthetic_count(const SampleSet& samples) {
  return std::count(samples.measured.begin(), samples.measured.end(), false);
}

}  // namespace

ClusteringResult cluster_samples(const SampleSet& samples, const ClusteringOptions& options) {
  ClusteringResult result;
  Clusters& clusters = result.clusters;
  clusters.rule = options.rule;
  const std::vector<double> raw = feature_rows(samples);
  try {
    FeatureVector mean{};
    std::vector<double> rows = raw;
    if (options.standardise) {
      const MatrixView view{raw, samples.profiles.size(), kFeatures};
      const Standardiser standardiser = Standardiser::of(view);
      for (std::size_t f = 0; f < kFeatures; ++f) {
        mean[f] = standardiser.mean[f];
        clusters.scale[f] = standardiser.deviation[f];
        if (clusters.scale[f] > 0) continue;
        throw InputError(samples.source,
                         fmt::format("{} is {} in every profile and has no deviation to measure it "
                                     "by, expected values that vary; leave out --standardise",
                                     kFeatureNames[f], csv_number(mean[f])));
      }
      rows = standardiser.apply(view);
    }
    const auto scaled = [&](std::vector<double> centres) {
      for (std::size_t i = 0; i < centres.size(); ++i) {
        centres[i] = (centres[i] - mean[i % kFeatures]) / clusters.scale[i % kFeatures];
      }
      return centres;
    };
    KMeans found;
    if (options.start.empty()) {
      found = kmeans(rows, kFeatures, {options.k, options.restarts, options.seed});
      if (options.k == kPaperClusters) {
        match_to(found, scaled(flat(paper_clusters().centres)));
      }
    } else {
      found = lloyd(rows, kFeatures, scaled(flat(options.start)));
    }
    result.labels = found.labels;
    result.inertia = found.inertia;
    result.iterations = found.iterations;
    result.start_was_fixed = found.start_was_fixed;
    for (int c = 0; c < found.k; ++c) {
      FeatureVector centre{};
      for (std::size_t f = 0; f < kFeatures; ++f) {
        centre[f] = found.centre(c)[f] * clusters.scale[f] + mean[f];
      }
      clusters.centres.push_back(centre);
      const auto size = std::count(found.labels.begin(), found.labels.end(), c);
      if (size == 1) {
        result.notes.push_back(fmt::format(
            "cluster {} is one profile: its distances do not apply to other profiles", c));
      }
    }
  } catch (const std::invalid_argument& e) {
    throw InputError(samples.source, e.what());
  }
  clusters.distance_centres = options.distance_centres;
  return result;
}

std::string clusters_about(const SampleSet& samples, int k, const std::string& synthetic) {
  std::string about = fmt::format("{} clusters of {} profiles", k, samples.profiles.size());
  const auto made = synthetic_count(samples);
  if (made > 0) about += fmt::format(", {} of them synthetic ({})", made, synthetic);
  return about;
}

std::string clustering_summary(const SampleSet& samples, const ClusteringOptions& options,
                               const ClusteringResult& result) {
  const std::string how = options.start.empty()
                              ? fmt::format(", the best of {} starts", options.restarts)
                          : result.start_was_fixed
                              ? ", from the given centres, a fixed point"
                              : fmt::format(", {} moves from the given centres", result.iterations);
  return fmt::format("{} profiles, {} of them synthetic; inertia {:.0f}{}\n",
                     samples.profiles.size(), synthetic_count(samples), result.inertia, how);
}

std::vector<FeatureVector> read_centres_csv(const std::string& path) {
  std::vector<CsvColumn> columns;
  for (const std::string_view name : kFeatureNames) columns.push_back({name, true});
  CsvReader csv(path, columns);
  std::vector<FeatureVector> centres;
  while (csv.next()) {
    FeatureVector centre{};
    for (std::size_t f = 0; f < kFeatures; ++f) {
      centre[f] = csv.required_number(csv.column(kFeatureNames[f]), {"a number", -1e6, 1e6});
    }
    centres.push_back(centre);
  }
  if (centres.empty() || centres.size() > kMostKnowledgeClusters) {
    throw InputError(path, fmt::format("{} centres, expected 1 to {}, one row per cluster",
                                       centres.size(), kMostKnowledgeClusters));
  }
  return centres;
}

}  // namespace corun::inline knowledge
