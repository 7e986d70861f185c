#include "experiments/knowledge/kb_pipeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/base/checksum.hpp"
#include "experiments/base/json.hpp"
#include "models/knowledge/kmeans.hpp"
#include "models/knowledge/standardiser.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/corun_csv.hpp"
#include "traces/csv_reader.hpp"
#include "traces/paper_workloads.hpp"

namespace corun {

namespace {

constexpr int kPaperClusters = 3;

/// "A, B, C and 7 more"
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() == kShown) break;
    shown.push_back(printable(name));
  }
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

void add_sample(SampleSet& samples, std::string name, const Profile& profile, bool measured,
                WorkloadOrigin origin, std::vector<std::string>& left_out) {
  if (!profile.gpu_util_pct || !profile.mem_alloc_pct || !profile.mem_time_pct) {
    left_out.push_back(std::move(name));
    return;
  }
  samples.names.push_back(std::move(name));
  samples.profiles.push_back(profile);
  samples.measured.push_back(measured);
  samples.origins.push_back(std::move(origin));
}

std::vector<double> flat(const std::vector<FeatureVector>& rows) {
  std::vector<double> out;
  for (const FeatureVector& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}

/// The columns in which the authors' samples are not what their recipe gives, a line each.
std::vector<std::string> odd_columns() {
  std::map<std::pair<std::string_view, std::size_t>, std::vector<const PaperOddSample*>> columns;
  for (const PaperOddSample& odd : prirect_odd_samples()) {
    columns[{odd.workload, odd.attribute}].push_back(&odd);
  }
  std::vector<std::string> notes;
  for (const auto& [column, odd] : columns) {
    notes.push_back(fmt::format(
        "{} of {}: {} of {} values are as the authors list them, not as "
        "their recipe gives them ({})",
        kAttributeNames[column.second], column.first, odd.size(), kGridRows, odd.front()->cause));
  }
  return notes;
}

}  // namespace

// ---- samples ------------------------------------------------------------------------------------

std::vector<std::string_view> synthetic_choices() {
  std::vector<std::string_view> all{"none", "paper", "best"};
  for (const TechniqueEntry& entry : technique_catalog()) all.push_back(entry.name);
  return all;
}

SampleSet draw_samples(const ProfileTable& table, const SampleOptions& options) {
  SampleSet samples;
  samples.source = table.source;
  std::vector<std::string> left_out;
  if (options.synthetic == "none") {
    for (std::size_t i = 0; i < table.jobs.size(); ++i) {
      add_sample(samples, table.jobs[i], table.profiles[i], true, table.origins[i], left_out);
    }
  } else {
    AmplifiedProfiles amplified;
    if (options.synthetic == "paper") {
      amplified = paper_samples(table, true);
    } else {
      AmplifyOptions amplify;
      amplify.technique = find_technique(options.synthetic);  // empty: the best of each column
      amplify.axis = options.axis;
      amplify.between = options.between;
      amplified = amplify_profiles(table, amplify);
    }
    samples.notes = options.synthetic == "paper" ? odd_columns() : amplified.notes;
    for (const ProfileSample& s : amplified.samples) {
      const std::string name =
          s.batch_size ? fmt::format("{}-{}", s.model, csv_number(*s.batch_size)) : s.model;
      add_sample(samples, name, s.profile, s.measured, {s.model, "", {}, s.batch_size}, left_out);
    }
  }
  if (!left_out.empty()) {
    samples.notes.push_back(fmt::format("{} of {} profiles lack a feature and are left out: {}",
                                        left_out.size(), left_out.size() + samples.names.size(),
                                        some_of(left_out)));
  }
  if (samples.names.empty()) {
    throw InputError(table.source, fmt::format("no profile has all of {}: nothing to cluster",
                                               fmt::join(kFeatureNames, ", ")));
  }
  return samples;
}

std::string samples_csv(const SampleSet& samples) {
  ProfileTable table;
  std::map<std::string, int> times;
  for (const std::string& name : samples.names) {
    // A table names each profile once.
    const int n = ++times[name];
    table.jobs.push_back(n == 1 ? name : fmt::format("{}#{}", name, n));
  }
  table.profiles = samples.profiles;
  table.origins = samples.origins;
  std::ostringstream out;
  write_profile_csv(out, table);
  return out.str();
}

std::vector<double> feature_rows(const SampleSet& samples) {
  std::vector<double> rows;
  for (const Profile& p : samples.profiles) {
    rows.insert(rows.end(), {*p.gpu_util_pct, *p.mem_alloc_pct, *p.mem_time_pct});
  }
  return rows;
}

std::vector<double> standardised_rows(const std::vector<double>& rows) {
  const MatrixView view{rows, rows.size() / kFeatures, kFeatures};
  return Standardiser::of(view).apply(view);
}

// ---- clusters -----------------------------------------------------------------------------------

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
        result.notes.push_back(
            fmt::format("cluster {} is one profile: its distances say nothing of others", c));
      }
    }
  } catch (const std::invalid_argument& e) {
    throw InputError(samples.source, e.what());
  }
  clusters.distance_centres = options.distance_centres;
  return result;
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

// ---- co-runs ------------------------------------------------------------------------------------

bool is_corun_table(std::string_view name) { return name == "jrs" || name == "prirect"; }

CorunTable read_corun_table(const std::string& name_or_path) {
  WorkloadKeys keys;
  CorunTable table;
  table.source.name = name_or_path;
  if (is_corun_table(name_or_path)) {
    table.rows =
        paper_measurements(keys, name_or_path == "jrs" ? kJrsKnowledgeBase : kPrirectKnowledgeBase);
  } else {
    table.rows = read_corun_csv(name_or_path, keys).measurements;
    table.source.sha256 = sha256_of_file(name_or_path);
  }
  std::set<std::string> measured_on;
  for (const CorunMeasurement& row : table.rows) {
    measured_on.insert(row.gpu_type + " " + row.sharing);
  }
  table.source.measured_on = fmt::format("{}", fmt::join(measured_on, ", "));
  return table;
}

std::vector<std::string> learn_table(KnowledgeFile& file, const CorunTable& table) {
  for (const KnowledgeSource& known : file.sources) {
    if (!same_source(known, table.source)) continue;
    return {fmt::format("{} is already in (as {}): left out, a co-run counts once",
                        printable(table.source.name), printable(known.name))};
  }
  const LearntRows learnt = learn_rows(file.kb, table.rows, Labels::kFromProfile);
  if (learnt.pairs == 0) {
    throw InputError(table.source.name,
                     "no pair of two profiled jobs among its groups: nothing to learn");
  }
  std::vector<std::string> notes;
  if (!file.sources.empty() && file.sources.front().measured_on != table.source.measured_on) {
    notes.push_back(fmt::format(
        "{} was measured on {}, {} on {}: what they cost is put together all the same",
        printable(table.source.name), printable(table.source.measured_on),
        printable(file.sources.front().name), printable(file.sources.front().measured_on)));
  }
  if (learnt.larger_groups > 0) {
    notes.push_back(fmt::format("{}: {} groups of more than two jobs passed over",
                                printable(table.source.name), learnt.larger_groups));
  }
  if (learnt.without_profile > 0) {
    notes.push_back(fmt::format("{}: {} pairs with a job without profile passed over",
                                printable(table.source.name), learnt.without_profile));
  }
  file.sources.push_back(table.source);
  file.sources.back().pairs = learnt.pairs;
  return notes;
}

std::vector<std::string> merge_knowledge(KnowledgeFile& file, const KnowledgeFile& other,
                                         const std::string& other_name) {
  if (!(file.kb.clustering() == other.kb.clustering())) {
    throw InputError(other_name,
                     "its clusters are others than the file's: what it learnt says nothing of "
                     "these; build both with the same --like or --centres");
  }
  if (file.kb.decay() != other.kb.decay()) {
    throw InputError(other_name,
                     fmt::format("its decay is {}, the file's {}: expected the same",
                                 csv_number(other.kb.decay()), csv_number(file.kb.decay())));
  }
  std::int64_t sourced = 0;
  for (const KnowledgeSource& source : other.sources) {
    sourced += source.pairs;
    for (const KnowledgeSource& own : file.sources) {
      if (same_source(own, source)) {
        throw InputError(other_name, "both have learnt from " + printable(source.name) +
                                         ": its co-runs would count twice");
      }
    }
  }
  std::vector<std::string> notes;
  if (other.kb.pairs_observed() > sourced) {
    notes.push_back(fmt::format(
        "{}: {} of its co-runs name no source; whether they are in already cannot be told",
        printable(other_name), other.kb.pairs_observed() - sourced));
  }
  file.kb.merge(other.kb);
  file.sources.insert(file.sources.end(), other.sources.begin(), other.sources.end());
  return notes;
}

// ---- assignment ---------------------------------------------------------------------------------

AssignmentTable assign_profiles(const Clusters& clusters, const ProfileTable& table) {
  AssignmentTable out;
  out.rule = clusters.rule;
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    AssignedProfile row;
    row.job = table.jobs[i];
    row.has_features = has_features(table.profiles[i]);
    row.assignment = assign_cluster(clusters, table.profiles[i]);
    out.rows.push_back(std::move(row));
  }
  const auto rank = [&](double ClusterAssignment::*score, int AssignedProfile::*place) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < out.rows.size(); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return out.rows[a].assignment.*score < out.rows[b].assignment.*score;
    });
    std::map<int, int> placed;
    for (const std::size_t i : order) {
      if (!out.rows[i].has_features) continue;
      out.rows[i].*place = ++placed[out.rows[i].assignment.cluster];
    }
  };
  rank(&ClusterAssignment::all_centres, &AssignedProfile::rank_all);
  rank(&ClusterAssignment::own_centre, &AssignedProfile::rank_own);
  out.moved = static_cast<std::size_t>(
      std::count_if(out.rows.begin(), out.rows.end(),
                    [](const AssignedProfile& r) { return r.rank_all != r.rank_own; }));
  return out;
}

std::string assignment_table(const AssignmentTable& table) {
  std::size_t width = 3;
  for (const AssignedProfile& r : table.rows) width = std::max(width, printable(r.job).size());
  std::string out =
      fmt::format("{:<{}}  {:>7}  {:>12} {:>6}  {:>12} {:>6}  {}\n", "job", width, "cluster",
                  "all centres", "rank", "own centre", "rank", "distances");
  for (const AssignedProfile& r : table.rows) {
    std::vector<std::string> distances;
    for (const double d : r.assignment.distances) distances.push_back(fmt::format("{:.2f}", d));
    out +=
        r.has_features
            ? fmt::format("{:<{}}  {:>7}  {:>12.2f} {:>6}  {:>12.2f} {:>6}  {}\n", printable(r.job),
                          width, r.assignment.cluster, r.assignment.all_centres, r.rank_all,
                          r.assignment.own_centre, r.rank_own, fmt::join(distances, " "))
            : fmt::format("{:<{}}  {:>7}  no profile: cluster {} by default\n", printable(r.job),
                          width, "-", r.assignment.cluster);
  }
  out += fmt::format(
      "\nRanks are within the cluster; this knowledge base goes by {}.\n{} of {} profiles have "
      "another rank by their own centre than by all.\n",
      table.rule == Uncertainty::kAllCentres ? "all centres" : "the own centre", table.moved,
      table.rows.size());
  return out;
}

std::string assignment_csv(const AssignmentTable& table) {
  std::string out = "job,cluster,all_centres,own_centre,rank_all,rank_own";
  const std::size_t k = table.rows.empty() ? 0 : table.rows.front().assignment.distances.size();
  for (std::size_t c = 0; c < k; ++c) out += fmt::format(",d{}", c);
  out += "\n";
  for (const AssignedProfile& r : table.rows) {
    const auto shown = [&](double d) { return r.has_features ? csv_number(d) : std::string(); };
    out += fmt::format("{},{},{},{},{},{}", csv_text(r.job), r.assignment.cluster,
                       shown(r.assignment.all_centres), shown(r.assignment.own_centre),
                       r.has_features ? std::to_string(r.rank_all) : "",
                       r.has_features ? std::to_string(r.rank_own) : "");
    for (const double d : r.assignment.distances) out += "," + shown(d);
    out += "\n";
  }
  return out;
}

nlohmann::ordered_json assignment_json(const AssignmentTable& table) {
  Json json;
  json["profiles"] = Json::array();
  for (const AssignedProfile& r : table.rows) {
    Json distances = Json::array();
    for (const double d : r.assignment.distances) distances.push_back(json_number(d));
    json["profiles"].push_back({{"job", r.job},
                                {"cluster", r.assignment.cluster},
                                {"has_profile", r.has_features},
                                {"all_centres", json_number(r.assignment.all_centres)},
                                {"own_centre", json_number(r.assignment.own_centre)},
                                {"rank_all", r.has_features ? Json(r.rank_all) : Json(nullptr)},
                                {"rank_own", r.has_features ? Json(r.rank_own) : Json(nullptr)},
                                {"distances", distances}});
  }
  json["other_rank_by_own_centre"] = table.moved;
  return json;
}

}  // namespace corun
