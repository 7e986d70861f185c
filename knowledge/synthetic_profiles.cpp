#include "knowledge/synthetic_profiles.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include <fmt/format.h>

#include "sim/base/math.hpp"
#include "sim/error.hpp"

namespace corun::inline knowledge {

namespace {

/// A model's name reduced to letters and digits in lower case.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) plain.push_back(static_cast<char>(std::tolower(byte)));
  }
  return plain;
}

/// The row of the table that was profiled at this batch size.
std::size_t find_job(const ProfileTable& table, std::string_view workload,
                     std::string_view data_set_model, int batch_size) {
  const std::string names[] = {plain_name(workload), plain_name(data_set_model)};
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    const WorkloadOrigin& origin = table.origins[i];
    if (origin.batch_size != static_cast<double>(batch_size)) continue;
    if (std::ranges::find(names, plain_name(origin.model)) == std::end(names)) continue;
    if (found) {
      throw InputError(table.source,
                       fmt::format("'{}' and '{}' are both {} at batch size {}; keep one",
                                   table.jobs[*found], table.jobs[i], data_set_model, batch_size));
    }
    found = i;
  }
  if (!found) {
    throw InputError(table.source,
                     fmt::format("no profile of {} at batch size {}, expected those of the "
                                 "Futurewei mini-ML Workload Dataset; give that file",
                                 data_set_model, batch_size));
  }
  return *found;
}

/// The technique with that name in the tables of traces/.
Technique technique_of(std::string_view name) {
  const auto technique = find_technique(name);
  if (!technique) throw std::logic_error("no technique '" + std::string(name) + "'");
  return *technique;
}

/// Adds all samples of the recipe of one workload.
void add_series(const ProfileTable& table, const PaperSyntheticRecipe& recipe,
                AmplifiedProfiles& out) {
  const PaperSeries series = paper_series(table, recipe);
  const std::size_t begin = out.samples.size();
  std::size_t next_job = 0;
  for (std::size_t row = 0; row < kGridRows; ++row) {
    ProfileSample sample{std::string(recipe.workload),
                         static_cast<double>(recipe.batch_sizes[row]),
                         recipe.measured[row],
                         {}};
    sample.profile.imputed = !sample.measured;
    if (sample.measured) sample.profile = table.profiles[series.jobs[next_job++]];
    out.samples.push_back(std::move(sample));
  }
  for (std::size_t a = 0; a < kProfileAttributes; ++a) {
    const Technique technique = technique_of(recipe.techniques[a]);
    out.columns.push_back({std::string(recipe.workload), a, technique});
    const auto values = generate(technique, series.rows, series.values[a], series.synthetic,
                                 {true, 2, Rounding::kCut});
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = static_cast<std::size_t>(series.synthetic[i]);
      out.samples[begin + row].profile.*kAttributes[a] = values[i];
    }
  }
}

/// The profiles of one workload, largest batch size first.
struct ProfiledModel {
  std::string model;
  std::vector<std::size_t> jobs;
};

std::vector<ProfiledModel> workloads_of(const ProfileTable& table) {
  std::vector<ProfiledModel> all;
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    const WorkloadOrigin& origin = table.origins[i];
    if (origin.model.empty() || !origin.batch_size) continue;
    if (!(*origin.batch_size > 0) || !std::isfinite(*origin.batch_size)) {
      throw InputError(table.source,
                       fmt::format("the batch size of '{}' is {}, expected a number above 0",
                                   table.jobs[i], *origin.batch_size));
    }
    auto found = std::ranges::find(all, origin.model, &ProfiledModel::model);
    if (found == all.end()) found = all.insert(all.end(), {origin.model, {}});
    found->jobs.push_back(i);
  }
  const auto batch_size = [&](std::size_t job) { return *table.origins[job].batch_size; };
  for (ProfiledModel& workload : all) {
    std::ranges::stable_sort(workload.jobs, std::ranges::greater{}, batch_size);
    for (std::size_t i = 1; i < workload.jobs.size(); ++i) {
      if (batch_size(workload.jobs[i - 1]) != batch_size(workload.jobs[i])) continue;
      throw InputError(
          table.source,
          fmt::format("'{}' and '{}' are both {} at batch size {}; keep one or rename the model",
                      table.jobs[workload.jobs[i - 1]], table.jobs[workload.jobs[i]],
                      workload.model, batch_size(workload.jobs[i])));
    }
  }
  return all;
}

/// One workload's samples and their positions on the axis.
struct Layout {
  std::vector<ProfileSample> samples;
  std::vector<double> positions;
  std::size_t left_out = 0;
};

Layout lay_out(const ProfileTable& table, const ProfiledModel& workload,
               const AmplifyOptions& options) {
  Layout layout;
  const auto add = [&](double row, double batch_size, bool measured, const Profile& profile) {
    layout.samples.push_back({workload.model, batch_size, measured, profile});
    layout.positions.push_back(options.axis == SampleAxis::kRow ? row
                               : options.axis == SampleAxis::kBatchSize
                                   ? batch_size
                                   : math::log(batch_size) / std::numbers::ln2);
  };
  Profile synthetic;
  synthetic.imputed = true;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const double here = *table.origins[workload.jobs[i]].batch_size;
    add(static_cast<double>(i), here, true, table.profiles[workload.jobs[i]]);
    if (i + 1 == workload.jobs.size()) break;
    const double next = *table.origins[workload.jobs[i + 1]].batch_size;
    for (int k = 1; k <= options.between; ++k) {
      const double share = static_cast<double>(k) / (options.between + 1);
      const double between = options.axis == SampleAxis::kLog2BatchSize
                                 ? here * math::exp(share * math::log(next / here))
                                 : here + (next - here) * share;
      const double batch_size = std::round(between);
      if (batch_size >= *layout.samples.back().batch_size || batch_size <= next) {
        ++layout.left_out;
        continue;
      }
      add(static_cast<double>(i) + share, batch_size, false, synthetic);
    }
  }
  return layout;
}

/// Fills one attribute of the synthetic samples between the first and last measured value of it.
std::optional<Technique> fill(Layout& layout, std::size_t attribute,
                              const AmplifyOptions& options) {
  std::vector<double> x;
  std::vector<double> y;
  std::size_t first = layout.samples.size();
  std::size_t last = 0;
  for (std::size_t i = 0; i < layout.samples.size(); ++i) {
    const auto& value = layout.samples[i].profile.*kAttributes[attribute];
    if (!layout.samples[i].measured || !value) continue;
    x.push_back(layout.positions[i]);
    y.push_back(*value);
    first = std::min(first, i);
    last = i;
  }
  std::vector<std::size_t> where;
  std::vector<double> at;
  for (std::size_t i = first; i < last; ++i) {
    if (layout.samples[i].measured) continue;
    where.push_back(i);
    at.push_back(layout.positions[i]);
  }
  if (at.empty()) return std::nullopt;
  const Technique technique =
      options.technique ? *options.technique : best_technique(regenerate_by_all(x, y, at, y));
  const auto values = generate(technique, x, y, at, options.values);
  for (std::size_t i = 0; i < where.size(); ++i) {
    layout.samples[where[i]].profile.*kAttributes[attribute] = values[i];
  }
  return technique;
}

}  // namespace

PaperSeries paper_series(const ProfileTable& table, const PaperSyntheticRecipe& recipe) {
  PaperSeries series;
  for (std::size_t row = 0; row < kGridRows; ++row) {
    if (!recipe.measured[row]) {
      series.synthetic.push_back(static_cast<double>(row));
      continue;
    }
    const std::size_t job =
        find_job(table, recipe.workload, recipe.data_set_model, recipe.batch_sizes[row]);
    series.jobs.push_back(job);
    series.rows.push_back(static_cast<double>(row));
    for (std::size_t a = 0; a < kProfileAttributes; ++a) {
      const auto& value = table.profiles[job].*kAttributes[a];
      if (!value) {
        throw InputError(table.source, fmt::format("'{}' has no {}, which the recipe needs",
                                                   table.jobs[job], kAttributeNames[a]));
      }
      series.values[a].push_back(*value);
    }
  }
  return series;
}

AmplifiedProfiles paper_samples(const ProfileTable& table, bool published) {
  AmplifiedProfiles out;
  for (const PaperSyntheticRecipe& recipe : prirect_recipes()) {
    add_series(table, recipe, out);
    if (recipe.workload != "InceptionV3") continue;
    for (const PaperSinglePoint& point : prirect_single_points()) {
      const std::size_t job =
          find_job(table, point.workload, point.data_set_model, point.batch_size);
      out.samples.push_back({std::string(point.workload), static_cast<double>(point.batch_size),
                             true, table.profiles[job]});
    }
  }
  if (!published) return out;
  for (const PaperOddSample& odd : prirect_odd_samples()) {
    const auto sample = std::ranges::find_if(out.samples, [&](const ProfileSample& s) {
      return s.model == odd.workload && s.batch_size == static_cast<double>(odd.batch_size);
    });
    if (sample == out.samples.end()) throw std::logic_error("an odd sample that is none");
    auto& value = sample->profile.*kAttributes[odd.attribute];
    out.notes.push_back(fmt::format("{} at batch size {}: {} is listed as {:.2f}, not {:.2f}: {}",
                                    odd.workload, odd.batch_size, kAttributeNames[odd.attribute],
                                    odd.value, *value, odd.cause));
    value = odd.value;
  }
  return out;
}

AmplifiedProfiles amplify_profiles(const ProfileTable& table, const AmplifyOptions& options) {
  if (options.between < 0 || options.between > 100) {
    throw InputError(
        "", fmt::format("{} samples between neighbours, expected 0 to 100", options.between));
  }
  if (options.values.decimals && (*options.values.decimals < 0 || *options.values.decimals > 15)) {
    throw InputError("", fmt::format("{} decimals, expected 0 to 15", *options.values.decimals));
  }
  AmplifiedProfiles out;
  std::size_t left_out = 0;
  std::size_t single = 0;
  for (const ProfiledModel& workload : workloads_of(table)) {
    Layout layout = lay_out(table, workload, options);
    left_out += layout.left_out;
    single += workload.jobs.size() == 1 ? 1 : 0;
    for (std::size_t a = 0; a < kProfileAttributes; ++a) {
      try {
        if (const auto technique = fill(layout, a, options)) {
          out.columns.push_back({workload.model, a, *technique});
        }
      } catch (const std::invalid_argument& e) {
        throw InputError(table.source,
                         fmt::format("{} of {}: {}", kAttributeNames[a], workload.model, e.what()));
      }
    }
    std::ranges::move(layout.samples, std::back_inserter(out.samples));
  }
  std::size_t unnamed = 0;
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    const WorkloadOrigin& origin = table.origins[i];
    if (!origin.model.empty() && origin.batch_size) continue;
    out.samples.push_back({origin.model, origin.batch_size, true, table.profiles[i]});
    ++unnamed;
  }
  const auto note = [&](std::size_t count, std::string_view what) {
    if (count > 0) out.notes.push_back(fmt::format("{} {}", count, what));
  };
  note(single, "workload(s) have one measured batch size: nothing lies between");
  note(left_out, "sample(s) left out: no whole batch size was free between the neighbours");
  note(unnamed, "job(s) without model or batch size: passed on as they are");
  return out;
}

}  // namespace corun::inline knowledge
