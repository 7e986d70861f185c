#include "runner/inputs/queue_file.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "runner/inputs/file_kind.hpp"
#include "traces/csv_reader.hpp"
#include "traces/job_csv.hpp"
#include "traces/tables/profile_csv.hpp"

namespace corun::inline runner {

Trace read_queue(const std::string& path, const std::vector<RenamedColumn>& renamed) {
  check_kind(path, {FileKind::kJobs, FileKind::kProfiles, FileKind::kPairs},
             "a job trace or a table of profiles");
  WorkloadKeys keys;
  const std::vector<std::string> header = CsvReader(path, {}, {.ignore_unknown = true}).header();
  if (!renamed.empty() || std::find(header.begin(), header.end(), "solo_s") != header.end()) {
    LogRules rules;  // the jobs of a queue wait
    rules.states.bits = (1U << static_cast<unsigned>(kJobStates)) - 1;
    return read_job_csv(path, keys, renamed, rules);
  }
  const ProfileTable table = read_profile_csv(path);
  Trace trace;
  trace.source = path;
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    JobSpec job;
    job.work = std::chrono::seconds(1);
    job.profile = table.profiles[i];
    trace.jobs.push_back({job, table.jobs[i]});
  }
  return trace;
}

}  // namespace corun::inline runner
