#include "knowledge/profile_samples.hpp"

#include <map>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/knowledge/clusters.hpp"
#include "models/learners/standardiser.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline knowledge {

namespace {

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

/// Notes on the columns in which the authors' samples differ from their recipe, a line each.
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
    // Names in a table of profiles must differ.
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

}  // namespace corun::inline knowledge
