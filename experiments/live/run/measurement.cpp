#include "experiments/live/run/measurement.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "traces/corun_csv.hpp"
#include "traces/csv_reader.hpp"

namespace corun::live {

namespace {

std::string field(const std::optional<double>& value) { return value ? csv_number(*value) : ""; }

std::string company_name(const Company& members, const LiveConfig& config) {
  std::string name;
  for (const std::size_t w : members) name += (name.empty() ? "" : "+") + config.workloads[w].name;
  return name;
}

void take_greater(std::optional<double>& value, const std::optional<double>& other) {
  if (other && (!value || *other > *value)) value = other;
}

}  // namespace

std::string solo_text(std::span<const SoloRow> rows) {
  std::ostringstream out;
  out << "job,solo_s,solo_sd_s,runs,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib\n";
  for (const SoloRow& row : rows) {
    const Profile& p = row.profile;
    out << csv_text(row.job) << ',' << csv_number(row.solo_s) << ',' << csv_number(row.sd_s) << ','
        << row.runs << ',' << field(p.gpu_util_pct) << ',' << field(p.mem_alloc_pct) << ','
        << field(p.mem_time_pct) << ',' << field(p.mem_used_mib) << '\n';
  }
  return out.str();
}

std::vector<SoloRow> read_solo_csv(const std::string& path) {
  CsvReader csv(path,
                {{"job", true},
                 {"solo_s", true},
                 {"solo_sd_s"},
                 {"runs"},
                 {"gpu_util_pct"},
                 {"mem_alloc_pct"},
                 {"mem_time_pct"},
                 {"mem_used_mib"}},
                {.ignore_unknown = true});
  const NumberRule seconds{"a number of seconds", 0, 9e7, true};
  const NumberRule spread{"a number of seconds", 0, 9e7};
  const NumberRule share{"a percentage", 0, 100};
  const NumberRule reserved{"a percentage", 0, 1000};
  const NumberRule mib{"a number of MiB", 0, 1e12};
  std::vector<SoloRow> rows;
  while (csv.next()) {
    SoloRow row;
    row.job = csv.required_text(csv.column("job"), "the name of a workload");
    row.solo_s = csv.required_number(csv.column("solo_s"), seconds);
    row.sd_s = csv.number(csv.column("solo_sd_s"), spread).value_or(0);
    row.runs = static_cast<int>(
        csv.integer(csv.column("runs"), {"a number of runs", 1, 1'000'000}).value_or(1));
    row.profile.gpu_util_pct = csv.number(csv.column("gpu_util_pct"), share);
    row.profile.mem_alloc_pct = csv.number(csv.column("mem_alloc_pct"), reserved);
    row.profile.mem_time_pct = csv.number(csv.column("mem_time_pct"), share);
    row.profile.mem_used_mib = csv.number(csv.column("mem_used_mib"), mib);
    const auto same = [&](const SoloRow& r) { return r.job == row.job; };
    if (std::any_of(rows.begin(), rows.end(), same)) {
      csv.refuse(csv.column("job"), "each workload once", "remove one of the rows");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Company> all_pairs(std::size_t workloads) {
  std::vector<Company> pairs;
  for (std::size_t a = 0; a < workloads; ++a) {
    for (std::size_t b = a + 1; b < workloads; ++b) pairs.push_back({a, b});
  }
  return pairs;
}

std::vector<Company> parse_pairs(const std::string& text, const LiveConfig& config,
                                 const std::string& place) {
  std::vector<std::string_view> known;
  for (const LiveWorkload& w : config.workloads) known.push_back(w.name);
  std::vector<Company> companies;
  std::istringstream list(text);
  for (std::string item; std::getline(list, item, ',');) {
    Company company;
    std::istringstream names(item);
    for (std::string name; std::getline(names, name, '+');) {
      const auto at = std::find(known.begin(), known.end(), name);
      if (at == known.end()) {
        throw InputError(place,
                         "no workload '" + printable(name) + "': " + did_you_mean(name, known));
      }
      company.push_back(static_cast<std::size_t>(at - known.begin()));
    }
    if (company.size() < 2) {
      throw InputError(place, "found '" + printable(item) +
                                  "', expected workloads that run together, e.g. gemm+stream");
    }
    companies.push_back(std::move(company));
  }
  if (companies.empty()) throw InputError(place, "names nobody, expected e.g. gemm+stream");
  return companies;
}

std::vector<Company> balanced_order(std::vector<Company> companies, int repeats,
                                    std::uint64_t seed) {
  Rng(seed, Stream::kLiveOrder).shuffle(std::span(companies));
  std::vector<Company> order;
  for (int r = 0; r < repeats; ++r) {
    order.insert(order.end(), companies.begin(), companies.end());
    std::reverse(companies.begin(), companies.end());
  }
  return order;
}

bool MeasuredCompany::finished() const {
  return !outcomes.empty() &&
         std::all_of(outcomes.begin(), outcomes.end(),
                     [](const RunOutcome& o) { return o.end == RunEnd::kFinished; });
}

std::vector<SoloRow> MeasuredSession::solo(const LiveConfig& config) const {
  std::vector<SoloRow> rows;
  for (std::size_t w = 0; w < config.workloads.size(); ++w) {
    SoloRow row;
    row.job = config.workloads[w].name;
    double sum = 0;
    double squares = 0;
    for (const MeasuredCompany& c : companies) {
      if (c.members != Company{w} || !c.finished()) continue;
      const RunOutcome& o = c.outcomes[0];
      ++row.runs;
      sum += to_seconds(o.length());
      squares += to_seconds(o.length()) * to_seconds(o.length());
      take_greater(row.profile.gpu_util_pct, o.profile.gpu_util_pct);
      take_greater(row.profile.mem_alloc_pct, o.profile.mem_alloc_pct);
      take_greater(row.profile.mem_time_pct, o.profile.mem_time_pct);
      take_greater(row.profile.mem_used_mib, o.profile.mem_used_mib);
    }
    if (row.runs == 0) continue;
    row.solo_s = sum / row.runs;
    if (row.runs > 1) {
      const double variance = (squares - sum * row.solo_s) / (row.runs - 1);
      row.sd_s = std::sqrt(std::max(variance, 0.0));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string MeasuredSession::runs_text(const LiveConfig& config) const {
  std::ostringstream out;
  out << "number,company,job,end,why,start_s,length_s,cpu_s,samples,temperature_min_c,"
         "temperature_max_c,sm_clock_min_mhz,sm_clock_max_mhz,mem_used_mib,left_behind,steady_"
         "steps_per_s\n";
  std::optional<Time> origin;
  for (const MeasuredCompany& c : companies) {
    const std::string name = company_name(c.members, config);
    if (!c.refused.empty()) {
      out << c.number << ',' << name << ",,refused," << csv_text(c.refused) << ",,,,,,,,,,,\n";
    }
    for (std::size_t m = 0; m < c.outcomes.size(); ++m) {
      const RunOutcome& o = c.outcomes[m];
      if (!origin) origin = o.ending.start;
      out << c.number << ',' << name << ',' << config.workloads[c.members[m]].name << ','
          << name_of(o.end) << ',' << csv_text(o.why) << ','
          << csv_number(to_seconds(o.ending.start - *origin)) << ','
          << csv_number(to_seconds(o.length())) << ',' << csv_number(o.ending.cpu_s) << ','
          << o.samples << ',' << field(o.temperature_c.min) << ',' << field(o.temperature_c.max)
          << ',' << field(o.sm_clock_mhz.min) << ',' << field(o.sm_clock_mhz.max) << ','
          << (o.attributed || c.members.size() == 1 ? field(o.profile.mem_used_mib) : "") << ','
          << o.ending.left_behind << ',' << field(o.steady_steps_per_s) << '\n';
    }
  }
  return out.str();
}

std::string MeasuredSession::corun_text(const LiveConfig& config) const {
  const std::vector<SoloRow> alone = solo(config);
  WorkloadKeys keys;
  CorunFile file;
  for (const MeasuredCompany& c : companies) {
    if (c.members.size() < 2 || !c.finished()) continue;
    CorunMeasurement measurement;
    measurement.gpu_type = gpu_name;
    measurement.sharing = sharing;
    measurement.source = "corun live, run " + std::to_string(c.number);
    for (std::size_t m = 0; m < c.members.size(); ++m) {
      const std::string& name = config.workloads[c.members[m]].name;
      const auto row =
          std::find_if(alone.begin(), alone.end(), [&](const SoloRow& r) { return r.job == name; });
      if (row == alone.end()) break;
      CorunMember member;
      member.workload = keys.of(name);
      member.profile = row->profile;
      member.solo_s = row->solo_s;
      member.corun_s = to_seconds(c.outcomes[m].length());
      measurement.members.push_back(member);
    }
    if (measurement.members.size() != c.members.size()) continue;
    file.measurements.push_back(std::move(measurement));
    file.groups.push_back(std::to_string(c.number));
    file.sessions.emplace_back();
  }
  if (file.measurements.empty()) return "";
  std::ostringstream out;
  write_corun_csv(out, file, keys);
  return out.str();
}

MeasuredSession measure(Session& session, const Nvml& nvml, std::size_t gpu,
                        const LiveConfig& config, std::span<const Company> order, Sharing& sharing,
                        const MeasureOptions& options) {
  static const std::atomic<bool> never{false};
  const std::atomic<bool>& stop = options.stop != nullptr ? *options.stop : never;
  MeasuredSession result;
  result.gpu_name = nvml.gpus()[gpu].name;
  result.sharing = name_of(config.config.cluster.sharing);
  std::filesystem::create_directories(config.output + "/output");
  std::vector<std::optional<double>> demand(config.workloads.size());

  const auto run = [&](const Company& members, const std::string& label) {
    if (!sharing.works()) throw DeviceError("the MPS daemon has ended by itself");
    wait_until_idle(nvml, gpu, stop);
    std::vector<std::unique_ptr<JobRun>> runs;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const JobCommand& job = config.workloads[members[m]].command;
      runs.push_back(std::make_unique<JobRun>(
          session, nvml, gpu, job,
          config.output + "/output/" + label + "-" + std::to_string(m + 1) + "-" + job.name,
          sharing.environment()));
    }
    return run_together(runs, from_seconds(config.sample_s), stop);
  };

  for (int w = 0; w < options.warm_up && !order.empty() && !stop; ++w) {
    run(order.front(), "warm-up");
  }
  for (const Company& members : order) {
    if (stop) break;
    MeasuredCompany company;
    company.members = members;
    company.number = static_cast<int>(result.companies.size()) + 1;
    double asked = 0;
    for (const std::size_t w : members) asked += demand[w].value_or(0);
    const double free =
        nvml.gpus()[gpu].memory_mib - nvml.read(gpu).memory_used_mib - config.memory_reserve_mib;
    if (members.size() > 1 && asked > free) {
      company.refused = "they need " + csv_number(std::round(asked)) + " MiB together, and " +
                        csv_number(std::round(free)) + " are free";
    } else {
      company.outcomes = run(members, std::to_string(company.number));
      if (stop) break;  // what was cut short is no measurement
      if (members.size() == 1) {
        take_greater(demand[members[0]], company.outcomes[0].profile.mem_used_mib);
      }
    }
    result.companies.push_back(std::move(company));
    if (options.on_measured) options.on_measured(result.companies.back(), order.size());
  }
  result.interrupted = stop;
  return result;
}

}  // namespace corun::live
