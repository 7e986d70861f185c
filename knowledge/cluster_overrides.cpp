#include "knowledge/cluster_overrides.hpp"

#include <set>

#include "traces/csv_reader.hpp"

namespace corun::inline knowledge {

namespace {

std::vector<CsvColumn> columns() {
  return {{"job", true}, {"cluster", true}, {"uncertainty", true}, {"why"}};
}

std::vector<ClusterOverride> read(CsvReader& csv, int clusters) {
  const auto job = csv.column("job");
  const auto cluster = csv.column("cluster");
  const auto uncertainty = csv.column("uncertainty");
  const auto why = csv.column("why");
  std::vector<ClusterOverride> overrides;
  std::set<std::string> seen;
  while (csv.next()) {
    ClusterOverride o;
    o.job = csv.required_text(job, "the name of a job");
    o.place = csv.place(job);
    if (!seen.insert(o.job).second) csv.fail(job, "this job is listed twice");
    if (const auto c = csv.integer(cluster, {"the number of a cluster", 0, clusters - 1})) {
      o.cluster = static_cast<int>(*c);
    }
    o.uncertainty = csv.number(uncertainty, {"a distance, 0 or more", 0, 1e9});
    o.why = csv.text(why);
    if (!o.cluster && !o.uncertainty) {
      csv.fail(cluster, "neither a cluster nor an uncertainty is given; leave the line out");
    }
    overrides.push_back(std::move(o));
  }
  return overrides;
}

}  // namespace

std::vector<ClusterOverride> read_cluster_overrides(const std::string& path, int clusters) {
  CsvReader csv(path, columns());
  return read(csv, clusters);
}

std::vector<ClusterOverride> read_cluster_overrides(std::istream& in, const std::string& name,
                                                    int clusters) {
  CsvReader csv(in, name, columns());
  return read(csv, clusters);
}

}  // namespace corun::inline knowledge
