#include "predictors/tables/predictor_evaluation.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <stdexcept>

#include "models/learners/cross_validation.hpp"
#include "sim/base/math.hpp"
#include "sim/base/parallel_for.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"

namespace corun::inline predictors {

namespace {

constexpr int kOuterFolds = 10;
/// Up to so many groups, each is a fold of its own.
constexpr std::size_t kMostSingleGroups = 16;
/// Of families and of GPU types, where both are held out: each pair of folds is a fit.
constexpr std::size_t kFoldsOfEither = 5;
/// Where so much is left out, too few jobs may remain for a fit: such a pair of folds is not scored.
constexpr std::ptrdiff_t kFewestToFit = 20;
/// A group's own coverage is told from so many jobs.
constexpr std::size_t kFewestOfGroup = 20;

/// The group of a row that `split` keeps together; empty if it is not named.
std::string group_of(const JobTableRow& row, JobSplit split) {
  const auto name = [&](JobGroup group) { return row.names.at(static_cast<std::size_t>(group)); };
  switch (split) {
    case JobSplit::kRandom:
      return {};
    case JobSplit::kModel:
      return name(JobGroup::kModel);
    case JobSplit::kFamily:
      return name(JobGroup::kFamily);
    case JobSplit::kGpu:
      return name(JobGroup::kGpu);
    case JobSplit::kArchitecture:
      return row.job.groups.architecture == 0 ? "" : std::to_string(row.job.groups.architecture);
    case JobSplit::kFamilyAndGpu: {
      const std::string family = name(JobGroup::kFamily), gpu = name(JobGroup::kGpu);
      return family.empty() || gpu.empty() ? "" : family + '\n' + gpu;
    }
  }
  throw std::logic_error("no such split");
}

/// The rows that count.
std::vector<std::size_t> scored_rows(const JobTable& table) {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const JobTableRow& row = table.rows[r];
    if (row.counts && !(std::isnan(row.value) && std::isnan(row.at_least))) rows.push_back(r);
  }
  return rows;
}

/// The fold of each of `rows` if groups stay together: one per group if these are at most `most_single`, else
/// `most` folds of groups.
std::vector<int> folds_of_groups(const JobTable& table, std::span<const std::size_t> rows,
                                 JobSplit split, std::size_t most_single, int most,
                                 std::uint64_t seed) {
  std::map<std::string, std::size_t> number;
  std::vector<std::size_t> group;
  for (const std::size_t r : rows) {
    group.push_back(number.emplace(group_of(table.rows[r], split), number.size()).first->second);
  }
  const std::size_t groups = number.size();
  const int folds = groups <= most_single ? static_cast<int>(groups) : most;
  const std::vector<int> of_group = assign_folds(groups, {folds, seed});
  std::vector<int> out;
  for (const std::size_t g : group) out.push_back(of_group[g]);
  return out;
}

/// The rows of a fit and those that it predicts.
struct OuterFold {
  std::vector<std::size_t> train, test;
};

std::vector<OuterFold> outer_folds(const JobTable& table, std::span<const std::size_t> rows,
                                   JobSplit split, std::uint64_t seed) {
  std::vector<OuterFold> out;
  if (split == JobSplit::kFamilyAndGpu) {
    const auto folds = [&](JobSplit of) {
      return folds_of_groups(table, rows, of, kFoldsOfEither, static_cast<int>(kFoldsOfEither),
                             seed);
    };
    const std::vector<int> families = folds(JobSplit::kFamily), gpus = folds(JobSplit::kGpu);
    for (int family = 0; family <= *std::ranges::max_element(families); ++family) {
      for (int gpu = 0; gpu <= *std::ranges::max_element(gpus); ++gpu) {
        OuterFold fold;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const bool of_family = families[i] == family, of_gpu = gpus[i] == gpu;
          if (of_family && of_gpu) fold.test.push_back(rows[i]);
          if (!of_family && !of_gpu) fold.train.push_back(rows[i]);
        }
        const auto measured = std::ranges::count_if(
            fold.train, [&](std::size_t r) { return !std::isnan(table.rows[r].value); });
        if (!fold.test.empty() && measured >= kFewestToFit) out.push_back(std::move(fold));
      }
    }
    return out;
  }
  const std::vector<int> folds =
      split == JobSplit::kRandom
          ? assign_folds(rows.size(), {std::min(kOuterFolds, static_cast<int>(rows.size())), seed})
          : folds_of_groups(table, rows, split, kMostSingleGroups, kOuterFolds, seed);
  out.resize(static_cast<std::size_t>(*std::ranges::max_element(folds)) + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t fold = 0; fold < out.size(); ++fold) {
      (static_cast<std::size_t>(folds[i]) == fold ? out[fold].test : out[fold].train)
          .push_back(rows[i]);
    }
  }
  return out;
}

MeasuredJob measured_job(const JobTableRow& row) { return {row.job, row.value, row.at_least}; }

/// One fit and the predictions of its fold.
struct FoldTask {
  std::size_t evaluation = 0;
  const PredictorEntry* entry = nullptr;
  std::vector<std::size_t> train, test;  ///< rows of the table
  std::size_t known = 0;
  std::vector<HeldOutPredictions> draws;  ///< one, or one per draw of known jobs
};

void run_task(const JobTable& table, FoldTask& task, const PredictorEvaluationOptions& options) {
  std::vector<MeasuredJob> train;
  for (const std::size_t r : task.train) train.push_back(measured_job(table.rows[r]));
  PredictorOptions fit;
  fit.seed = options.seed;
  fit.intervals = options.intervals;
  fit.constants = options.constants;
  const std::unique_ptr<Predictor> fitted = task.entry->fit(table.target, train, fit);
  const auto predict = [&](const Predictor& predictor, std::span<const std::size_t> rows) {
    std::vector<PredictorJob> jobs;
    for (const std::size_t r : rows) jobs.push_back(table.rows[r].job);
    HeldOutPredictions out{{rows.begin(), rows.end()}, predictor.predict(jobs), {}};
    for (const double capacity : options.capacities_mib) {
      std::vector<bool>& alarms = out.runs_out.emplace_back();
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        alarms.push_back(predictor.runs_out(jobs[i], out.predictions[i], capacity));
      }
    }
    return out;
  };
  if (task.known == 0) {
    task.draws.push_back(predict(*fitted, task.test));
    return;
  }
  for (int draw = 0; draw < options.draws; ++draw) {
    std::vector<std::size_t> order = task.test;
    Rng rng(options.seed, Stream::kFolds,
            1'000'000 + 1000 * static_cast<std::uint64_t>(draw) + task.test.front());
    rng.shuffle(std::span(order));
    const std::size_t known = std::min(task.known, order.size());
    std::vector<MeasuredJob> seen;
    for (std::size_t i = 0; i < known; ++i) seen.push_back(measured_job(table.rows[order[i]]));
    const auto refitted = fitted->with_seen(seen, options.constants);
    task.draws.push_back(predict(*refitted, std::span(order).subspan(known)));
  }
}

double percentile(std::vector<double> values, double q) {
  if (values.empty()) return kNaN;
  std::ranges::sort(values);
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

double percent(double part, double of) { return of > 0 ? 100 * part / of : kNaN; }

}  // namespace

std::string_view name_of(JobSplit split) {
  constexpr std::array<std::string_view, 6> kNames{"random", "model",        "family",
                                                   "gpu",    "architecture", "family+gpu"};
  return kNames.at(static_cast<std::size_t>(split));
}

std::vector<JobSplit> job_splits(const JobTable& table) {
  const std::vector<std::size_t> rows = scored_rows(table);
  std::vector<JobSplit> splits;
  const auto has = [&](JobSplit split) { return std::ranges::find(splits, split) != splits.end(); };
  for (const JobSplit split :
       {JobSplit::kModel, JobSplit::kFamily, JobSplit::kGpu, JobSplit::kArchitecture}) {
    std::map<std::string, std::size_t> names;
    bool named = true;
    for (const std::size_t r : rows) {
      const std::string name = group_of(table.rows[r], split);
      named = named && !name.empty();
      ++names[name];
    }
    // A model that every job has for itself is no group.
    const bool grouped = names.size() > 1 && names.size() < rows.size();
    if (named && grouped) splits.push_back(split);
  }
  if (has(JobSplit::kFamily) && has(JobSplit::kGpu)) splits.push_back(JobSplit::kFamilyAndGpu);
  splits.push_back(JobSplit::kRandom);
  return splits;
}

PredictionScore score_of(const JobTable& table, const HeldOutPredictions& held_out) {
  std::vector<double> errors;
  double mae = 0, squares = 0, covered = 0, width = 0;
  for (std::size_t i = 0; i < held_out.rows.size(); ++i) {
    const double value = table.rows[held_out.rows[i]].value;
    const Prediction& p = held_out.predictions[i];
    if (std::isnan(value) || std::isnan(p.median)) continue;
    errors.push_back(100 * std::abs(p.median / value - 1));
    mae += std::abs(p.median - value);
    const double log_error = math::log1p(p.median) - math::log1p(value);
    squares += log_error * log_error;
    covered += p.lo <= value && value <= p.hi ? 1 : 0;
    width += (p.hi - p.lo) / p.median;
  }
  PredictionScore score;
  score.jobs = errors.size();
  const auto n = static_cast<double>(errors.size());
  if (errors.empty()) return score;
  double sum = 0;
  for (const double error : errors) sum += error;
  score.mape = sum / n;
  score.median_ape = percentile(errors, 0.5);
  score.p95_ape = percentile(errors, 0.95);
  score.mae = mae / n;
  score.rmsle = std::sqrt(squares / n);
  score.coverage = percent(covered, n);
  score.width = percent(width, n);
  return score;
}

void score_groups(const JobTable& table, const HeldOutPredictions& held_out, JobSplit split,
                  PredictionScore& score) {
  struct Counts {
    std::size_t jobs = 0, covered = 0;
  };
  std::map<std::string, Counts> groups;
  if (split == JobSplit::kRandom) return;
  for (std::size_t i = 0; i < held_out.rows.size(); ++i) {
    const JobTableRow& row = table.rows[held_out.rows[i]];
    const Prediction& p = held_out.predictions[i];
    if (std::isnan(row.value) || std::isnan(p.median)) continue;
    Counts& counts = groups[group_of(row, split)];
    ++counts.jobs;
    counts.covered += p.lo <= row.value && row.value <= p.hi ? 1 : 0;
  }
  for (const auto& [name, counts] : groups) {
    if (counts.jobs < kFewestOfGroup) continue;
    const double coverage =
        percent(static_cast<double>(counts.covered), static_cast<double>(counts.jobs));
    ++score.groups;
    if (!(score.least_coverage <= coverage)) score.least_coverage = coverage;
    if (!(score.most_coverage >= coverage)) score.most_coverage = coverage;
  }
}

OomScore oom_score(const JobTable& table, const HeldOutPredictions& held_out, std::size_t which,
                   double capacity_mib) {
  OomScore score;
  score.capacity_mib = capacity_mib;
  double caught = 0, alarms = 0, caught_median = 0, alarms_median = 0;
  for (std::size_t i = 0; i < held_out.rows.size(); ++i) {
    const JobTableRow& row = table.rows[held_out.rows[i]];
    const Prediction& p = held_out.predictions[i];
    if (std::isnan(p.median)) continue;
    const bool crashed = !std::isnan(row.at_least);
    if (crashed && row.at_least < capacity_mib) continue;  // it may fit
    const bool too_large = crashed || row.value > capacity_mib;
    const bool alarm = held_out.runs_out.at(which).at(i);
    const bool alarm_median = p.median > capacity_mib;
    if (too_large) {
      ++score.too_large;
      caught += alarm ? 1 : 0;
      caught_median += alarm_median ? 1 : 0;
    } else {
      ++score.fitting;
      alarms += alarm ? 1 : 0;
      alarms_median += alarm_median ? 1 : 0;
    }
  }
  const auto large = static_cast<double>(score.too_large);
  const auto fitting = static_cast<double>(score.fitting);
  score.caught = percent(caught, large);
  score.caught_by_median = percent(caught_median, large);
  score.false_alarms = percent(alarms, fitting);
  score.false_alarms_by_median = percent(alarms_median, fitting);
  return score;
}

std::vector<PredictorEvaluation> evaluate_predictors(
    const JobTable& table, const PredictorEvaluationOptions& options,
    const std::function<void(std::size_t, std::size_t)>& on_fit) {
  const std::vector<std::size_t> rows = scored_rows(table);
  if (rows.size() < 2) throw InputError(table.source, "has no two measured jobs to evaluate with");
  std::vector<PredictorEvaluation> evaluations;
  std::vector<FoldTask> tasks;
  for (const JobSplit split : options.splits) {
    const std::vector<OuterFold> folds = outer_folds(table, rows, split, options.seed);
    for (const std::size_t known : options.known) {
      if (known > 0 && split == JobSplit::kRandom) continue;
      for (const PredictorEntry* entry : options.predictors) {
        for (const OuterFold& fold : folds) {
          tasks.push_back({evaluations.size(), entry, fold.train, fold.test, known, {}});
        }
        evaluations.push_back({split, known, std::string(entry->name), {}, {}});
      }
    }
  }
  std::mutex guard;
  std::size_t done = 0;
  try {
    parallel_for(tasks.size(), options.threads, [&](std::size_t t) {
      run_task(table, tasks[t], options);
      const std::lock_guard lock(guard);
      ++done;
      if (on_fit) on_fit(done, tasks.size());
    });
  } catch (const std::invalid_argument& e) {
    throw InputError(table.source, e.what());
  }
  for (std::size_t e = 0; e < evaluations.size(); ++e) {
    HeldOutPredictions all;
    for (const FoldTask& task : tasks) {
      if (task.evaluation != e) continue;
      for (const HeldOutPredictions& draw : task.draws) {
        all.rows.insert(all.rows.end(), draw.rows.begin(), draw.rows.end());
        all.predictions.insert(all.predictions.end(), draw.predictions.begin(),
                               draw.predictions.end());
        all.runs_out.resize(options.capacities_mib.size());
        for (std::size_t c = 0; c < draw.runs_out.size(); ++c) {
          all.runs_out[c].insert(all.runs_out[c].end(), draw.runs_out[c].begin(),
                                 draw.runs_out[c].end());
        }
      }
    }
    evaluations[e].score = score_of(table, all);
    if (options.intervals) {
      score_groups(table, all, evaluations[e].split, evaluations[e].score);
    } else {
      evaluations[e].score.coverage = evaluations[e].score.width = kNaN;
      continue;
    }
    if (table.target != Target::kMemory) continue;
    for (std::size_t c = 0; c < options.capacities_mib.size(); ++c) {
      evaluations[e].oom.push_back(oom_score(table, all, c, options.capacities_mib[c]));
    }
  }
  return evaluations;
}

}  // namespace corun::inline predictors
