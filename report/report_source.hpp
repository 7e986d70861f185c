#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "results/hdf5_table.hpp"
#include "sim/error.hpp"
#include "sim/records/metrics.hpp"
#include "support/json.hpp"

/// A results file, opened for a report. The caller holds hdf5_mutex().
namespace corun::inline report {

/// The rows of a run in a table that is sorted by policy, then replication.
struct RunRows {
  std::size_t policy = 0;
  std::size_t replication = 0;
  hdf5::RowRange rows;
};

class ReportSource {
 public:
  /// Throws InputError, which begins with the path, if the file cannot be read or is damaged.
  explicit ReportSource(const std::string& path);

  const std::string& path() const { return path_; }
  hid_t file() const { return file_; }
  hid_t root() const { return root_; }
  const std::string& kind() const { return kind_; }  ///< attribute of the root
  bool has(const char* table) const { return hdf5::has_table(file_, table); }

  /// {file, sha256, corun, commit, config, workload, seed, replications, complete, inputs, measured_on, real_runs}
  Json header() const;
  /// Attribute `warnings`; nothing in files of an older corun.
  std::vector<std::string> warnings() const;
  std::string measured_on() const;

  /// The runs of a table, in the order of its rows. Throws damaged() if they are not sorted, if a policy is not below
  /// `policies`, or a replication below 0.
  std::vector<RunRows> runs(const hdf5::TableReader& table, std::size_t policies) const;

  /// "its tables do not fit each other ...".
  InputError damaged() const;

  /// `value` as an index below `limit`. Throws damaged().
  std::size_t index(std::int64_t value, std::size_t limit) const;

 private:
  std::string path_;
  hdf5::Handle file_;
  hdf5::Handle root_;
  std::string kind_;
};

/// The metric of a name in a file. Throws the source's damaged().
Metric metric_of(const ReportSource& source, const std::string& name);

/// {name, unit, description, better, percent} of every metric, in the order of Metric.
Json metrics_json();

/// The sentence of the catalogue about a policy; empty if this corun has no policy of that name.
std::string policy_description(const std::string& name);

/// Shares of jobs' time on GPUs by the source of their speed there, from the columns `solo_..._s` of a table; null if
/// it has none or all are 0.
Json solo_json(const hdf5::TableReader& table);

/// The beginning of a name, 200 bytes at most and no half letter: in a report the rest is no use.
std::string short_name(const std::string& name);

/// A number with six significant digits, which is more than a figure shows; null if it is not finite.
Json short_json(double x);

/// short_json() of each.
Json short_json(const std::vector<double>& values);

}  // namespace corun::inline report
