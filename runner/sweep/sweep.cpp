#include "runner/sweep/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "results/results_header.hpp"
#include "runner/experiment/experiment.hpp"
#include "runner/experiment/experiment_header.hpp"
#include "sim/base/parallel_for.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/build_info.hpp"
#include "support/checksum.hpp"

namespace corun::inline runner {

namespace {

std::string policies_json(const Experiment& experiment) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const PolicyInstance& policy : experiment.policies()) {
    list.push_back({{"label", policy.label},
                    {"name", policy.entry->name},
                    {"parameters", parameters_json(policy)},
                    {"granted_truth", policy.granted_truth}});
  }
  return list.dump();
}

/// The notes on a point's experiment, each once. An overload is told without its numbers, so that all overloaded points
/// share a note.
std::vector<std::string> notes_of(const Experiment& experiment) {
  std::vector<std::string> notes;
  const auto add = [&](const std::string& text) {
    if (std::ranges::find(notes, text) == notes.end()) notes.push_back(text);
  };
  for (const Note& note : experiment.resolutions()) add(note.text);
  for (const Note& note : experiment.notes()) {
    add(note.code == NoteCode::kOverload
            ? "the jobs offer more work than the cluster can do without sharing: queues grow with "
              "the length of the trace"
            : note.text);
  }
  return notes;
}

SweepRun run_of(const PolicyRun& run) {
  SweepRun out{};
  std::ranges::copy(run.metrics, out.begin());
  const auto co_runners = [&](Provenance how) {
    return run.record.usage.corun_s[static_cast<std::size_t>(how)];
  };
  out[kMetricCount] = co_runners(Provenance::kMeasured);
  out[kMetricCount + 1] = co_runners(Provenance::kModelled);
  out[kMetricCount + 2] = co_runners(Provenance::kExtrapolated);
  std::ranges::copy(run.record.usage.solo_s, out.begin() + kMetricCount + 3);
  return out;
}

std::shared_ptr<InputCache> files_of(const SweepOptions& options) {
  return options.files ? options.files : std::make_shared<InputCache>(options.threads);
}

/// Calls `use(point, experiment)` on several threads.
template <typename Use>
void for_experiments(const SweepPlan& plan, const std::vector<std::size_t>& points,
                     const SweepOptions& options, const Use& use) {
  const std::shared_ptr<InputCache> files = files_of(options);
  parallel_for(points.size(), options.threads, [&](std::size_t i) {
    use(points[i], Experiment(plan.config_of(points[i]), options.data_directory, std::nullopt,
                              options.device, files));
  });
}

/// "FILE" of "sha256:... FILE".
std::string file_of(const std::string& entry) { return entry.substr(entry.find(' ') + 1); }

/// Sweeps of at most this many points try all points before the first runs, and at most this many
/// built experiments are kept until their point runs.
constexpr std::size_t kTriedMax = 16;

/// A point that a thread has begun.
struct ActivePoint {
  std::size_t point = 0;
  std::shared_ptr<const Experiment> experiment;  ///< null while it is being built
  std::vector<std::size_t> left;                 ///< replications not yet taken, last first
  std::size_t running = 0;                       ///< taken and not finished

  // If the point stops when it has enough replications:
  std::map<std::size_t, std::vector<SweepRun>> fresh;  ///< finished now, by replication
  SweepPointRuns known;                                ///< its first replications
};
using ActivePointPtr = std::shared_ptr<ActivePoint>;

/// The state shared by threads. All else of a sweep is local to a thread or constant.
class Sweep {
 public:
  Sweep(const SweepPlan& plan, SweepJournalWriter& journal, const SweepJournalIndex* done,
        const SweepOptions& options)
      : plan_(plan), journal_(journal), options_(options), next_point_(options.first_point()) {
    if (done != nullptr) {
      done_index_ = done;
      done_ = &done->units();
      for (const SweepInput& input : done->inputs()) inputs_[file_of(input.entry)] = input.entry;
      for (const auto& [point, policies] : done->policies()) policies_.insert(point);
      for (const auto& [unit, failures] : done->failures()) note_failures(unit, failures);
    }
    for (std::size_t p = options.first_point(); p < options.end_point(plan); ++p) {
      for (std::size_t r = 0; r < plan.replications(p); ++r) {
        if (!options.holds(plan, {p, r})) continue;
        ++outcome_.total;
        if (is_done({p, r})) ++outcome_.finished;
      }
    }
  }

  SweepOutcome run() {
    if (options_.tries_points) check();
    if (errors_.empty() && !stopped()) {
      run_in_threads(options_.threads, [this] { work(); });
    }
    if (!errors_.empty()) std::rethrow_exception(errors_.begin()->second);
    journal_.sync();
    outcome_.notes = by_first_point(notes_);
    outcome_.failures = by_first_point(failures_);
    return outcome_;
  }

 private:
  /// Reports points that cannot run before the first one runs. Checks the points that
  /// points_to_check() selects from those with work left.
  void check() {
    std::vector<std::size_t> left;
    for (std::size_t p = options_.first_point(); p < options_.end_point(plan_); ++p) {
      for (std::size_t r = 0; r < plan_.replications(p); ++r) {
        if (!options_.holds(plan_, {p, r}) || is_done({p, r})) continue;
        left.push_back(p);
        break;
      }
    }
    const std::vector<std::size_t> points = points_to_check(plan_, left);
    parallel_for(points.size(), options_.threads, [&](std::size_t i) {
      // Points below one that failed go on: the error of the first is reported, at any number of threads.
      if (interrupted() || failed_below({points[i], 0})) return;
      try {
        std::shared_ptr<const Experiment> experiment = experiment_of(points[i]);
        experiment->check_runs();
        if (i >= kTriedMax) return;
        const std::lock_guard lock(record_mutex_);
        tried_.emplace(points[i], std::move(experiment));
      } catch (...) {
        fail({points[i], 0}, std::current_exception());
      }
    });
  }

  bool is_done(const SweepUnit& unit) const { return done_ != nullptr && done_->contains(unit); }

  bool interrupted() const { return options_.stop != nullptr && options_.stop->load(); }
  bool stopped() const { return failed_ || interrupted(); }
  bool failed_below(const SweepUnit& unit) {
    const std::lock_guard lock(error_mutex_);
    return !errors_.empty() && errors_.begin()->first < unit;
  }

  void work() {
    ActivePointPtr own;
    std::unique_lock lock(mutex_);
    while (!stopped()) {
      if (own && own->left.empty()) own.reset();
      if (!own && (own = begin_next_point())) {
        lock.unlock();
        std::shared_ptr<const Experiment> experiment = make_experiment(own->point);
        lock.lock();
        own->experiment = std::move(experiment);
        if (is_as_needed() && own->experiment) {
          own->known.granted_truth.clear();
          for (const PolicyInstance& policy : own->experiment->policies()) {
            own->known.granted_truth.push_back(policy.granted_truth);
          }
        }
        changed_.notify_all();
        if (!own->experiment) return;  // failed: all threads stop
        continue;
      }
      const ActivePointPtr from = own ? own : most_left();
      if (!from) {
        if (!more_may_come()) return;
        // Another thread is building an experiment, or finds out whether a point needs more replications.
        changed_.wait_for(lock, std::chrono::milliseconds(50));
        continue;
      }
      const SweepUnit unit{from->point, from->left.back()};
      from->left.pop_back();
      ++from->running;
      const std::shared_ptr<const Experiment> experiment = from->experiment;
      lock.unlock();
      std::optional<std::vector<SweepRun>> runs = run_unit(*experiment, unit);
      lock.lock();
      --from->running;
      if (!runs) return;
      ++outcome_.finished;
      if (is_as_needed()) from->fresh[unit.replication] = std::move(*runs);
      settle(*from);
      if (options_.on_finished) options_.on_finished(outcome_.finished, outcome_.total);
    }
  }

  bool is_as_needed() const { return plan_.until().any(); }

  /// Call with the lock. Null if all points have been begun.
  ActivePointPtr begin_next_point() {
    for (; next_point_ < options_.end_point(plan_); ++next_point_) {
      auto point = std::make_shared<ActivePoint>();
      point->point = next_point_;
      if (is_as_needed()) {
        if (!options_.holds(plan_, {next_point_, 0})) continue;
        if (done_index_ != nullptr) take_truth(*point);
        take_next_replications(*point);
      } else {
        for (std::size_t r = plan_.replications(next_point_); r-- > 0;) {
          const SweepUnit unit{next_point_, r};
          if (options_.holds(plan_, unit) && !is_done(unit)) point->left.push_back(r);
        }
      }
      if (point->left.empty()) continue;
      active_.push_back(point);
      ++next_point_;
      return point;
    }
    return nullptr;
  }

  /// Call with the lock. A point all of whose replications are finished needs more, or none.
  void settle(ActivePoint& point) {
    if (!point.left.empty() || point.running > 0) return;
    if (is_as_needed()) take_next_replications(point);
    if (!point.left.empty()) {
      changed_.notify_all();
      return;
    }
    std::erase_if(active_, [&](const ActivePointPtr& p) { return p.get() == &point; });
  }

  /// Call with the lock. The replications up to the next look at the point that are not there; none if it needs no more.
  void take_next_replications(ActivePoint& point) {
    const std::size_t most = plan_.replications(point.point);
    const auto runs_of = [&](std::size_t r) -> std::optional<std::vector<SweepRun>> {
      const auto found = point.fresh.find(r);
      if (found != point.fresh.end()) return std::move(found->second);
      if (!is_done({point.point, r})) return std::nullopt;
      return done_index_->read(done_->at({point.point, r}));
    };
    const SweepNeed need = need_of(plan_.until(), most, point.known, runs_of);
    if (need.met) {
      outcome_.total -= most - need.count;
      return;
    }
    for (std::size_t r = need.count; r-- > point.known.runs.size();) {
      const bool is_there = point.fresh.contains(r) || is_done({point.point, r});
      if (!is_there) point.left.push_back(r);
    }
  }

  /// Which policies of a point know the true costs, by the journal.
  void take_truth(ActivePoint& point) const {
    const auto found = done_index_->policies().find(point.point);
    if (found == done_index_->policies().end()) return;
    point.known.granted_truth.clear();
    for (const SweepPolicy& policy : found->second) {
      point.known.granted_truth.push_back(policy.granted_truth);
    }
  }

  ActivePointPtr most_left() const {
    ActivePointPtr most;
    for (const ActivePointPtr& point : active_) {
      if (!point->experiment || point->left.empty()) continue;
      if (!most || point->left.size() > most->left.size()) most = point;
    }
    return most;
  }

  bool more_may_come() const {
    return std::ranges::any_of(active_, [&](const ActivePointPtr& p) {
      return !p->experiment || (is_as_needed() && p->running > 0);
    });
  }

  std::shared_ptr<const Experiment> experiment_of(std::size_t point) const {
    return std::make_shared<const Experiment>(plan_.config_of(point), options_.data_directory,
                                              std::nullopt, options_.device, files_);
  }

  /// The experiment built when the point was tried; null if it was not kept.
  std::shared_ptr<const Experiment> take_tried(std::size_t point) {
    const std::lock_guard lock(record_mutex_);
    const auto node = tried_.extract(point);
    return node ? node.mapped() : nullptr;
  }

  /// Call without the lock. Null on failure.
  std::shared_ptr<const Experiment> make_experiment(std::size_t point) {
    try {
      std::shared_ptr<const Experiment> experiment = take_tried(point);
      if (!experiment) experiment = experiment_of(point);
      record(point, *experiment);
      return experiment;
    } catch (...) {
      fail({point, 0}, std::current_exception());
      return nullptr;
    }
  }

  /// Records the inputs, policies and notes of a point.
  void record(std::size_t point, const Experiment& experiment) {
    const std::lock_guard lock(record_mutex_);
    ++outcome_.points;
    const std::vector<std::string> notes = notes_of(experiment);
    for (const std::string& note : notes) notes_[note].insert(point);
    for (std::size_t i = 0; i < experiment.inputs().size(); ++i) {
      const std::string& entry = experiment.inputs()[i];
      const auto [at, fresh] = inputs_.emplace(file_of(entry), entry);
      if (at->second != entry) {
        throw InputError(file_of(entry), "has changed since the sweep began (" +
                                             at->second.substr(0, at->second.find(' ')) +
                                             " then); put it back, or begin anew with --force");
      }
      if (fresh) journal_.add_input({entry, experiment.input_files()[i]});
    }
    if (policies_.insert(point).second) {
      journal_.add_policies(point, policies_json(experiment), notes);
    }
  }

  /// Call without the lock. Nothing if interrupted or failed.
  std::optional<std::vector<SweepRun>> run_unit(const Experiment& experiment,
                                                const SweepUnit& unit) {
    try {
      const Replication replication =
          experiment.run(unit.replication,
                         {.stop = options_.stop, .keep_records = false, .time_decisions = false});
      std::vector<SweepRun> runs;
      runs.reserve(replication.runs.size());
      std::vector<SweepFailure> failures;
      for (const PolicyRun& run : replication.runs) {
        if (!run.failure.empty()) failures.push_back({runs.size(), run.failure});
        runs.push_back(run_of(run));
      }
      if (!failures.empty()) {
        journal_.add_failures(unit, failures);
        const std::lock_guard lock(record_mutex_);
        note_failures(unit, failures);
      }
      journal_.add_runs(unit, runs);
      return runs;
    } catch (const Interrupted&) {
      return std::nullopt;
    } catch (...) {
      fail(unit, std::current_exception());
      return std::nullopt;
    }
  }

  void note_failures(const SweepUnit& unit, const std::vector<SweepFailure>& failures) {
    for (const SweepFailure& failure : failures) failures_[failure.reason].insert(unit.point);
  }

  static std::vector<SweepNote> by_first_point(
      const std::map<std::string, std::set<std::size_t>>& texts) {
    std::vector<SweepNote> notes;
    for (const auto& [text, points] : texts) {
      notes.push_back({text, points.size(), *points.begin()});
    }
    std::ranges::stable_sort(notes, {}, &SweepNote::first_point);
    return notes;
  }

  void fail(const SweepUnit& unit, std::exception_ptr error) {
    try {
      std::rethrow_exception(error);
    } catch (const InputError& e) {
      error = std::make_exception_ptr(InputError(std::string(e.what()) + " [" +
                                                 printable(plan_.describe(unit.point), 200) + "]"));
    } catch (...) {
      // Other errors are reported unchanged.
    }
    const std::lock_guard lock(error_mutex_);
    errors_.emplace(unit, error);
    failed_ = true;
  }

  const SweepPlan& plan_;
  SweepJournalWriter& journal_;
  const SweepOptions& options_;
  const SweepJournalIndex* done_index_ = nullptr;
  const std::map<SweepUnit, std::size_t>* done_ = nullptr;        ///< its units
  const std::shared_ptr<InputCache> files_ = files_of(options_);  ///< shared by all points

  std::mutex mutex_;  ///< guards the next four
  std::condition_variable changed_;
  std::list<ActivePointPtr> active_;  ///< begun, and not all of their replications finished
  std::size_t next_point_;
  SweepOutcome outcome_;

  std::mutex record_mutex_;  ///< guards the next five, and outcome_.points
  std::map<std::size_t, std::shared_ptr<const Experiment>> tried_;  ///< kept until their point runs
  std::map<std::string, std::string> inputs_;                       ///< entry by file
  std::set<std::uint64_t> policies_;                                ///< points whose are recorded
  std::map<std::string, std::set<std::size_t>> notes_;              ///< points by note
  std::map<std::string, std::set<std::size_t>> failures_;           ///< points by reason

  std::mutex error_mutex_;
  std::map<SweepUnit, std::exception_ptr> errors_;
  std::atomic<bool> failed_{false};
};

}  // namespace

SweepIdentity sweep_identity(const SweepPlan& plan) {
  return {version(),         commit(),      plan.dump_yaml(),
          plan.base().seed,  plan.points(), plan.total_replications(),
          plan.until().any()};
}

void check_resumable(const SweepJournalIndex& journal, const SweepPlan& plan) {
  const SweepIdentity& then = journal.identity();
  const SweepIdentity now = sweep_identity(plan);
  const std::string what = "; go on with what it was begun with, or begin anew with --force";
  if (then.corun_version != now.corun_version || then.commit != now.commit) {
    throw InputError(journal.path(), "was begun by corun " + then.corun_version + " (" +
                                         then.commit + "), this is " + now.corun_version + " (" +
                                         now.commit + ")" + what);
  }
  if (then != now) {
    throw InputError(
        journal.path(),
        "was begun with another configuration" +
            (then.points == now.points ? std::string()
                                       : " (" + std::to_string(then.points) + " points, now " +
                                             std::to_string(now.points) + ")") +
            what);
  }
  for (const SweepInput& input : journal.inputs()) {
    const std::string sum = "sha256:" + sha256_of_file(input.found);
    if (input.entry.starts_with(sum + " ")) continue;
    throw InputError(input.found, "has changed since the sweep began (" + journal.path() + " has " +
                                      input.entry.substr(0, input.entry.find(' ')) + ", now " +
                                      sum + "); put it back, or begin anew with --force");
  }
}

std::vector<SweepInput> sweep_inputs(const SweepPlan& plan, const SweepOptions& options) {
  std::vector<std::size_t> all(plan.points());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::mutex mutex;
  std::map<std::string, std::string> found;  // path by entry
  for_experiments(plan, points_to_check(plan, all), options,
                  [&](std::size_t, const Experiment& experiment) {
                    const std::lock_guard lock(mutex);
                    for (std::size_t k = 0; k < experiment.inputs().size(); ++k) {
                      found.emplace(experiment.inputs()[k], experiment.input_files()[k]);
                    }
                  });
  std::vector<SweepInput> inputs;
  for (const auto& [entry, path] : found) inputs.push_back({entry, path});
  return inputs;
}

std::set<std::uint64_t> points_with_named_inputs(const SweepJournalIndex& journal,
                                                 const SweepPlan& plan,
                                                 const SweepOptions& options) {
  std::set<std::string> named;
  for (const SweepInput& input : journal.inputs()) named.insert(input.entry);
  std::vector<std::size_t> points;  // units are sorted by point
  for (const auto& [unit, offset] : journal.units()) {
    if (points.empty() || points.back() != unit.point) points.push_back(unit.point);
  }
  std::mutex mutex;
  std::set<std::uint64_t> known;
  for_experiments(plan, points, options, [&](std::size_t point, const Experiment& experiment) {
    const auto is_named = [&](const std::string& entry) { return named.contains(entry); };
    if (!std::ranges::all_of(experiment.inputs(), is_named)) return;
    const std::lock_guard lock(mutex);
    known.insert(point);
  });
  return known;
}

std::vector<std::size_t> points_to_check(const SweepPlan& plan,
                                         const std::vector<std::size_t>& points) {
  constexpr std::size_t kValuesMax = 50;
  if (points.size() <= kTriedMax) return points;
  std::set<std::size_t> chosen;
  for (std::size_t k = 0; k < plan.keys().size(); ++k) {
    std::set<std::string> seen;
    std::vector<std::size_t> firsts;  // the first point of each value
    for (const std::size_t p : points) {
      if (seen.insert(plan.text(p, k)).second) firsts.push_back(p);
    }
    const auto number = [&](std::size_t p) { return parse_number(plan.text(p, k)).value_or(0); };
    const bool numbers = std::ranges::all_of(
        firsts, [&](std::size_t p) { return parse_number(plan.text(p, k)).has_value(); });
    if (firsts.size() > kValuesMax && numbers) {
      const auto [least, greatest] = std::ranges::minmax_element(firsts, {}, number);
      firsts = {*least, *greatest};
    }
    firsts.resize(std::min(firsts.size(), kValuesMax));
    chosen.insert(firsts.begin(), firsts.end());
  }
  return {chosen.begin(), chosen.end()};
}

SweepOutcome run_sweep(const SweepPlan& plan, SweepJournalWriter& journal,
                       const SweepJournalIndex* done, const SweepOptions& options) {
  return Sweep(plan, journal, done, options).run();
}

}  // namespace corun::inline runner
