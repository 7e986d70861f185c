#include "live/jobs/profile_output.hpp"

#include <cmath>

#include <fmt/format.h>

#include "live/jobs/profile_fields.hpp"
#include "sim/base/csv_text.hpp"
#include "support/text_table.hpp"

namespace corun::live {

std::string attributes_csv(const JobOrigin& origin, std::span<const double> attributes) {
  std::string text;
  for (std::size_t a = 0; a < kProfileAttributes.size(); ++a) {
    text += (a == 0 ? "" : ",") + csv_text(kProfileAttributes[a]);
  }
  text += "\n";
  for (std::size_t a = 0; a < origin.size(); ++a) text += (a == 0 ? "" : ",") + csv_text(origin[a]);
  for (const double value : attributes)
    text += "," + (std::isfinite(value) ? csv_number(value) : "");
  return text + "\n";
}

std::string profile_csv(const std::string& job, const Profile& profile) {
  return fmt::format("job,{}\n{},{}\n", kProfileFields, csv_text(job), profile_fields(profile));
}

std::string samples_csv(std::span<const Sample> samples) {
  std::string text =
      "time_s,gpu_util_pct,mem_time_pct,memory_used_mib,job_memory_mib,temperature_c,power_w,"
      "sm_clock_mhz,cpu_pct,host_memory_pct,resident_mib,threads\n";
  for (const Sample& s : samples) {
    text += csv_number(to_seconds(s.at)) + "," + csv_number(s.gpu.util_pct) + "," +
            csv_number(s.gpu.mem_time_pct) + "," + csv_number(s.gpu.memory_used_mib) + "," +
            csv_number(s.job_memory_mib) + "," + csv_number(s.gpu.temperature_c) + "," +
            csv_number(s.gpu.power_w) + "," + csv_number(s.gpu.sm_clock_mhz) + "," +
            csv_number(s.cpu_pct) + "," + csv_number(s.host_memory_pct) + "," +
            csv_number(s.resident_mib) + "," + std::to_string(s.threads) + "\n";
  }
  return text;
}

Json profiling_json(const ProfiledCommand& profiled, const JobOrigin& origin) {
  const RunOutcome& outcome = profiled.outcome;
  Json attributes = Json::object();
  for (std::size_t a = 0; a < kProfileAttributes.size(); ++a) {
    attributes[std::string(kProfileAttributes[a])] =
        a < origin.size() ? Json(origin[a]) : json_number(outcome.attributes[a - origin.size()]);
  }
  return {{"gpu", profiled.gpu_name},
          {"end", name_of(outcome.end)},
          {"length_s", to_seconds(outcome.length())},
          {"samples", outcome.samples},
          {"profile", profile_json(outcome.profile)},
          {"memory_by_process", outcome.attributed},
          {"profiler_cpu_pct", profiled.profiler_cpu_pct()},
          {"attributes", std::move(attributes)}};
}

std::string profiling_table(const ProfiledCommand& profiled) {
  const RunOutcome& outcome = profiled.outcome;
  const Profile& p = outcome.profile;
  const std::string head = fmt::format(
      "{} on GPU {} ({}): {:.3f} s{}, {} looks\n\n", profiled.name, profiled.gpu, profiled.gpu_name,
      to_seconds(outcome.length()),
      outcome.end == RunEnd::kTimeout ? ", stopped as asked by --for" : "", outcome.samples);
  const std::string table = aligned({{"", "greatest"},
                                     {"GPU utilisation %", shown(p.gpu_util_pct, 1)},
                                     {"memory allocated %", shown(p.mem_alloc_pct, 1)},
                                     {"time accessing memory %", shown(p.mem_time_pct, 1)},
                                     {"memory MiB", shown(p.mem_used_mib, 0)},
                                     {"temperature deg C", shown(outcome.temperature_c.max, 0)}});
  const char* untold = outcome.attributed ? ""
                                          : " Memory is what the GPU held more than before: the "
                                            "driver did not report it by process.";
  return head + table +
         fmt::format("\nThe profiler itself took {:.2f} % of one core.{}\n",
                     profiled.profiler_cpu_pct(), untold);
}

}  // namespace corun::live
