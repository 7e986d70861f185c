#include "evaluation/model_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "evaluation/matching_survey.hpp"
#include "models/formulas/overlap.hpp"
#include "models/interference/catalog.hpp"
#include "models/interference/measured_speeds.hpp"
#include "models/knowledge/clusters.hpp"
#include "models/knowledge/knowledge_base.hpp"
#include "sim/base/correlation.hpp"
#include "sim/base/nan.hpp"
#include "sim/base/parallel_for.hpp"
#include "sim/base/summary.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "traces/paper_workloads.hpp"
#include "traces/tables/lucid_pairs.hpp"
#include "traces/tables/measurements.hpp"

namespace corun::inline evaluation {
namespace {

using Isd = std::array<double, 2>;  ///< of both members, as fractions

constexpr std::string_view kOurs = "contention";
constexpr std::string_view kOpposites = "opposites";
constexpr std::array<std::string_view, 2> kAlways{kOurs, "cluster-mean"};

Isd true_isd(const CorunMeasurement& pair) {
  const auto isd = [](const CorunMember& m) { return (m.corun_s - m.solo_s) / m.solo_s; };
  return {isd(pair.members[0]), isd(pair.members[1])};
}

// ---- predictors -------------------------------------------------------------------------------

/// Prediction of a fitted predictor for a pair.
using Prediction = std::function<Isd(const CorunMeasurement&)>;

struct Predictor {
  std::string name;
  bool constant = false;  ///< predicts the same for all pairs
  std::function<Prediction(std::span<const CorunMeasurement> training)> fit;
};

std::vector<double> all_isd(std::span<const CorunMeasurement> rows) {
  std::vector<double> values;
  for (const CorunMeasurement& row : rows) {
    for (const double isd : true_isd(row)) values.push_back(isd);
  }
  return values;
}

Prediction constant(double isd) {
  return [isd](const CorunMeasurement&) { return Isd{isd, isd}; };
}

Prediction fit_knowledge_base(std::span<const CorunMeasurement> rows) {
  return [kb = build_knowledge_base(rows)](const CorunMeasurement& pair) {
    const auto isd = [&](const CorunMember& of, const CorunMember& beside) {
      const Statistic& known = kb.isd(of.cluster, beside.cluster);
      return known.count() > 0 ? known.mean() : kb.overall_isd();
    };
    return Isd{isd(pair.members[0], pair.members[1]), isd(pair.members[1], pair.members[0])};
  };
}

Prediction prediction_of(std::shared_ptr<const InterferenceModel> model, bool timed) {
  return [model = std::move(model), timed](const CorunMeasurement& pair) -> Isd {
    const CorunMember& a = pair.members[0];
    const CorunMember& b = pair.members[1];
    const auto values = [&](const CorunMember& m) {
      return feature_values(m.profile, model->features(), ImputedProfiles::kBelieved);
    };
    const std::vector<double> of_a = values(a);
    const std::vector<double> of_b = values(b);
    const std::array<PairJob, 2> residents{PairJob{a.workload, of_a}, PairJob{b.workload, of_b}};
    std::array<double, 2> speeds{};
    model->speeds(residents, speeds);
    if (!timed) return {1 / speeds[0] - 1, 1 / speeds[1] - 1};
    const PairCost cost = pair_cost(a.solo_s, b.solo_s, speeds[0], speeds[1]);
    return {cost.isd_a, cost.isd_b};
  };
}

using Rows = std::span<const CorunMeasurement>;

/// The predictors that are no models.
std::vector<Predictor> simple_predictors() {
  return {{"mean", true, [](Rows rows) { return constant(mean(all_isd(rows))); }},
          {"median", true, [](Rows rows) { return constant(median(all_isd(rows))); }},
          {"knowledge-base", false, fit_knowledge_base}};
}

/// All that is judged: the simple predictors, contention, cluster-mean, the other models, the fitted
/// ones. Predictors are numbered in this order.
struct Judged {
  std::vector<Predictor> simple = simple_predictors();
  std::vector<const InterferenceModelEntry*> models;
  std::span<const FittedModel> fitted;
  bool timed = true;
  double effort = 1;

  Judged(const JudgedModels& asked, bool is_timed)
      : fitted(asked.fitted), timed(is_timed), effort(asked.effort) {
    for (const std::string_view name : kAlways) models.push_back(find_interference_model(name));
    for (const InterferenceModelEntry* entry : asked.models) {
      if (std::ranges::find(models, entry) == models.end()) models.push_back(entry);
    }
  }

  std::size_t size() const { return simple.size() + models.size() + fitted.size(); }
  bool constant(std::size_t p) const { return p < simple.size() && simple[p].constant; }
  std::string name(std::size_t p) const {
    if (p < simple.size()) return simple[p].name;
    p -= simple.size();
    return p < models.size() ? std::string(models[p]->name) : fitted[p - models.size()].name;
  }
};

// ---- leave one job out ------------------------------------------------------------------------

std::vector<WorkloadKey> jobs_of(std::span<const CorunMeasurement> pairs) {
  std::vector<WorkloadKey> jobs;
  for (const CorunMeasurement& pair : pairs) {
    for (const CorunMember& m : pair.members) jobs.push_back(m.workload);
  }
  std::ranges::sort(jobs);
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

bool takes_part(WorkloadKey job, const CorunMeasurement& pair) {
  return pair.members[0].workload == job || pair.members[1].workload == job;
}

/// Predictions of the pairs of one job by fits to all other pairs.
struct LeftOut {
  std::vector<std::size_t> pairs;
  std::vector<std::vector<Isd>> predicted;  ///< [predictor][pair]; empty: refused
  std::vector<std::string> refused;         ///< [predictor]
};

LeftOut leave_out(const EvaluationData& data, WorkloadKey job, const Judged& judged) {
  LeftOut out;
  std::vector<CorunMeasurement> training;
  for (std::size_t i = 0; i < data.pairs.size(); ++i) {
    if (takes_part(job, data.pairs[i])) {
      out.pairs.push_back(i);
    } else {
      training.push_back(data.pairs[i]);
    }
  }
  if (training.empty()) {
    throw InputError(data.name,
                     "every pair has the same job, expected pairs to fit on when one "
                     "job is left out; measure pairs without it");
  }
  const auto add = [&](const Prediction& predict) {
    std::vector<Isd>& predicted = out.predicted.emplace_back();
    for (const std::size_t i : out.pairs) predicted.push_back(predict(data.pairs[i]));
  };
  out.refused.resize(judged.size());
  for (const Predictor& simple : judged.simple) add(simple.fit(training));
  const SpeedTable table = speed_table(training, ImputedProfiles::kBelieved);
  for (const FitOutcome& fit : fit_together(judged.models, table, {.effort = judged.effort})) {
    out.refused[out.predicted.size()] = fit.refused;
    if (fit.model) {
      add(prediction_of(fit.model, judged.timed));
    } else {
      out.predicted.emplace_back();
    }
  }
  for (const FittedModel& fitted : judged.fitted) add(prediction_of(fitted.model, judged.timed));
  return out;
}

/// Mean of the two predictions of each pair.
struct HeldOut {
  std::vector<std::vector<Isd>> predicted;  ///< [predictor][pair]
  std::vector<std::string> refused;         ///< [predictor]: why it has none, or empty
};

HeldOut held_out_predictions(const EvaluationData& data, const Judged& judged,
                             const JudgedModels& asked) {
  const std::vector<WorkloadKey> jobs = jobs_of(data.pairs);
  std::vector<LeftOut> parts(jobs.size());
  std::size_t done = 0;
  std::mutex mutex;
  parallel_for(jobs.size(), asked.threads, [&](std::size_t j) {
    parts[j] = leave_out(data, jobs[j], judged);
    const std::lock_guard lock(mutex);
    if (asked.on_fitted) asked.on_fitted(++done, jobs.size());
  });
  HeldOut out;
  out.predicted.assign(judged.size(), std::vector<Isd>(data.pairs.size()));
  out.refused.resize(judged.size());
  std::vector<double> count(data.pairs.size(), 0);
  for (const LeftOut& part : parts) {
    for (const std::size_t i : part.pairs) count[i] += 1;
    for (std::size_t p = 0; p < judged.size(); ++p) {
      if (out.refused[p].empty()) out.refused[p] = part.refused[p];
      for (std::size_t k = 0; k < part.predicted[p].size(); ++k) {
        out.predicted[p][part.pairs[k]][0] += part.predicted[p][k][0];
        out.predicted[p][part.pairs[k]][1] += part.predicted[p][k][1];
      }
    }
  }
  for (std::vector<Isd>& predictions : out.predicted) {
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      predictions[i][0] /= count[i];
      predictions[i][1] /= count[i];
    }
  }
  return out;
}

/// Mean over pairs, with a standard error for pairs that share a job and thus are dependent: it
/// sums the products of deviations over all such pairs of pairs. At least the error of independent
/// pairs.
Estimate mean_over_pairs(std::span<const CorunMeasurement> pairs,
                         const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double center = mean(values);
  double independent = 0;
  double linked = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    independent += (values[i] - center) * (values[i] - center);
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (takes_part(pairs[i].members[0].workload, pairs[j]) ||
          takes_part(pairs[i].members[1].workload, pairs[j])) {
        linked += (values[i] - center) * (values[j] - center);
      }
    }
  }
  return {center, std::sqrt(std::max(independent, linked)) / n};
}

std::vector<double> absolute_errors(std::span<const CorunMeasurement> pairs,
                                    const std::vector<Isd>& predicted) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Isd isd = true_isd(pairs[i]);
    errors.push_back((std::fabs(predicted[i][0] - isd[0]) + std::fabs(predicted[i][1] - isd[1])) /
                     2);
  }
  return errors;
}

PredictorScore score(std::span<const CorunMeasurement> pairs, const std::string& name,
                     bool constant, const std::vector<Isd>& predicted,
                     const std::vector<Isd>& ours) {
  PredictorScore result;
  result.name = name;
  std::vector<double> errors = absolute_errors(pairs, predicted);
  result.mae = mean_over_pairs(pairs, errors);
  const std::vector<double> our_errors = absolute_errors(pairs, ours);
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] -= our_errors[i];
  result.mae_above_contention = mean_over_pairs(pairs, errors);

  std::vector<double> x;
  std::vector<double> y;
  double square = 0;
  double bias = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Isd isd = true_isd(pairs[i]);
    for (std::size_t k = 0; k < isd.size(); ++k) {
      x.push_back(predicted[i][k]);
      y.push_back(isd[k]);
      square += (predicted[i][k] - isd[k]) * (predicted[i][k] - isd[k]);
      bias += predicted[i][k] - isd[k];
    }
  }
  result.rmse = std::sqrt(square / static_cast<double>(x.size()));
  result.bias = bias / static_cast<double>(x.size());
  // Training means are low if the held-out job is slow, so their ranking is an artefact.
  if (!constant && x.size() > 2) result.spearman = spearman(x, y);
  return result;
}

// ---- regret -----------------------------------------------------------------------------------

/// A session's graph; jobs in ascending order of key.
PairGraph graph_of(const EvaluationData& data, const EvaluationData::Session& session,
                   const std::vector<const std::vector<Isd>*>& predictions) {
  struct Sum {
    double count = 0;
    PairGraph::Edge edge;
  };
  std::map<std::pair<WorkloadKey, WorkloadKey>, Sum> edges;
  for (const std::size_t i : session.pairs) {
    const CorunMember& a = data.pairs[i].members[0];
    const CorunMember& b = data.pairs[i].members[1];
    if (a.workload == b.workload) continue;  // a queue holds each job once
    Sum& sum = edges[std::minmax(a.workload, b.workload)];
    sum.edge.predicted.resize(predictions.size() + 1);
    sum.count += 1;
    const Isd isd = true_isd(data.pairs[i]);
    sum.edge.cost += isd[0] + isd[1];
    for (std::size_t p = 0; p < predictions.size(); ++p) {
      const Isd& predicted = (*predictions[p])[i];
      sum.edge.predicted[p] += predicted[0] + predicted[1];
    }
    // The last column is `opposites`, which takes an unknown utilisation as 50 %.
    sum.edge.predicted.back() +=
        a.profile.gpu_util_pct.value_or(50) / 100 * b.profile.gpu_util_pct.value_or(50) / 100;
  }
  std::map<WorkloadKey, std::size_t> position;
  for (const auto& [jobs, sum] : edges) {
    position.emplace(jobs.first, 0);
    position.emplace(jobs.second, 0);
  }
  PairGraph graph;
  for (auto& [job, at] : position) at = graph.jobs++;
  for (auto& [jobs, sum] : edges) {
    sum.edge.a = position[jobs.first];
    sum.edge.b = position[jobs.second];
    sum.edge.cost /= sum.count;
    for (double& predicted : sum.edge.predicted) predicted /= sum.count;
    graph.edges.push_back(std::move(sum.edge));
  }
  return graph;
}

/// The subgraph of some of the jobs.
PairGraph subgraph(const PairGraph& graph, const std::vector<std::size_t>& jobs) {
  std::vector<std::optional<std::size_t>> position(graph.jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) position[jobs[i]] = i;
  PairGraph part;
  part.jobs = jobs.size();
  for (const PairGraph::Edge& edge : graph.edges) {
    if (!position[edge.a] || !position[edge.b]) continue;
    part.edges.push_back(edge);
    part.edges.back().a = *position[edge.a];
    part.edges.back().b = *position[edge.b];
  }
  return part;
}

std::vector<std::size_t> draw_jobs(const PairGraph& graph, std::size_t queue_jobs, Rng& rng) {
  std::vector<std::size_t> jobs;
  if (queue_jobs > 0) {
    std::vector<std::size_t> all(graph.jobs);
    std::iota(all.begin(), all.end(), 0);
    rng.shuffle(std::span(all));
    all.resize(std::min(queue_jobs, all.size()));
    jobs = std::move(all);
  } else {
    constexpr std::uint32_t kLeastPairs = 4;
    constexpr std::uint32_t kMostPairs = 12;
    const std::size_t pairs = kLeastPairs + rng.below(kMostPairs - kLeastPairs + 1);
    std::vector<std::size_t> order(graph.edges.size());
    std::iota(order.begin(), order.end(), 0);
    rng.shuffle(std::span(order));
    for (const std::size_t e : order) {
      const PairGraph::Edge& edge = graph.edges[e];
      if (jobs.size() == 2 * pairs) break;
      if (std::ranges::find(jobs, edge.a) != jobs.end()) continue;
      if (std::ranges::find(jobs, edge.b) != jobs.end()) continue;
      jobs.push_back(edge.a);
      jobs.push_back(edge.b);
    }
  }
  std::ranges::sort(jobs);
  return jobs;
}

/// Surveys of random queues that have more than one perfect matching.
std::vector<MatchingSurvey> survey_queues(const PairGraph& graph, std::size_t session,
                                          std::size_t queue_jobs, std::size_t queues,
                                          std::uint64_t seed) {
  constexpr int kTries = 100;
  std::vector<MatchingSurvey> found;
  for (std::size_t q = 0; q < queues; ++q) {
    const std::array<std::uint32_t, 2> entity{static_cast<std::uint32_t>(session),
                                              static_cast<std::uint32_t>(q)};
    Rng rng(seed, Stream::kJobChoice, hash_entity(entity));
    for (int t = 0; t < kTries; ++t) {
      const PairGraph queue = subgraph(graph, draw_jobs(graph, queue_jobs, rng));
      MatchingSurvey survey = survey_matchings(queue);
      if (2 * survey.pairs != queue.jobs || survey.matchings < 2) continue;
      found.push_back(std::move(survey));
      break;
    }
  }
  return found;
}

/// Loss of predictor p against the optimum, summed over queues, divided by the summed loss of
/// random pairing. The standard error is that of a ratio of sums over independent queues.
Estimate regret_over(const std::vector<MatchingSurvey>& queues, std::size_t p) {
  double lost = 0;
  double random = 0;
  for (const MatchingSurvey& q : queues) {
    lost += q.chosen[p] - q.least;
    random += q.mean - q.least;
  }
  if (!(random > 0)) return {};
  const double ratio = lost / random;
  double square = 0;
  for (const MatchingSurvey& q : queues) {
    const double rest = (q.chosen[p] - q.least) - ratio * (q.mean - q.least);
    square += rest * rest;
  }
  const auto n = static_cast<double>(queues.size());
  return {ratio, n > 1 ? std::sqrt(square * n / (n - 1)) / random : kNaN};
}

void add_regret(ModelEvaluation& evaluation, const EvaluationData& data,
                const std::vector<std::vector<Isd>>& predictions,
                const std::vector<std::size_t>& ranking, std::size_t queues, std::uint64_t seed) {
  std::vector<const std::vector<Isd>*> columns;
  for (const std::size_t p : ranking) columns.push_back(&predictions[p]);
  // The predictor of each column of regrets: the ranking predictors, then opposites.
  std::vector<PredictorScore*> owners;
  for (const std::size_t p : ranking) owners.push_back(&evaluation.predictors[p]);
  owners.push_back(&evaluation.predictors.back());

  for (std::size_t s = 0; s < data.sessions.size(); ++s) {
    const EvaluationData::Session& session = data.sessions[s];
    const PairGraph graph = graph_of(data, session, columns);
    SessionSummary summary;
    summary.name = session.name;
    summary.jobs = graph.jobs;
    summary.pairs = graph.edges.size();
    for (PredictorScore* owner : owners) owner->whole.push_back(kNaN);
    if (session.whole && !graph.edges.empty()) {
      const MatchingSurvey survey = survey_matchings(graph);
      const auto jobs = static_cast<double>(2 * survey.pairs);
      summary.matchings = survey.matchings;
      summary.whole_best = survey.least / jobs;
      summary.whole_random = survey.mean / jobs;
      if (survey.mean > survey.least) {
        for (std::size_t c = 0; c < owners.size(); ++c) {
          owners[c]->whole.back() =
              (survey.chosen[c] - survey.least) / (survey.mean - survey.least);
        }
      }
    }
    const auto found = survey_queues(graph, s, session.queue_jobs, queues, seed);
    summary.queues = found.size();
    double jobs = 0;
    double best = 0;
    double random = 0;
    for (const MatchingSurvey& survey : found) {
      jobs += static_cast<double>(2 * survey.pairs);
      best += survey.least;
      random += survey.mean;
    }
    if (!found.empty()) {
      summary.queues_best = best / jobs;
      summary.queues_random = random / jobs;
    }
    for (std::size_t c = 0; c < owners.size(); ++c) {
      owners[c]->queues.push_back(regret_over(found, c));
    }
    evaluation.sessions.push_back(std::move(summary));
  }

  for (PredictorScore* owner : owners) {
    double whole = 0;
    double wholes = 0;
    for (const double r : owner->whole) {
      if (std::isnan(r)) continue;
      whole += r;
      wholes += 1;
    }
    if (wholes > 0) owner->mean_whole = whole / wholes;
    double sum = 0;
    double square = 0;
    double sessions = 0;
    for (const Estimate& r : owner->queues) {
      if (std::isnan(r.value)) continue;
      sum += r.value;
      square += r.error * r.error;
      sessions += 1;
    }
    if (sessions > 0) owner->mean_queues = {sum / sessions, std::sqrt(square) / sessions};
  }
}

std::vector<Claim> claims_of(const ModelEvaluation& evaluation) {
  const PredictorScore& ours = evaluation.predictor(kOurs);
  const PredictorScore& opposites = evaluation.predictor(kOpposites);
  std::vector<Claim> claims;
  for (const std::string_view other : {"mean", "knowledge-base", "cluster-mean"}) {
    claims.push_back({"MAE of contention below that of " + std::string(other), ours.mae.value,
                      evaluation.predictor(other).mae.value});
  }
  if (!std::isnan(ours.mean_whole)) {
    claims.push_back({"regret of contention below that of opposites, whole sessions",
                      ours.mean_whole, opposites.mean_whole});
  }
  claims.push_back({"regret of contention below that of opposites, random queues",
                    ours.mean_queues.value, opposites.mean_queues.value});
  return claims;
}

/// The pairs of Lucid's table with both speeds, as runs. The lengths of the jobs are not known, so the times are
/// constructed: both jobs end together, and overlap_excess() gives the measured speeds back.
std::vector<CorunMeasurement> constructed_runs(const Measurements& lucid) {
  constexpr double kCorunSeconds = 1000;
  std::vector<CorunMeasurement> runs;
  for (std::size_t r = 0; r < lucid.speeds.rows.size(); ++r) {
    if (!lucid.scored[r]) continue;
    const SpeedTable::Row& row = lucid.speeds.rows[r];
    CorunMeasurement run{
        lucid.source + " pair " + std::to_string(r + 1), lucid.gpu, "time-slicing", {}};
    for (const auto& [job, speed] :
         {std::pair(row.a, row.speed_a), std::pair(row.b, row.speed_b)}) {
      CorunMember member{lucid.speeds.jobs[job], {}, speed * kCorunSeconds, kCorunSeconds};
      for (std::size_t f = 0; f < lucid.speeds.features.size(); ++f) {
        const double value = lucid.speeds.of(job)[f];
        if (std::isnan(value)) continue;
        const std::string& name = lucid.speeds.features[f].name;
        if (name == "gpu_util_pct") member.profile.gpu_util_pct = value;
        if (name == "mem_time_pct") member.profile.mem_time_pct = value;
        if (name != "mem_used_mib") continue;
        member.profile.mem_used_mib = value;
        member.profile.mem_alloc_pct = 100 * value / kLucidMemoryMib;
      }
      run.members.push_back(member);
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

EvaluationData evaluation_data(std::string name, std::span<const CorunMeasurement> rows) {
  EvaluationData data;
  data.name = std::move(name);
  EvaluationData::Session session;
  session.name = data.name;
  for (const CorunMeasurement& row : rows) {
    if (row.members.size() > 2) data.groups.push_back(row);
    if (row.members.size() != 2 || takes_part(kUnknownWorkload, row)) continue;
    session.pairs.push_back(data.pairs.size());
    data.pairs.push_back(row);
    for (CorunMember& m : data.pairs.back().members) {
      if (m.cluster < 0) m.cluster = assign_cluster(paper_clusters(), m.profile).cluster;
    }
  }
  if (data.pairs.empty()) {
    throw InputError(data.name, "no measured pair, expected groups of two jobs; measure some");
  }
  constexpr std::size_t kSmall = 24;
  session.whole = jobs_of(data.pairs).size() <= kSmall;
  data.sessions.push_back(std::move(session));
  return data;
}

EvaluationData papers_evaluation() {
  WorkloadKeys keys;
  return papers_evaluation(keys);
}

EvaluationData papers_evaluation(WorkloadKeys& keys) {
  EvaluationData data;
  data.name = "papers";
  PaperFilter queue;
  queue.jrs_schedules = true;
  queue.jrs_bins = true;
  for (const auto& [name, filter] :
       {std::pair{"JRS-KB", kJrsKnowledgeBase}, std::pair{"JRS-queue", queue},
        std::pair{"PriRecT", kPrirectKnowledgeBase}}) {
    const EvaluationData part = evaluation_data(name, paper_measurements(keys, filter));
    EvaluationData::Session session = part.sessions.front();
    session.whole = true;  // few edges, so even 31 jobs are surveyed quickly
    for (std::size_t& i : session.pairs) i += data.pairs.size();
    data.pairs.insert(data.pairs.end(), part.pairs.begin(), part.pairs.end());
    data.groups.insert(data.groups.end(), part.groups.begin(), part.groups.end());
    data.sessions.push_back(std::move(session));
  }
  return data;
}

EvaluationData lucid_evaluation(const std::string& path) {
  WorkloadKeys keys;
  return lucid_evaluation(path, keys);
}

EvaluationData lucid_evaluation(const std::string& path, WorkloadKeys& keys) {
  EvaluationData data = evaluation_data("lucid", constructed_runs(read_measurements(path, keys)));
  data.timed = false;
  data.sessions.front().whole = false;
  data.sessions.front().queue_jobs = 24;
  return data;
}

const PredictorScore& ModelEvaluation::predictor(std::string_view name) const {
  const auto it = std::ranges::find(predictors, name, &PredictorScore::name);
  if (it == predictors.end()) throw std::logic_error("no predictor " + std::string(name));
  return *it;
}

bool ModelEvaluation::claims_hold() const { return std::ranges::all_of(claims, &Claim::holds); }

ModelEvaluation evaluate_models(const EvaluationData& data, std::size_t queues, std::uint64_t seed,
                                const JudgedModels& asked) {
  ModelEvaluation evaluation;
  evaluation.data = data.name;
  evaluation.pairs = data.pairs.size();
  evaluation.jobs = jobs_of(data.pairs).size();
  evaluation.mean_isd = mean(all_isd(data.pairs));

  const Judged judged(asked, data.timed);
  const HeldOut held_out = held_out_predictions(data, judged, asked);
  const std::size_t ours = judged.simple.size();  // contention is the first model
  std::vector<std::vector<Isd>> predictions;      // of evaluation.predictors
  std::vector<std::size_t> ranking;               // predictors that rank pairs
  for (std::size_t p = 0; p < judged.size(); ++p) {
    const std::string& why = held_out.refused[p];
    if (!why.empty()) {
      if (p < judged.simple.size() + kAlways.size()) throw InputError(data.name, why);
      evaluation.left_out.emplace_back(judged.name(p), why);
      continue;
    }
    if (!judged.constant(p)) ranking.push_back(predictions.size());
    evaluation.predictors.push_back(score(data.pairs, judged.name(p), judged.constant(p),
                                          held_out.predicted[p], held_out.predicted[ours]));
    predictions.push_back(held_out.predicted[p]);
  }
  evaluation.predictors.push_back({});
  evaluation.predictors.back().name = kOpposites;

  add_regret(evaluation, data, predictions, ranking, queues, seed);
  evaluation.claims = claims_of(evaluation);
  return evaluation;
}

}  // namespace corun::inline evaluation
