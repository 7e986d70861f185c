#include "runner/sweep/sweep_results.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "policies/catalog.hpp"
#include "results/hdf5_table.hpp"
#include "sim/base/nan.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"

namespace corun::inline runner {

namespace {

using namespace hdf5;  // NOLINT: all of this file uses it

/// Location of a replication in a journal.
struct Found {
  const SweepJournalIndex* journal = nullptr;
  std::size_t offset = 0;
};

/// Contents of the file except the runs, which are read point by point.
struct Contents {
  SweepPlan plan;
  SweepIdentity identity;
  std::set<std::string> inputs;
  std::map<SweepUnit, Found> units;
  std::vector<std::size_t> points;                 ///< points with all replications
  std::vector<std::size_t> replications;           ///< of these
  std::vector<std::vector<SweepPolicy>> policies;  ///< of these
  std::size_t found = 0;                           ///< replications of all points
  std::size_t missing = 0;  ///< the same, as far as is known which are needed
  std::map<SweepUnit, std::vector<SweepFailure>> failures;
  std::map<std::string, std::set<std::size_t>> notes;  ///< points by text
};

/// The replications that a point needs; up to its next look, if it stops when it has enough and has not.
std::size_t needed_of(const Contents& c, std::size_t point,
                      const std::vector<SweepPolicy>& policies) {
  const std::size_t most = c.plan.replications(point);
  if (!c.plan.until().any()) return most;
  SweepPointRuns known;
  for (const SweepPolicy& policy : policies) known.granted_truth.push_back(policy.granted_truth);
  const auto runs_of = [&](std::size_t r) -> std::optional<std::vector<SweepRun>> {
    const auto at = c.units.find({point, r});
    if (at == c.units.end()) return std::nullopt;
    return at->second.journal->read(at->second.offset);
  };
  return need_of(c.plan.until(), most, known, runs_of).count;
}

Contents gather(std::span<const std::unique_ptr<SweepJournalIndex>> journals, bool allow_missing,
                const SweepPlan* plan) {
  const SweepJournalIndex& first = *journals.front();
  const std::string& config = first.identity().config;
  Contents c{plan ? *plan : SweepPlan::parse(config, first.path(), {}, policy_catalog()),
             first.identity(),
             {},
             {},
             {},
             {},
             {},
             0,
             0,
             {},
             {}};
  std::map<std::string, std::string> input_of;
  std::map<std::uint64_t, std::vector<SweepPolicy>> policies;
  std::map<std::uint64_t, std::vector<std::string>> notes;
  for (const auto& journal : journals) {
    if (journal->identity() != first.identity()) {
      throw InputError(journal->path(), "is part of another sweep than " + first.path() +
                                            " (its configuration, points or corun differ); merge "
                                            "parts of one sweep");
    }
    if (!journal->damage().empty()) {
      throw InputError(journal->path(), journal->damage_text() +
                                            "; the command that wrote it repairs it: run it again");
    }
    for (const SweepInput& input : journal->inputs()) {
      const std::string file = input.entry.substr(input.entry.find(' ') + 1);
      const auto [at, fresh] = input_of.emplace(file, input.entry);
      if (at->second != input.entry) {
        throw InputError(journal->path(),
                         "read another '" + printable(file) + "' than the other parts (" +
                             input.entry.substr(0, 20) + "... here, " + at->second.substr(0, 20) +
                             "... there); run that part again");
      }
      c.inputs.insert(input.entry);
    }
    for (const auto& [point, rows] : journal->policies()) policies.emplace(point, rows);
    notes.insert(journal->notes().begin(), journal->notes().end());
    c.failures.insert(journal->failures().begin(), journal->failures().end());
    for (const auto& [unit, offset] : journal->units()) {
      const auto [at, fresh] = c.units.emplace(unit, Found{journal.get(), offset});
      if (fresh) continue;
      const auto here = journal->read(offset);
      const auto there = at->second.journal->read(at->second.offset);
      const bool same = here.size() == there.size() &&
                        std::memcmp(here.data(), there.data(), here.size() * sizeof(SweepRun)) == 0;
      if (!same) {
        throw InputError(
            journal->path(),
            fmt::format("disagrees with {} on {}, replication {}; run both again",
                        at->second.journal->path(), c.plan.describe(unit.point), unit.replication));
      }
    }
  }
  if (c.plan.points() != c.identity.points) {
    throw InputError(first.path(), "has a header that contradicts its configuration; begin anew");
  }
  std::size_t first_missing = c.plan.points();
  for (std::size_t p = 0; p < c.plan.points(); ++p) {
    std::size_t here = 0;
    const std::size_t needed =
        needed_of(c, p, policies.contains(p) ? policies.at(p) : std::vector<SweepPolicy>());
    for (std::size_t r = 0; r < needed; ++r) here += c.units.count({p, r});
    c.found += here;
    c.missing += needed - here;
    if (here == needed && policies.contains(p)) {
      c.points.push_back(p);
      c.replications.push_back(needed);
      c.policies.push_back(policies.at(p));
      for (const std::string& text : notes[p]) c.notes[text].insert(p);
    } else {
      first_missing = std::min(first_missing, p);
    }
  }
  if (first_missing < c.plan.points() && !allow_missing) {
    throw InputError(
        first.path(),
        fmt::format("{} of {} replications are missing{}, the first of {}; run the other "
                    "shards, continue them, or give --partial",
                    c.missing, c.found + c.missing, journals.size() > 1 ? " in these parts" : "",
                    printable(c.plan.describe(first_missing), 200)));
  }
  return c;
}

struct PolicyRow {
  std::size_t point;
  std::size_t index;  ///< within the point
  const SweepPolicy& policy;
};

struct FailureRow : PolicyRow {
  std::uint64_t replication;
  std::string reason;
};

/// A note, or one of its points.
struct NoteRow {
  std::size_t number;
  std::size_t point;
  std::string text;
};

struct RealsRow : PolicyRow {
  std::size_t number;
  const SweepRun& reals;
};

class Layout {
 public:
  Layout(hid_t file, const Contents& contents) : file_(file), c_(contents) {
    for (const auto& rows : c_.policies) {
      labels_ = std::max(labels_, width_of(rows, [](const auto& r) { return r.label; }));
    }
  }

  void write() const {
    attributes();
    points();
    policies();
    runs();
    failures();
    notes();
  }

 private:
  void attributes() const {
    const Handle root(H5Gopen2(file_, "/", H5P_DEFAULT), H5Gclose, "open the root");
    write_attribute(root, "kind", std::string(kSweepResultsKind));
    write_attribute(root, "schema_version", std::int64_t{kSweepSchemaVersion});
    write_attribute(root, "corun_version", c_.identity.corun_version);
    write_attribute(root, "commit", c_.identity.commit);
    write_attribute(root, "config", c_.identity.config);
    write_attribute(root, "seed", c_.identity.seed);
    write_attribute(root, "points", static_cast<std::int64_t>(c_.points.size()));
    write_attribute(root, "replications", static_cast<std::int64_t>(c_.found));
    write_attribute(root, "complete", std::int64_t{c_.missing == 0 ? 1 : 0});
    write_attribute(root, "inputs", std::vector<std::string>(c_.inputs.begin(), c_.inputs.end()));
  }

  template <typename Row>
  std::vector<ColumnOf<Row>> of_policies() const {
    return {Columns<Row>::int64("point", "number of the point, from 0, in the order of the sweep",
                                [](const Row& row) { return row.point; }),
            Columns<Row>::int32("policy", "index of the policy within its point",
                                [](const Row& row) { return row.index; }),
            Columns<Row>::text("label", "label of the policy", labels_,
                               [](const Row& row) { return row.policy.label; })};
  }

  /// Columns of /metrics and /means; `number` has the replication, or how many there are.
  std::vector<ColumnOf<RealsRow>> of_reals(ColumnOf<RealsRow> number) const {
    using C = Columns<RealsRow>;
    std::vector<ColumnOf<RealsRow>> columns = of_policies<RealsRow>();
    columns.push_back(std::move(number));
    std::size_t next = 0;
    const auto add = [&](std::string name, std::string units, std::string description) {
      columns.push_back(C::real(std::move(name), std::move(units), std::move(description),
                                [k = next++](const RealsRow& row) { return row.reals[k]; }));
    };
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      const MetricInfo& info = metric_info(static_cast<Metric>(m));
      add(std::string(info.name), std::string(info.unit), std::string(info.description));
    }
    for (const auto* what : {"measured", "modelled", "extrapolated"}) {
      add(std::string(what) + "_s", "GPU s",
          std::string("time with co-runners whose cost was ") + what);
    }
    for (std::size_t s = 0; s < kSoloSources; ++s) {
      const std::string source(name_of(static_cast<SoloSource>(s)));
      add("solo_" + source + "_s", "GPU s", "jobs on GPUs whose speed alone there was: " + source);
    }
    return columns;
  }

  /// The column of a swept key, of numbers if all its values are numbers.
  ColumnOf<std::size_t> column_of_key(std::size_t key) const {
    using C = Columns<std::size_t>;
    bool all_numbers = true;
    std::size_t width = 1;
    for (const std::size_t p : c_.points) {
      const std::string& text = c_.plan.text(p, key);
      all_numbers = all_numbers && (text.empty() || parse_number(text));
      width = std::max(width, text.size());
    }
    const std::string& name = c_.plan.keys()[key];
    const std::string what = "value of the swept key; ";
    if (!all_numbers) {
      return C::text(name, what + "empty: that of the configuration", width,
                     [this, key](std::size_t point) { return c_.plan.text(point, key); });
    }
    return C::real(name, "as the key says", what + "NaN: that of the configuration",
                   [this, key](std::size_t point) {
                     return parse_number(c_.plan.text(point, key)).value_or(kNaN);
                   });
  }

  void points() const {
    using C = Columns<std::size_t>;
    std::map<std::size_t, std::size_t> replications;  // by point
    for (std::size_t i = 0; i < c_.points.size(); ++i) {
      replications[c_.points[i]] = c_.replications[i];
    }
    std::vector<ColumnOf<std::size_t>> columns{
        C::int64("point", "number of the point, from 0, in the order of the sweep",
                 [](std::size_t point) { return point; }),
        C::int64("point_replications", "replications of the point",
                 [&](std::size_t point) { return replications.at(point); })};
    for (std::size_t k = 0; k < c_.plan.keys().size(); ++k) columns.push_back(column_of_key(k));
    TableOf<std::size_t> table(file_, "points", "one row per point", std::move(columns));
    for (const std::size_t p : c_.points) table.add(p);
    table.finish();
  }

  void policies() const {
    using C = Columns<PolicyRow>;
    std::size_t names = 1;
    std::size_t parameters = 1;
    for (const auto& rows : c_.policies) {
      names = std::max(names, width_of(rows, [](const auto& r) { return r.name; }));
      parameters = std::max(parameters, width_of(rows, [](const auto& r) { return r.parameters; }));
    }
    std::vector<ColumnOf<PolicyRow>> columns = of_policies<PolicyRow>();
    columns.push_back(C::text("name", "name of the policy in the catalogue", names,
                              [](const PolicyRow& row) { return row.policy.name; }));
    columns.push_back(C::text("parameters", "parameters, JSON", parameters,
                              [](const PolicyRow& row) { return row.policy.parameters; }));
    columns.push_back(C::int32(
        "granted_truth", "1: it decides from the true costs: a bound, not a policy one could run",
        [](const PolicyRow& row) { return row.policy.granted_truth ? 1 : 0; }));
    TableOf<PolicyRow> table(file_, "policies", "one row per policy of a point",
                             std::move(columns));
    for (std::size_t i = 0; i < c_.points.size(); ++i) {
      for (std::size_t q = 0; q < c_.policies[i].size(); ++q) {
        table.add({c_.points[i], q, c_.policies[i][q]});
      }
    }
    table.finish();
  }

  /// Writes /metrics and /means in one pass over the journals.
  void runs() const {
    const auto number = [](const RealsRow& row) { return row.number; };
    TableOf<RealsRow> metrics(
        file_, "metrics",
        "one row per run (a policy in a replication of a point); NaN where a run does not "
        "define a metric",
        of_reals(Columns<RealsRow>::int64(
            "replication", "number of the replication; its seed is the point's seed + this",
            number)),
        false);
    TableOf<RealsRow> means(
        file_, "means",
        "one row per policy of a point: means over the replications that define a metric",
        of_reals(Columns<RealsRow>::int64("replications",
                                          "how many replications the means are over", number)),
        false);
    for (std::size_t i = 0; i < c_.points.size(); ++i) {
      const std::size_t p = c_.points[i];
      const std::size_t count = c_.replications[i];
      std::vector<std::vector<SweepRun>> runs;
      for (std::size_t r = 0; r < count; ++r) {
        const Found& found = c_.units.at({p, r});
        runs.push_back(found.journal->read(found.offset));
        if (runs.back().size() != c_.policies[i].size()) {
          throw InputError(found.journal->path(),
                           "holds runs of other policies than it names; begin anew");
        }
      }
      for (std::size_t q = 0; q < c_.policies[i].size(); ++q) {
        const PolicyRow policy{p, q, c_.policies[i][q]};
        SweepRun sum{};
        SweepRun defined{};
        for (std::size_t r = 0; r < count; ++r) {
          metrics.add({policy, r, runs[r][q]});
          for (std::size_t m = 0; m < kSweepReals; ++m) {
            const double value = runs[r][q][m];
            if (std::isnan(value)) continue;
            sum[m] += value;
            defined[m] += 1;
          }
        }
        for (std::size_t m = 0; m < kSweepReals; ++m) {
          sum[m] = defined[m] > 0 ? sum[m] / defined[m] : kNaN;
        }
        means.add({policy, count, sum});
      }
    }
    metrics.finish();
    means.finish();
  }

  /// A file without failures lacks the table.
  void failures() const {
    std::vector<FailureRow> rows;
    for (std::size_t i = 0; i < c_.points.size(); ++i) {
      const std::size_t p = c_.points[i];
      for (auto at = c_.failures.lower_bound({p, 0});
           at != c_.failures.end() && at->first.point == p; ++at) {
        for (const SweepFailure& failure : at->second) {
          if (failure.policy >= c_.policies[i].size()) continue;
          rows.push_back({{p, failure.policy, c_.policies[i][failure.policy]},
                          at->first.replication,
                          failure.reason});
        }
      }
    }
    if (rows.empty()) return;
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, {}, [&](std::size_t r) { return std::pair(rows[r].point, rows[r].index); });
    using C = Columns<FailureRow>;
    std::vector<ColumnOf<FailureRow>> columns = of_policies<FailureRow>();
    columns.push_back(C::int64("replication",
                               "number of the replication; its seed is the point's seed + this",
                               [](const FailureRow& row) { return row.replication; }));
    columns.push_back(C::text("reason", "the rule, and how it was broken",
                              width_of(
                                  rows, [](const auto& r) -> const auto& { return r.reason; }),
                              [](const FailureRow& row) { return row.reason; }));
    TableOf<FailureRow> table(
        file_, "failures",
        "one row per run that the policy ended by breaking a rule; its metrics are NaN",
        std::move(columns));
    for (const std::size_t r : order) table.add(rows[r]);
    table.finish();
  }

  /// A file without notes lacks both tables.
  void notes() const {
    using Text = std::map<std::string, std::set<std::size_t>>::value_type;
    std::vector<const Text*> order;
    for (const Text& note : c_.notes) order.push_back(&note);
    if (order.empty()) return;
    std::ranges::stable_sort(order, {}, [](const Text* note) { return *note->second.begin(); });
    std::vector<NoteRow> texts;
    std::vector<NoteRow> places;
    for (const Text* note : order) {
      for (const std::size_t point : note->second) places.push_back({texts.size(), point, {}});
      texts.push_back({texts.size(), 0, note->first});
    }
    using C = Columns<NoteRow>;
    const auto number = C::int64("note", "number of the note, from 0",
                                 [](const NoteRow& row) { return row.number; });
    const auto text_of = [](const NoteRow& row) -> const std::string& { return row.text; };
    TableOf<NoteRow> notes(
        file_, "notes", "one row per note on the experiments of some points",
        {number, C::text("text", "what a user should know", width_of(texts, text_of), text_of)});
    for (const NoteRow& row : texts) notes.add(row);
    notes.finish();
    TableOf<NoteRow> points(file_, "note_points", "one row per note and point that it concerns",
                            {number, C::int64("point", "number of the point",
                                              [](const NoteRow& row) { return row.point; })});
    for (const NoteRow& row : places) points.add(row);
    points.finish();
  }

  hid_t file_;
  const Contents& c_;
  std::size_t labels_ = 1;
};

}  // namespace

std::size_t write_sweep_results(const std::string& path,
                                std::span<const std::unique_ptr<SweepJournalIndex>> journals,
                                bool allow_missing, const SweepPlan* plan) {
  const Contents contents = gather(journals, allow_missing, plan);
  write_file_atomically(path, file_image([&](hid_t file) { Layout(file, contents).write(); }));
  return contents.missing;
}

std::vector<std::size_t> SweepResults::points() const {
  std::vector<std::size_t> there;
  for (std::size_t p = 0; p < plan.points(); ++p) {
    const auto has = [&](const PolicyColumn& policy) { return !policy.values[p].empty(); };
    if (std::ranges::any_of(policies, has)) there.push_back(p);
  }
  return there;
}

std::size_t SweepResults::replications(std::size_t point) const {
  std::size_t most = 0;
  for (const PolicyColumn& policy : policies) most = std::max(most, policy.values[point].size());
  return most;
}

SweepResults read_sweep_results(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    const std::string journal = path + ".journal";
    throw InputError(path,
                     std::filesystem::exists(journal, error)
                         ? "no such file, but " + journal +
                               " is of a sweep that was stopped: run it again to continue"
                         : "no such file, expected the results of corun sweep; check the path");
  }
  const std::lock_guard lock(hdf5_mutex());
  silence_hdf5();
  try {
    const Handle file = open_file(path);
    const Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, "open the root");
    const std::string kind = read_text_attribute(root, "kind");
    if (kind != kSweepResultsKind) {
      throw InputError(path, "holds '" + printable(kind) +
                                 "', expected the results of corun sweep ('corun sweep'); results "
                                 "of a replay are shown "
                                 "by corun report " +
                                 path + " -o page.html");
    }
    const std::int64_t schema = read_integer_attribute(root, "schema_version");
    if (schema != kSweepSchemaVersion) {
      throw InputError(path, fmt::format("has schema version {}, this corun reads {}", schema,
                                         kSweepSchemaVersion));
    }
    SweepResults results{
        SweepPlan::parse(read_text_attribute(root, "config"), path, {}, policy_catalog()),
        read_integer_attribute(root, "complete") == 1,
        {},
        {},
        {}};
    std::map<std::string, std::size_t> column_of;
    const auto damaged = [&] {
      return InputError(path, "its tables do not fit its configuration; was it changed by hand?");
    };
    {
      const TableReader table(file, "policies");
      const auto labels = table.texts("label");
      const auto truths = table.integers("granted_truth");
      for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto [at, fresh] = column_of.emplace(labels[row], results.policies.size());
        if (fresh) results.policies.push_back({labels[row], false, {}});
        if (truths[row] != 0) results.policies[at->second].granted_truth = true;
      }
    }
    for (auto& column : results.policies) column.values.resize(results.plan.points());
    std::vector<std::size_t> count_of_point(results.plan.points());
    {
      const TableReader table(file, "points");
      const auto points = table.integers("point");
      const auto counts = table.integers("point_replications");
      for (std::size_t row = 0; row < table.rows(); ++row) {
        if (points[row] < 0 || counts[row] < 0) throw damaged();
        const auto p = static_cast<std::size_t>(points[row]);
        const auto count = static_cast<std::size_t>(counts[row]);
        if (p >= results.plan.points() || count > results.plan.replications(p)) throw damaged();
        if (!results.plan.until().any() && count != results.plan.replications(p)) throw damaged();
        count_of_point[p] = count;
      }
    }
    const TableReader table(file, "metrics");
    const auto point = table.integers("point");
    const auto label = table.texts("label");
    const auto replication = table.integers("replication");
    MetricValues undefined;
    undefined.fill(kNaN);
    std::vector<MetricValues*> rows;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const auto at = column_of.find(label[row]);
      if (at == column_of.end() || point[row] < 0 || replication[row] < 0) throw damaged();
      const auto p = static_cast<std::size_t>(point[row]);
      const auto r = static_cast<std::size_t>(replication[row]);
      if (p >= results.plan.points() || r >= count_of_point[p]) throw damaged();
      auto& values = results.policies[at->second].values[p];
      values.resize(count_of_point[p], undefined);
      rows.push_back(&values[r]);
    }
    if (has_table(file, "failures")) {
      const TableReader failed(file, "failures");
      const auto points = failed.integers("point");
      const auto labels = failed.texts("label");
      const auto replications = failed.integers("replication");
      const auto reasons = failed.texts("reason");
      for (std::size_t row = 0; row < failed.rows(); ++row) {
        if (points[row] < 0 || replications[row] < 0) throw damaged();
        results.failures.push_back({static_cast<std::size_t>(points[row]), labels[row],
                                    static_cast<std::size_t>(replications[row]), reasons[row]});
      }
    }
    if (has_table(file, "notes") && has_table(file, "note_points")) {
      for (std::string& text : TableReader(file, "notes").texts("text")) {
        results.notes.push_back({std::move(text), {}});
      }
      const TableReader places(file, "note_points");
      const auto notes = places.integers("note");
      const auto points = places.integers("point");
      for (std::size_t row = 0; row < places.rows(); ++row) {
        const auto n = static_cast<std::size_t>(notes[row]);
        const auto p = static_cast<std::size_t>(points[row]);
        if (notes[row] < 0 || points[row] < 0) throw damaged();
        if (n >= results.notes.size() || p >= results.plan.points()) throw damaged();
        std::vector<std::size_t>& of = results.notes[n].points;
        if (!of.empty() && p <= of.back()) throw damaged();
        of.push_back(p);
      }
    }
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      const auto values = table.reals(std::string(metric_info(static_cast<Metric>(m)).name));
      for (std::size_t row = 0; row < rows.size(); ++row) (*rows[row])[m] = values[row];
    }
    return results;
  } catch (const InputError&) {
    throw;
  } catch (const std::runtime_error& e) {
    std::string why = e.what();
    why = why.substr(0, why.find(" of the results"));  // the rest concerns writing
    throw InputError(path, "cannot be read as the results of corun sweep (" + why + ")");
  }
}

}  // namespace corun::inline runner
