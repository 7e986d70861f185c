#include "experiments/results/results_hdf5.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/file_lock.hpp"
#include "experiments/results/hdf5_table.hpp"
#include "sim/error.hpp"

namespace corun {

namespace fs = std::filesystem;

using namespace hdf5;  // NOLINT: this file is about nothing else

namespace {

constexpr const char* kPlace = "--output";

// ---- the layout ---------------------------------------------------------------------------------

/// A replication as the tables need it, wherever it is kept.
struct ReplicationView {
  std::size_t number;
  const std::vector<std::string>* names;
  const std::vector<PolicyRun>* runs;
};

/// Everything that goes into one file. `result` is empty for a part.
struct Contents {
  const ResultsHeader& header;
  std::span<const ReplicationView> replications;
  const ReplayResult* result = nullptr;
};

double seconds_or_nan(const std::optional<Time>& t) {
  return t ? to_seconds(*t) : std::numeric_limits<double>::quiet_NaN();
}

class Layout {
 public:
  Layout(hid_t file, const Contents& contents) : file_(file), contents_(contents) {
    label_width_ = width_of(
        contents.header.policies, [](const auto& p) -> const auto& { return p.label; });
    for (const ReplicationView& r : contents.replications) {
      job_width_ =
          std::max(job_width_, width_of(
                                   *r.names, [](const auto& n) -> const auto& { return n; }));
    }
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      const MetricInfo& info = metric_info(static_cast<Metric>(m));
      metric_width_ = std::max(metric_width_, info.name.size());
      unit_width_ = std::max(unit_width_, info.unit.size());
    }
  }

  void write() const {
    attributes();
    policies();
    runs();
    episodes();
    episode_jobs();
    usage();
    metrics();
    summary();
    versus();
    coverage();
  }

 private:
  void attributes() const {
    const ResultsHeader& header = contents_.header;
    const Handle root(H5Gopen2(file_, "/", H5P_DEFAULT), H5Gclose, "open the root");
    write_attribute(root, "kind", std::string("corun results"));
    write_attribute(root, "schema_version", std::int64_t{kResultsSchemaVersion});
    write_attribute(root, "corun_version", header.corun_version);
    write_attribute(root, "commit", header.commit);
    write_attribute(root, "config", header.config);
    write_attribute(root, "seed", header.seed);
    write_attribute(root, "replications", static_cast<std::int64_t>(contents_.replications.size()));
    const bool complete = contents_.result != nullptr && !contents_.result->interrupted;
    write_attribute(root, "complete", std::int64_t{complete ? 1 : 0});
    write_attribute(root, "inputs", header.inputs);
    if (!header.measured_on.empty()) write_attribute(root, "measured_on", header.measured_on);
  }

  const std::vector<PolicyHeader>& policy_headers() const { return contents_.header.policies; }

  Column policy_column() const {
    return {"policy", Kind::kInt32, "1", "index of the policy, a row of /policies"};
  }
  Column label_column(const std::string& name = "label") const {
    return {name, Kind::kText, "", "label of the policy", label_width_};
  }
  Column replication_column() const {
    return {"replication", Kind::kInt64, "1", "number of the replication; its seed is seed + this"};
  }
  Column job_column() const { return {"job", Kind::kText, "", "name of the job", job_width_}; }
  Column job_index_column() const {
    return {"job_index", Kind::kInt64, "1", "position of the job in the workload"};
  }
  Column metric_column() const {
    return {"metric", Kind::kText, "", "name of the metric, a column of /metrics", metric_width_};
  }
  Column unit_column() const {
    return {"unit", Kind::kText, "", "unit of mean, lo and hi", unit_width_};
  }
  static Column real(const char* name, const char* units, const char* description) {
    return {name, Kind::kReal, units, description};
  }

  /// Calls f(replication, policy index, run) in the order of the rows: by policy, then replication,
  /// so that a policy's rows lie together.
  template <typename F>
  void for_each_run(F f) const {
    for (std::size_t p = 0; p < policy_headers().size(); ++p) {
      for (const ReplicationView& r : contents_.replications) {
        assert(r.runs->size() == policy_headers().size());
        f(r, p, (*r.runs)[p]);
      }
    }
  }

  Table& start_row(Table& table, const ReplicationView& r, std::size_t policy) const {
    return table.integer(static_cast<std::int64_t>(policy))
        .text(policy_headers()[policy].label)
        .integer(static_cast<std::int64_t>(r.number));
  }

  void policies() const {
    const auto& headers = policy_headers();
    const std::size_t names = width_of(headers, [](const auto& p) { return p.name; });
    const std::size_t parameters = width_of(headers, [](const auto& p) { return p.parameters; });
    Table table(file_, "policies", "one row per policy, in the order of the configuration",
                {policy_column(),
                 label_column(),
                 {"name", Kind::kText, "", "name of the policy in the catalogue", names},
                 {"parameters", Kind::kText, "", "parameters, JSON", parameters},
                 {"granted_truth", Kind::kBool, "",
                  "it decides from the true costs: a bound, not a policy one could run"}});
    for (std::size_t p = 0; p < headers.size(); ++p) {
      table.integer(static_cast<std::int64_t>(p))
          .text(headers[p].label)
          .text(headers[p].name)
          .text(headers[p].parameters)
          .flag(headers[p].granted_truth);
    }
    table.finish();
  }

  void runs() const {
    Table table(
        file_, "runs", "one row per job per run (a policy in a replication)",
        {policy_column(),
         label_column(),
         replication_column(),
         job_index_column(),
         job_column(),
         real("submit_s", "s", "submitted, from the start of the trace"),
         real("first_start_s", "s", "first start of work on a GPU; NaN: never started"),
         real("last_start_s", "s", "start of the last attempt"),
         real("finish_s", "s", "end of the work; of a failed job: when it was given up"),
         real("work_s", "s", "solo time on the reference GPU type, as asked"),
         real("solo_s", "s", "solo time J_a of the last attempt on the GPU it ran on"),
         real("corun_s", "s", "co-run time J_c = finish_s - last_start_s; NaN: failed"),
         real("jct_s", "s", "completion time, finish_s - submit_s; NaN: failed"),
         real("queue_s", "s", "queueing delay, first_start_s - submit_s; NaN: never started"),
         real("isd", "1", "individual slowdown (J_c - J_a) / J_a, a fraction; NaN: failed"),
         {"gpus", Kind::kInt32, "1", "GPUs of the job"},
         {"gpu", Kind::kInt32, "1", "index of the (first) GPU of the last attempt"},
         {"group", Kind::kInt64, "1", "number of the start; jobs started together share it"},
         {"ooms", Kind::kInt32, "1", "attempts that ended out of memory"},
         real("profiling_s", "s", "time in profiling segments and probes"),
         {"finished", Kind::kBool, "", "false: given up after too many attempts"}});
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
      for (std::size_t j = 0; j < run.record.jobs.size(); ++j) {
        const JobRecord& job = run.record.jobs[j];
        const bool finished = job.end == JobEnd::kFinished;
        start_row(table, r, p)
            .integer(static_cast<std::int64_t>(j))
            .text((*r.names)[j])
            .real(to_seconds(job.submit))
            .real(seconds_or_nan(job.first_start))
            .real(to_seconds(job.last_start))
            .real(to_seconds(job.finish))
            .real(to_seconds(job.work))
            .real(to_seconds(job.solo))
            .real(finished ? to_seconds(job.corun()) : kNaN)
            .real(finished ? to_seconds(job.finish - job.submit) : kNaN)
            .real(job.first_start ? to_seconds(*job.first_start - job.submit) : kNaN)
            .real(finished ? job.isd() : kNaN)
            .integer(job.gpus)
            .integer(static_cast<std::int64_t>(job.gpu))
            .integer(job.group)
            .integer(job.ooms)
            .real(to_seconds(job.profiling))
            .flag(finished);
      }
    });
    table.finish();
  }

  void episodes() const {
    Table table(file_, "episodes",
                "one row per episode: a maximal time during which one GPU had a resident",
                {policy_column(),
                 label_column(),
                 replication_column(),
                 {"episode", Kind::kInt64, "1", "number of the episode within its run, by end"},
                 {"gpu", Kind::kInt32, "1", "index of the GPU"},
                 real("start_s", "s", "first resident starts"),
                 real("end_s", "s", "last resident ends"),
                 {"jobs", Kind::kInt32, "1", "jobs that finished in it; they are in /episode_jobs"},
                 real("solo_sum_s", "s", "sum of their solo times J_a"),
                 real("ps", "1",
                      "packing saving (solo_sum_s - length) / solo_sum_s, a fraction; NaN: nobody "
                      "finished"),
                 {"together", Kind::kBool, "", "all its residents started at the same instant"}});
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      for (std::size_t e = 0; e < run.record.episodes.size(); ++e) {
        const EpisodeRecord& episode = run.record.episodes[e];
        start_row(table, r, p)
            .integer(static_cast<std::int64_t>(e))
            .integer(static_cast<std::int64_t>(episode.gpu))
            .real(to_seconds(episode.start))
            .real(to_seconds(episode.end))
            .integer(static_cast<std::int64_t>(episode.jobs.size()))
            .real(to_seconds(episode.solo_sum))
            .real(episode.ps().value_or(std::numeric_limits<double>::quiet_NaN()))
            .flag(episode.together);
      }
    });
    table.finish();
  }

  void episode_jobs() const {
    Table table(
        file_, "episode_jobs",
        "one row per job of an episode, in order of start; a gang is in one episode on each "
        "of its GPUs",
        {policy_column(),
         label_column(),
         replication_column(),
         {"episode", Kind::kInt64, "1", "number of the episode, as in /episodes"},
         job_index_column(),
         job_column()});
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      for (std::size_t e = 0; e < run.record.episodes.size(); ++e) {
        for (const JobId job : run.record.episodes[e].jobs) {
          start_row(table, r, p)
              .integer(static_cast<std::int64_t>(e))
              .integer(static_cast<std::int64_t>(job))
              .text((*r.names)[index(job)]);
        }
      }
    });
    table.finish();
  }

  void usage() const {
    Table table(
        file_, "usage", "one row per run: sums over time and all GPUs",
        {policy_column(),
         label_column(),
         replication_column(),
         {"gpus", Kind::kInt32, "1", "GPUs of the cluster"},
         real("busy_s", "GPU s", "with at least one resident"),
         real("util_s", "GPU s", "min(1, residents' utilisation scaled by speed), integrated"),
         real("util_known_s", "GPU s", "busy time during which every utilisation was known"),
         real("mem_s", "GPU s", "share of memory in use, where every demand is known, integrated"),
         real("mem_known_s", "GPU s", "busy time during which every memory demand was known"),
         real("measured_s", "GPU s", "time in company whose cost was measured"),
         real("modelled_s", "GPU s", "time in company whose cost came from a model"),
         real("extrapolated_s", "GPU s", "time in company whose cost was extrapolated"),
         {"unknown_memory_jobs", Kind::kInt64, "1",
          "jobs whose memory demand is not known, so that they never ran out of memory"},
         {"passes", Kind::kInt64, "1", "scheduling passes"}});
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      const UsageRecord& u = run.record.usage;
      const auto company = [&](Provenance how) { return u.corun_s[static_cast<std::size_t>(how)]; };
      start_row(table, r, p)
          .integer(run.record.gpu_count)
          .real(to_seconds(u.busy))
          .real(u.util_s)
          .real(u.util_known_s)
          .real(u.mem_s)
          .real(u.mem_known_s)
          .real(company(Provenance::kMeasured))
          .real(company(Provenance::kModelled))
          .real(company(Provenance::kExtrapolated))
          .integer(static_cast<std::int64_t>(run.record.unknown_memory_jobs))
          .integer(static_cast<std::int64_t>(run.record.passes));
    });
    table.finish();
  }

  void metrics() const {
    std::vector<Column> columns{policy_column(), label_column(), replication_column()};
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      const MetricInfo& info = metric_info(static_cast<Metric>(m));
      columns.push_back({std::string(info.name), Kind::kReal, std::string(info.unit),
                         std::string(info.description)});
    }
    Table table(file_, "metrics", "one row per run; NaN where a run does not define a metric",
                std::move(columns));
    for_each_run([&](const ReplicationView& r, std::size_t p, const PolicyRun& run) {
      start_row(table, r, p);
      for (const double value : run.metrics) table.real(value);
    });
    table.finish();
  }

  static void put_interval(Table& table, std::size_t metric, const Interval& interval) {
    const MetricInfo& info = metric_info(static_cast<Metric>(metric));
    table.text(info.name).text(info.unit).real(interval.mean).real(interval.lo).real(interval.hi);
  }

  void summary() const {
    Table table(file_, "summary",
                "one row per policy and metric: mean over replications and its 95 % bootstrap "
                "interval",
                {policy_column(), label_column(), metric_column(), unit_column(),
                 real("mean", "as in column unit", "mean over replications"),
                 real("lo", "as in column unit", "lower end of the interval"),
                 real("hi", "as in column unit", "upper end of the interval")});
    if (contents_.result != nullptr) {
      const auto& of_policy = contents_.result->comparison.policies;
      assert(of_policy.size() == policy_headers().size());
      for (std::size_t p = 0; p < of_policy.size(); ++p) {
        for (std::size_t m = 0; m < kMetricCount; ++m) {
          table.integer(static_cast<std::int64_t>(p)).text(policy_headers()[p].label);
          put_interval(table, m, of_policy[p][m]);
        }
      }
    }
    table.finish();
  }

  void versus() const {
    Table table(file_, "versus",
                "one row per ordered pair of policies and metric: policy minus other, paired by "
                "replication",
                {policy_column(),
                 label_column(),
                 {"other", Kind::kInt32, "1", "index of the policy it is compared with"},
                 label_column("other_label"),
                 metric_column(),
                 unit_column(),
                 real("mean", "as in column unit", "mean difference over replications"),
                 real("lo", "as in column unit", "lower end of its 95 % bootstrap interval"),
                 real("hi", "as in column unit", "upper end of its 95 % bootstrap interval")});
    if (contents_.result != nullptr) {
      const auto& pairs = contents_.result->comparison.versus;
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        for (std::size_t q = 0; q < pairs[p].size(); ++q) {
          if (p == q) continue;
          for (std::size_t m = 0; m < kMetricCount; ++m) {
            table.integer(static_cast<std::int64_t>(p))
                .text(policy_headers()[p].label)
                .integer(static_cast<std::int64_t>(q))
                .text(policy_headers()[q].label);
            put_interval(table, m, pairs[p][q][m]);
          }
        }
      }
    }
    table.finish();
  }

  void coverage() const {
    Table table(file_, "coverage",
                "one row per policy: share of the time in company by where its cost came from; all "
                "0 when nothing ran together",
                {policy_column(), label_column(),
                 real("measured", "1", "a measured row of exactly these jobs"),
                 real("modelled", "1", "an interference model, within what it was fitted on"),
                 real("extrapolated", "1", "a GPU type or sharing mode it was not measured on")});
    if (contents_.result != nullptr) {
      const auto& of_policy = contents_.result->coverage_by_policy;
      for (std::size_t p = 0; p < of_policy.size(); ++p) {
        table.integer(static_cast<std::int64_t>(p))
            .text(policy_headers()[p].label)
            .real(of_policy[p].measured)
            .real(of_policy[p].modelled)
            .real(of_policy[p].extrapolated);
      }
    }
    table.finish();
    if (contents_.result != nullptr) {
      const Coverage& all = contents_.result->coverage;
      write_attribute(table.id(), "all_measured", all.measured);
      write_attribute(table.id(), "all_modelled", all.modelled);
      write_attribute(table.id(), "all_extrapolated", all.extrapolated);
    }
  }

  hid_t file_;
  const Contents& contents_;
  std::size_t label_width_ = 1;
  std::size_t job_width_ = 1;
  std::size_t metric_width_ = 1;
  std::size_t unit_width_ = 1;
};

/// The bytes of the file.
std::string image_of(const Contents& contents) {
  return file_image([&](hid_t file) { Layout(file, contents).write(); });
}

// ---- parts --------------------------------------------------------------------------------------

bool is_part(const fs::path& file) {
  return file.extension() == ".h5" && file.filename().string().starts_with("part-");
}

std::vector<fs::path> parts_in(const std::string& directory) {
  std::vector<fs::path> parts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (is_part(entry.path())) parts.push_back(entry.path());
  }
  std::ranges::sort(parts);
  return parts;
}

/// Replications in part files, by their attribute; a file that is none counts nothing.
std::int64_t count_replications(const std::vector<fs::path>& parts) {
  const std::lock_guard lock(hdf5_mutex());
  silence_hdf5();
  std::int64_t sum = 0;
  for (const fs::path& part : parts) {
    try {
      const Handle file(H5Fopen(part.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
                        "open a part");
      const Handle attribute(H5Aopen(file, "replications", H5P_DEFAULT), H5Aclose, "read a part");
      std::int64_t count = 0;
      check(H5Aread(attribute, H5T_NATIVE_INT64, &count), "read a part");
      sum += count;
    } catch (const std::runtime_error&) {
      continue;
    }
  }
  return sum;
}

/// Removes what a writer makes and then the directory, if nothing else is in it.
void remove_partial(const std::string& directory) {
  std::error_code error;
  std::vector<fs::path> ours = parts_in(directory);
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".tmp") ours.push_back(entry.path());
  }
  for (const fs::path& file : ours) fs::remove(file, error);
  fs::remove(directory, error);
}

/// `<path>.partial`, made and locked for one writer.
class PartialDirectory {
 public:
  explicit PartialDirectory(const std::string& target) : path_(target + ".partial") {
    constexpr int kAttempts = 100;  // each is lost to another writer that came or went meanwhile
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const bool made = ::mkdir(path_.c_str(), 0777) == 0;
      if (!made && errno != EEXIST) {
        throw InputError(kPlace, "cannot make directory '" + path_ + "' (" +
                                     std::generic_category().message(errno) +
                                     "); choose another file");
      }
      if (!lock(target)) continue;
      if (made || !move_aside()) return;
    }
    throw InputError(kPlace,
                     "cannot keep directory '" + path_ +
                         "': something else removes it again and again; choose another file");
  }
  ~PartialDirectory() { unlock(); }
  PartialDirectory(const PartialDirectory&) = delete;
  PartialDirectory& operator=(const PartialDirectory&) = delete;

  const std::string& path() const { return path_; }
  const std::string& notice() const { return notice_; }

 private:
  /// False when the directory went away meanwhile (another writer finished).
  bool lock(const std::string& target) {
    fd_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd_ < 0) {
      const int error = errno;
      struct stat entry {};
      const bool link = ::lstat(path_.c_str(), &entry) == 0 && S_ISLNK(entry.st_mode);
      if (error == ENOENT && !link) return false;
      throw InputError(kPlace, "'" + path_ + "' is in the way (" +
                                   (error == ENOENT ? std::string("a link to nothing")
                                                    : std::generic_category().message(error)) +
                                   "); remove it or choose another file");
    }
    // Where locks are not to be had (some network file systems) the writer does without.
    if (try_lock(fd_) == LockOutcome::kTaken) {
      unlock();
      throw InputError(kPlace, "'" + target +
                                   "' is being written by another corun; wait for it or choose "
                                   "another file");
    }
    struct stat locked {};
    struct stat named {};
    const bool same = ::fstat(fd_, &locked) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                      locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
    if (!same) unlock();
    return same;
  }

  void unlock() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

  /// Parts of a killed run are the user's; a directory without any is taken over (false).
  bool move_aside() {
    const std::vector<fs::path> parts = parts_in(path_);
    if (parts.empty()) {
      std::error_code error;
      std::vector<fs::path> unfinished;
      for (const auto& entry : fs::directory_iterator(path_, error)) {
        if (entry.path().extension() == ".tmp") unfinished.push_back(entry.path());
      }
      for (const fs::path& file : unfinished) fs::remove(file, error);
      return false;
    }
    const std::int64_t count = count_replications(parts);
    std::string aside;
    int n = 0;
    do {
      aside = path_ + "." + std::to_string(++n);
    } while (fs::exists(aside));
    if (std::rename(path_.c_str(), aside.c_str()) != 0) {
      const int error = errno;
      unlock();
      throw InputError(kPlace,
                       "'" + path_ + "' holds " + std::to_string(count) +
                           " replications of a run that was killed and cannot be renamed (" +
                           std::generic_category().message(error) +
                           "); move it away or choose another file");
    }
    unlock();
    notice_ = "an earlier run that was killed left " + std::to_string(count) +
              (count == 1 ? " finished replication" : " finished replications") + " in '" + path_ +
              "': kept as '" + aside + "' (its part-*.h5 open like results files; remove it when " +
              "it is not needed)";
    return true;
  }

  std::string path_;
  std::string notice_;
  int fd_ = -1;
};

/// What a part needs of a replication that its owner will move or change.
struct Pending {
  std::size_t number;
  std::vector<std::string> names;
  std::vector<PolicyRun> runs;
};

}  // namespace

// ---- ResultsWriter ------------------------------------------------------------------------------

struct ResultsWriter::Impl {
  Impl(const std::string& path, ResultsHeader the_header, std::chrono::milliseconds the_interval)
      : target(checked_output_path(path, kPlace)),
        header(std::move(the_header)),
        interval(the_interval),
        directory(target),
        writer([this](const std::stop_token& stop) { write_parts(stop); }) {}

  /// The thread: waits for a replication, gives others the interval to join it, writes them.
  void write_parts(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (!failure) {
      wake.wait(lock, stop, [&] { return !pending.empty(); });
      wake.wait_for(lock, stop, interval, [] { return false; });
      if (stop.stop_requested()) return;
      const std::vector<Pending> batch = std::exchange(pending, {});
      lock.unlock();
      std::exception_ptr thrown;
      try {
        write_part(batch);
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      failure = thrown;
    }
  }

  /// Called by the thread, or after it ended.
  void write_part(const std::vector<Pending>& batch) {
    if (batch.empty()) return;
    std::vector<ReplicationView> views;
    views.reserve(batch.size());
    for (const Pending& p : batch) views.push_back({p.number, &p.names, &p.runs});
    std::ranges::sort(views, {}, &ReplicationView::number);
    const std::string image = image_of({header, views});
    if (parts == 0) sync_directory(directory_of(directory.path()));
    std::string name = std::to_string(parts);
    name.insert(0, name.size() < 6 ? 6 - name.size() : 0, '0');
    name = directory.path() + "/part-" + name + ".h5";
    write_file_atomically(name, image, name + ".tmp");
    ++parts;
    committed += batch.size();
  }

  void end_thread() {
    writer.request_stop();
    if (writer.joinable()) writer.join();
  }

  std::string target;
  ResultsHeader header;
  std::chrono::milliseconds interval;
  PartialDirectory directory;
  std::size_t parts = 0;
  std::atomic<std::size_t> committed{0};
  bool keep_parts = false;
  bool finished = false;

  std::mutex mutex;  ///< over pending and failure
  std::condition_variable_any wake;
  std::vector<Pending> pending;
  std::exception_ptr failure;
  std::jthread writer;  ///< last: it uses all of the above
};

ResultsWriter::ResultsWriter(const std::string& path, ResultsHeader header,
                             std::chrono::milliseconds flush_interval)
    : impl_(std::make_unique<Impl>(path, std::move(header), flush_interval)) {}

ResultsWriter::~ResultsWriter() {
  impl_->end_thread();
  const bool keep = impl_->keep_parts || impl_->failure;
  if (!impl_->finished && (!keep || impl_->committed == 0)) remove_partial(impl_->directory.path());
}

void ResultsWriter::add(const Replication& replication) {
  assert(!impl_->finished);
  Pending copy{replication.number, replication.trace->names, replication.runs};
  const std::lock_guard lock(impl_->mutex);
  if (impl_->failure) std::rethrow_exception(impl_->failure);
  impl_->pending.push_back(std::move(copy));
  impl_->wake.notify_one();
}

std::size_t ResultsWriter::committed() const { return impl_->committed; }

const std::string& ResultsWriter::notice() const { return impl_->directory.notice(); }

void ResultsWriter::finish(const ReplayResult& result) {
  assert(!impl_->finished);
  impl_->end_thread();
  std::vector<ReplicationView> views;
  views.reserve(result.replications.size());
  for (const Replication& r : result.replications) {
    views.push_back({r.number, &r.trace->names, &r.runs});
  }
  std::ranges::sort(views, {}, &ReplicationView::number);
  try {
    // The temporary file is in the directory of the parts, so that a kill leaves one thing behind.
    write_file_atomically(impl_->target, image_of({impl_->header, views, &result}),
                          impl_->directory.path() + "/results.tmp");
  } catch (const std::exception& error) {
    impl_->keep_parts = true;
    try {
      impl_->write_part(impl_->pending);
      impl_->pending.clear();
    } catch (const std::exception&) {
      // The first error is the one to tell.
    }
    const std::size_t safe = impl_->committed;
    throw InputError(kPlace, error.what() + (safe == 0 ? std::string()
                                                       : "; " + std::to_string(safe) +
                                                             " finished replications are in '" +
                                                             impl_->directory.path() + "'"));
  }
  impl_->finished = true;
  remove_partial(impl_->directory.path());
}

void write_run_json(const std::string& results_path, const RunInfo& info,
                    const ResultsHeader& header, const ReplayResult& result) {
  nlohmann::ordered_json json;
  json["kind"] = "corun run";
  json["schema_version"] = kResultsSchemaVersion;
  json["corun_version"] = header.corun_version;
  json["commit"] = header.commit;
  json["results"] = results_path;
  json["complete"] = !result.interrupted;
  json["replications"] = result.replications.size();
  if (!info.started_utc.empty()) json["started_utc"] = info.started_utc;
  json["wall_s"] = info.wall_s;
  json["threads"] = info.threads;
  json["device"] = info.device;
  json["policies"] = nlohmann::ordered_json::array();
  for (std::size_t p = 0; p < header.policies.size(); ++p) {
    double total = 0;
    double longest = 0;
    std::size_t passes = 0;
    for (const Replication& r : result.replications) {
      total += r.runs[p].decide_s;
      longest = std::max(longest, r.runs[p].longest_decision_s);
      passes += r.runs[p].record.passes;
    }
    nlohmann::ordered_json policy = {{"policy", header.policies[p].label}, {"passes", passes}};
    policy["decide_s"] = total;
    policy["longest_decision_s"] = longest;
    const DecisionTimes times = decision_times(result, p);
    policy["pass_p50_s"] = times.quantile_s(0.5);
    policy["pass_p95_s"] = times.quantile_s(0.95);
    policy["pass_p99_s"] = times.quantile_s(0.99);
    policy["pass_max_s"] = times.max_s();
    if (const PlanLosses losses = plan_losses(result, p); losses.plans > 0) {
      policy["bounded_plans"] = losses.plans;
      policy["mean_loss"] = losses.sum / static_cast<double>(losses.plans);
      policy["worst_loss"] = losses.worst;
    }
    json["policies"].push_back(std::move(policy));
  }
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;  // paths need not be UTF-8
  write_file_atomically(results_path + ".run.json", json.dump(2, ' ', false, replace) + "\n");
}

}  // namespace corun
