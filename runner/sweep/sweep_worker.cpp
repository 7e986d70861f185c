#include "runner/sweep/sweep_worker.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <exception>
#include <map>
#include <mutex>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/error.hpp"
#include "support/checksum.hpp"
#include "support/json.hpp"

namespace corun::inline runner {

namespace {

using SteadyClock = std::chrono::steady_clock;

/// Of this process, by its threads [s]: unlike time by the clock it does not depend on what else the machine does.
double processor_s_per_thread(unsigned threads) {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC / std::max(threads, 1U);
}

double seconds_since(SteadyClock::time_point then) {
  return std::chrono::duration<double>(SteadyClock::now() - then).count();
}

/// The units of a range, run into a journal of this machine, which is removed at the end.
class ScratchJournal {
 public:
  /// Its name is the worker's: workers of a machine share the directory.
  explicit ScratchJournal(const SweepWorkerOptions& options)
      : path_(options.scratch + "/" + options.worker + ".journal"), journal_(path_, "TMPDIR") {}
  ~ScratchJournal() { journal_.remove(); }
  ScratchJournal(const ScratchJournal&) = delete;
  ScratchJournal& operator=(const ScratchJournal&) = delete;

  SweepOutcome run(const SweepPlan& plan, const SweepOptions& options) {
    // The records alone are used. The identity of a sweep of many points takes as long as a chunk to write.
    journal_.begin(SweepIdentity());
    return run_sweep(plan, journal_, nullptr, options);
  }
  std::string records() const { return records_in_order(path_); }

 private:
  std::string path_;
  SweepJournalWriter journal_;
};

/// Changes a claim again and again, so that others see that it holds. It is removed at the end.
class HeldClaim {
 public:
  HeldClaim(ObjectStore& objects, std::string name, std::string worker, double every_s)
      : objects_(objects),
        name_(std::move(name)),
        worker_(std::move(worker)),
        renewal_([this, every_s](const std::stop_token& stop) { renew(stop, every_s); }) {}
  ~HeldClaim() {
    renewal_.request_stop();
    renewal_.join();
    try {
      objects_.remove(name_);
    } catch (const InputError&) {
      // It lapses.
    }
  }
  HeldClaim(const HeldClaim&) = delete;
  HeldClaim& operator=(const HeldClaim&) = delete;

  static std::string text(const std::string& worker, std::size_t count) {
    return fmt::format("{} {}\n", worker, count);
  }

 private:
  void renew(const std::stop_token& stop, double every_s) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    for (std::size_t count = 1;; ++count) {
      changed.wait_for(lock, stop, std::chrono::duration<double>(every_s), [] { return false; });
      if (stop.stop_requested()) return;
      try {
        objects_.put(name_, text(worker_, count));
      } catch (const InputError&) {
        // It may lapse then: another worker does the same work.
      }
    }
  }

  ObjectStore& objects_;
  std::string name_;
  std::string worker_;
  std::jthread renewal_;
};

class SweepWorker {
 public:
  SweepWorker(const SweepPlan& plan, const SweepStore& store, const SweepWorkerOptions& options)
      : plan_(plan), store_(store), options_(options), units_(plan) {}

  SweepWorkerOutcome run() {
    while (!interrupted()) {
      std::vector<std::size_t> open = open_chunks();
      if (all_finished_) return outcome_;
      bool any = false;
      for (const std::size_t chunk : open) {
        if (interrupted()) break;
        if (!claim(chunk)) continue;
        any = true;
        run_chunk(chunk);
      }
      if (!any) wait();
    }
    outcome_.interrupted = true;
    return outcome_;
  }

 private:
  bool interrupted() const { return options_.sweep.stop != nullptr && options_.sweep.stop->load(); }

  /// The chunks that are not finished, in an order of this worker's own, so that workers seldom want the same one.
  std::vector<std::size_t> open_chunks() {
    const SweepStore::State state = store_.state();
    std::vector<std::size_t> open;
    for (std::size_t chunk = 0; chunk < state.finished.size(); ++chunk) {
      if (!state.finished[chunk]) open.push_back(chunk);
    }
    all_finished_ = open.empty();
    finished_ = state.finished.size() - open.size();
    tell();
    constexpr std::size_t kDigits = 8;
    const std::string digest = sha256_of_text(options_.worker).substr(0, kDigits);
    std::shuffle(open.begin(), open.end(), std::mt19937(std::stoul(digest, nullptr, 16)));
    return open;
  }

  /// Whether the chunk is this worker's now.
  bool claim(std::size_t chunk) {
    ObjectStore& objects = store_.objects();
    const std::string name = store_.claim_name(chunk);
    const std::string mine = HeldClaim::text(options_.worker, 0);
    if (!objects.put_once(name, mine)) {
      const std::string there = objects.get(name).value_or("");
      const auto [seen, is_new] = seen_.try_emplace(chunk, there, SteadyClock::now());
      if (!is_new && seen->second.first != there) seen->second = {there, SteadyClock::now()};
      if (seconds_since(seen->second.second) < options_.lapse_s) return false;
      objects.put(name, mine);
    }
    seen_.erase(chunk);
    if (!objects.has(store_.chunk_name(chunk))) return true;
    objects.remove(name);  // finished since the chunks were listed
    return false;
  }

  void run_chunk(std::size_t chunk) {
    ObjectStore& objects = store_.objects();
    const auto began = SteadyClock::now();
    constexpr double kRenewalsPerLapse = 6;
    const HeldClaim held(objects, store_.claim_name(chunk), options_.worker,
                         options_.lapse_s / kRenewalsPerLapse);
    const auto [first, end] = store_.units_of(chunk);
    SweepOptions sweep = options_.sweep;
    sweep.shard = {};
    sweep.range = units_.range({first, end});
    sweep.tries_points = false;
    ScratchJournal journal(options_);
    const SweepOutcome outcome = journal.run(plan_, sweep);
    if (outcome.interrupted()) return;
    const std::string records = journal.records();
    if (!objects.put_once(store_.chunk_name(chunk), records)) {
      if (objects.get(store_.chunk_name(chunk)) != records) {
        throw InputError(objects.place() + "/" + store_.chunk_name(chunk),
                         "has other bytes than this worker's run of the same chunk; do all workers "
                         "read the same input files?");
      }
      ++outcome_.done_before;
      return;
    }
    ++outcome_.chunks;
    outcome_.units += end - first;
    ++finished_;
    outcome_.failures.insert(outcome_.failures.end(), outcome.failures.begin(),
                             outcome.failures.end());
    seconds_ += seconds_since(began);
    const Json done{{"units", outcome_.units}, {"seconds", seconds_}};
    objects.put(store_.worker_name(options_.worker), done.dump());
    tell();
  }

  void wait() const {
    constexpr int kSteps = 10;
    for (int i = 0; i < kSteps && !interrupted(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  void tell() const {
    if (options_.on_progress) options_.on_progress(finished_, store_.chunks());
  }

  const SweepPlan& plan_;
  const SweepStore& store_;
  const SweepWorkerOptions& options_;
  SweepUnits units_;
  SweepWorkerOutcome outcome_;
  bool all_finished_ = false;
  std::size_t finished_ = 0;  ///< chunks, of all workers, as far as is known
  double seconds_ = 0;
  /// Claims of others, and since when they are what they are.
  std::map<std::size_t, std::pair<std::string, SteadyClock::time_point>> seen_;
};

}  // namespace

std::size_t units_that_take(double seconds, const SweepPlan& plan, const SweepUnits& units,
                            const SweepWorkerOptions& options) {
  const std::size_t all = plan.total_replications();
  // A third of the aim is enough to tell, and costs less than a chunk.
  const double enough_s = seconds / 3;
  for (std::size_t n = 1;; n *= 4) {
    n = std::min(n, all);
    SweepOptions trial = options.sweep;
    trial.range = units.range({0, n});
    trial.tries_points = false;
    const double began_s = processor_s_per_thread(trial.threads);
    ScratchJournal journal(options);
    const SweepOutcome outcome = journal.run(plan, trial);
    const double took_s = processor_s_per_thread(trial.threads) - began_s;
    // The first one reads the trace and fits the model, which the others share.
    const bool is_told = n > 1 && took_s >= enough_s;
    if (!is_told && n < all && !outcome.interrupted()) continue;
    const double units_per_s = static_cast<double>(n) / std::max(took_s, 1e-6);
    return std::clamp(static_cast<std::size_t>(seconds * units_per_s), std::size_t{1}, all);
  }
}

SweepWorkerOutcome run_worker(const SweepPlan& plan, const SweepStore& store,
                              const SweepWorkerOptions& options) {
  return SweepWorker(plan, store, options).run();
}

}  // namespace corun::inline runner
