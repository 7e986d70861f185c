#include "live/jobs/measurement_output.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "live/jobs/profile_fields.hpp"
#include "models/formulas/overlap.hpp"
#include "sim/base/csv_text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/text_table.hpp"
#include "traces/column_rules.hpp"
#include "traces/tables/corun_csv.hpp"

namespace corun::live {

std::string runs_csv(const MeasuredSession& session, const LiveConfig& config) {
  std::ostringstream out;
  out << "number,company,job,end,why,start_s,length_s,cpu_s,samples,temperature_min_c,"
         "temperature_max_c,sm_clock_min_mhz,sm_clock_max_mhz,mem_used_mib,left_behind,steady_"
         "steps_per_s\n";
  std::optional<Time> origin;
  for (const MeasuredCoRunners& c : session.sets) {
    const std::string name = co_runner_names(c.members, config);
    if (!c.refused.empty()) {
      out << c.number << ',' << name << ",,refused," << csv_text(c.refused) << ",,,,,,,,,,,\n";
    }
    for (std::size_t m = 0; m < c.outcomes.size(); ++m) {
      const RunOutcome& o = c.outcomes[m];
      if (!origin) origin = o.ending.start;
      // The memory in use is one job's only if it ran alone or the driver reports memory by process.
      const bool own_memory = o.attributed || c.members.size() == 1;
      out << c.number << ',' << name << ',' << config.workloads[c.members[m]].name << ','
          << name_of(o.end) << ',' << csv_text(o.why) << ','
          << csv_number(to_seconds(o.ending.start - *origin)) << ','
          << csv_number(to_seconds(o.length())) << ',' << csv_number(o.ending.cpu_s) << ','
          << o.samples << ',' << csv_number(o.temperature_c.min) << ','
          << csv_number(o.temperature_c.max) << ',' << csv_number(o.sm_clock_mhz.min) << ','
          << csv_number(o.sm_clock_mhz.max) << ','
          << (own_memory ? csv_number(o.profile.mem_used_mib) : "") << ',' << o.ending.left_behind
          << ',' << csv_number(o.steady_steps_per_s) << '\n';
    }
  }
  return out.str();
}

namespace {

/// The co-runs whose members all finished and have solo times.
CorunFile coruns_of(const MeasuredSession& session, const LiveConfig& config, WorkloadKeys& keys) {
  const std::vector<SoloRow> alone = session.solo(config);
  CorunFile file;
  for (const MeasuredCoRunners& c : session.sets) {
    if (c.members.size() < 2 || !c.finished() || has_service(c.members, config)) continue;
    CorunMeasurement measurement;
    measurement.gpu_type = session.gpu_name;
    measurement.sharing = session.sharing;
    measurement.source = "corun live, run " + std::to_string(c.number);
    for (std::size_t m = 0; m < c.members.size(); ++m) {
      const SoloRow* row = find_solo(alone, config.workloads[c.members[m]].name);
      if (row == nullptr) break;
      CorunMember member;
      member.workload = keys.of(row->job);
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
  return file;
}

/// Speeds of the members relative to those alone while all of them are resident; nullopt if the times fit no speed that
/// a table of groups may have.
std::optional<std::vector<double>> full_speeds(const CorunMeasurement& measurement) {
  std::vector<double> speeds;
  try {
    for (const double excess : overlap_excess(measurement)) {
      speeds.push_back(1 / (1 + excess * static_cast<double>(measurement.members.size() - 1)));
      if (speeds.back() < kSlowestSpeed || speeds.back() > kFastestSpeed) return std::nullopt;
    }
  } catch (const InputError&) {
    return std::nullopt;
  }
  return speeds;
}

/// The co-runs whose times no speeds explain, as their names: "run 10 (gemm+rl)". A run alone or together was disturbed.
std::vector<std::string> without_speeds(const MeasuredSession& session, const LiveConfig& config) {
  WorkloadKeys keys;
  const CorunFile file = coruns_of(session, config, keys);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < file.measurements.size(); ++i) {
    if (full_speeds(file.measurements[i])) continue;
    const auto set =
        std::ranges::find(session.sets, file.groups[i],
                          [](const MeasuredCoRunners& c) { return std::to_string(c.number); });
    names.push_back("run " + file.groups[i] + " (" + co_runner_names(set->members, config) + ")");
  }
  return names;
}

/// The workloads whose profiles rest on few samples, which may have missed their memory: "gemm (2)".
std::vector<std::string> hardly_sampled(const MeasuredSession& session, const LiveConfig& config) {
  constexpr std::size_t kFew = 5;
  std::vector<std::string> names;
  for (std::size_t w = 0; w < config.workloads.size(); ++w) {
    std::optional<std::size_t> samples;
    for (const MeasuredCoRunners& c : session.sets) {
      if (c.members != CoRunners{w} || !c.finished()) continue;
      samples = samples.value_or(0) + c.outcomes[0].samples;
    }
    if (!samples || *samples >= kFew) continue;
    names.push_back(fmt::format("{} ({})", config.workloads[w].name, *samples));
  }
  return names;
}

}  // namespace

std::string measured_corun_csv(const MeasuredSession& session, const LiveConfig& config) {
  WorkloadKeys keys;
  const CorunFile all = coruns_of(session, config, keys);
  CorunFile file;
  for (std::size_t i = 0; i < all.measurements.size(); ++i) {
    if (!full_speeds(all.measurements[i])) continue;
    file.measurements.push_back(all.measurements[i]);
    file.groups.push_back(all.groups[i]);
    file.sessions.push_back(all.sessions[i]);
  }
  if (file.measurements.empty()) return "";
  std::ostringstream out;
  write_corun_csv(out, file, keys);
  return out.str();
}

std::string measured_groups_csv(const MeasuredSession& session, const LiveConfig& config) {
  WorkloadKeys keys;
  const CorunFile file = coruns_of(session, config, keys);
  if (std::ranges::none_of(file.measurements, [](const CorunMeasurement& measurement) {
        return measurement.members.size() > 2;
      })) {
    return "";
  }
  std::ostringstream out;
  out << "group,gpu,sharing,job,norm,solo_gpu_util,solo_gmem_util,solo_gmem_mib\n";
  for (std::size_t i = 0; i < file.measurements.size(); ++i) {
    const CorunMeasurement& measurement = file.measurements[i];
    const auto speeds = full_speeds(measurement);
    for (std::size_t m = 0; m < measurement.members.size(); ++m) {
      const CorunMember& member = measurement.members[m];
      out << file.groups[i] << ',' << csv_text(measurement.gpu_type) << ',' << measurement.sharing
          << ',' << csv_text(keys.text(member.workload)) << ','
          << (speeds ? csv_number((*speeds)[m]) : "") << ','
          << csv_number(member.profile.gpu_util_pct) << ','
          << csv_number(member.profile.mem_time_pct) << ','
          << csv_number(member.profile.mem_used_mib) << '\n';
    }
  }
  return out.str();
}

std::string services_csv(const MeasuredSession& session, const LiveConfig& config) {
  const std::vector<MeasuredService> services = session.services(config);
  if (services.empty()) return "";
  std::string text = fmt::format(
      "service,beside,runs,requests,answered,load_per_s,mean_ms,p50_ms,p95_ms,p99_ms,max_ms,goal_"
      "ms,"
      "within_goal_pct,goodput_per_s,late_ms,beside_isd_pct,{}\n",
      kProfileFields);
  for (const MeasuredService& r : services) {
    std::string isd;
    for (const SlowedJob& job : r.isd) {
      isd += (&job == r.isd.data() ? "" : "+") + (job.runs > 0 ? csv_number(100 * job.mean) : "");
    }
    text += fmt::format("{},{},{},{},{},", config.workloads[r.workload].name,
                        co_runner_names(r.beside, config), r.runs, r.requests, r.latency.count());
    const double goal_s = to_seconds(config.workloads[r.workload].command.service->goal);
    for (const double value :
         {r.per_s(r.requests), 1e3 * r.latency.mean_s(), 1e3 * r.latency.quantile_s(0.5),
          1e3 * r.latency.quantile_s(0.95), 1e3 * r.latency.quantile_s(0.99),
          1e3 * to_seconds(r.latency.max()), 1e3 * goal_s, 100 * r.share_within(),
          r.per_s(r.within), 1e3 * to_seconds(r.latest)}) {
      text += csv_number(value) + ",";
    }
    text += fmt::format("{},{}\n", isd, profile_fields(r.profile));
  }
  return text;
}

namespace {

Json services_json(const MeasuredSession& session, const LiveConfig& config) {
  Json list = Json::array();
  for (const MeasuredService& r : session.services(config)) {
    const LiveService& service = *config.workloads[r.workload].command.service;
    Json beside = Json::array();
    Json isd = Json::array();
    for (std::size_t b = 0; b < r.beside.size(); ++b) {
      beside.push_back(config.workloads[r.beside[b]].name);
      isd.push_back(r.isd[b].runs > 0 ? Json(r.isd[b].mean) : Json(nullptr));
    }
    Json row{{"service", config.workloads[r.workload].name},
             {"beside", std::move(beside)},
             {"runs", r.runs},
             {"requests", r.requests},
             {"answered", r.latency.count()},
             {"load_per_s", r.per_s(r.requests)},
             {"mean_s", r.latency.mean_s()},
             {"p50_s", r.latency.quantile_s(0.5)},
             {"p95_s", r.latency.quantile_s(0.95)},
             {"p99_s", r.latency.quantile_s(0.99)},
             {"max_s", to_seconds(r.latency.max())},
             {"goal_s", to_seconds(service.goal)},
             {"percentile", service.percentile},
             {"within_goal", r.share_within()},
             {"meets_goal", 100 * r.share_within() >= service.percentile},
             {"goodput_per_s", r.per_s(r.within)},
             {"latest_s", to_seconds(r.latest)},
             {"beside_isd", std::move(isd)}};
    row.update(profile_json(r.profile));
    list.push_back(std::move(row));
  }
  return list;
}

std::string services_table(const MeasuredSession& session, const LiveConfig& config) {
  std::vector<std::vector<std::string>> rows{{"service", "beside", "runs", "requests", "load/s",
                                              "mean ms", "p50 ms", "p95 ms", "p99 ms",
                                              "within goal %", "goodput/s", "met", "its ISD %"}};
  std::string late;
  for (const MeasuredService& r : session.services(config)) {
    const LiveWorkload& workload = config.workloads[r.workload];
    const LiveService& service = *workload.command.service;
    std::string isd;
    for (const SlowedJob& job : r.isd) {
      isd += (isd.empty() ? "" : " / ") + (job.runs > 0 ? shown(100 * job.mean, 1) : "-");
    }
    rows.push_back(
        {workload.name, r.beside.empty() ? "-" : co_runner_names(r.beside, config),
         std::to_string(r.runs), std::to_string(r.requests), shown(r.per_s(r.requests), 1),
         shown(1e3 * r.latency.mean_s(), 2), shown(1e3 * r.latency.quantile_s(0.5), 2),
         shown(1e3 * r.latency.quantile_s(0.95), 2), shown(1e3 * r.latency.quantile_s(0.99), 2),
         shown(100 * r.share_within(), 2), shown(r.per_s(r.within), 1),
         100 * r.share_within() >= service.percentile ? "yes" : "no", isd.empty() ? "-" : isd});
    // A tenth of the goal changes what is measured.
    if (r.latest * 10 > service.goal) {
      late += fmt::format("{}{} ({:.1f} ms)", late.empty() ? "" : ", ", workload.name,
                          1e3 * to_seconds(r.latest));
    }
  }
  if (rows.size() == 1) return "";
  std::string text = "\n" + aligned(rows);
  if (!late.empty()) {
    text +=
        fmt::format("\ncorun sent requests late, at most by: {}; the processors were busy\n", late);
  }
  return text;
}

constexpr const char* kWorkloadsFile = "workloads.json";

/// What a service is asked: its load and its goal.
Json service_settings(const LiveService& service) {
  Json json{{"path", service.path},
            {"body", service.body ? Json(*service.body) : Json(nullptr)},
            {"seconds", to_seconds(service.load.end)},
            {"goal_ms", to_seconds(service.goal) * 1e3},
            {"percentile", service.percentile},
            {"seed", service.seed}};
  if (!service.trace_file.empty()) {
    json["requests"] = service.trace_file;
    json["of_trace"] = service.trace.size();
    return json;
  }
  json["spacing"] = service.spacing == Spacing::kEven ? "even" : "poisson";
  for (const Step& step : service.load.per_s.steps()) {
    json["rate_per_s"].push_back({to_seconds(step.begin), step.value});
  }
  return json;
}

/// What is measured: equal texts mean the same experiment.
std::string workloads_json(const LiveConfig& config, const std::string& gpu_name) {
  Json json{{"gpu", gpu_name},
            {"sharing", name_of(config.config.cluster.sharing)},
            {"workloads", Json::array()}};
  for (const LiveWorkload& w : config.workloads) {
    Json one{{"name", w.name}, {"command", w.command.argv}, {"directory", w.command.directory}};
    if (w.serves()) one["service"] = service_settings(*w.command.service);
    json["workloads"].push_back(std::move(one));
  }
  return json_text(json);
}

}  // namespace

void check_measured_before(const LiveConfig& config, const std::string& gpu_name) {
  for (const char* name :
       {"runs.csv", "solo.csv", "services.csv", "measured.corun.csv", "measured.groups.csv"}) {
    const std::string path = config.output + "/" + name;
    if (config.existing == Existing::kReplace || !is_filled(path)) continue;
    const std::string commands = config.output + "/" + kWorkloadsFile;
    if (!is_filled(commands)) refuse_existing(path, "live.output", "is of unknown commands");
    check_outputs(
        std::vector<OutputText>{{"live.output", commands, workloads_json(config, gpu_name)}},
        config.existing);
  }
}

std::vector<std::string> write_measurement(const MeasuredSession& session,
                                           const LiveConfig& config) {
  std::vector<std::string> written;
  const auto write = [&](const std::string& name, const std::string& text) {
    write_file_atomically(config.output + "/" + name, text);
    written.push_back(name);
  };
  write(kWorkloadsFile, workloads_json(config, session.gpu_name));
  write("runs.csv", runs_csv(session, config));
  const std::vector<SoloRow> alone = session.solo(config);
  if (!alone.empty()) write("solo.csv", solo_csv(alone));
  const std::string services = services_csv(session, config);
  if (!services.empty()) write("services.csv", services);
  const std::string coruns = measured_corun_csv(session, config);
  if (!coruns.empty()) write("measured.corun.csv", coruns);
  const std::string groups = measured_groups_csv(session, config);
  if (!groups.empty()) write("measured.groups.csv", groups);
  return written;
}

Json measurement_json(const MeasuredSession& session, const LiveConfig& config) {
  Json json{{"gpu", session.gpu_name},
            {"sharing", session.sharing},
            {"interrupted", session.interrupted},
            {"solo", Json::array()},
            {"together", Json::array()}};
  for (const SoloRow& r : session.solo(config)) {
    Json row{{"job", r.job}, {"solo_s", r.solo_s}, {"solo_sd_s", r.sd_s}, {"runs", r.runs}};
    row.update(profile_json(r.profile));
    json["solo"].push_back(std::move(row));
  }
  for (const MeasuredTogether& r : session.together(config)) {
    Json names = Json::array();
    for (const std::size_t w : r.members) names.push_back(config.workloads[w].name);
    json["together"].push_back(
        {{"jobs", std::move(names)}, {"runs", r.runs}, {"isd", r.isd}, {"ps", r.ps}});
  }
  const Json services = services_json(session, config);
  if (!services.empty()) json["services"] = services;
  json["without_speeds"] = without_speeds(session, config);
  return json;
}

std::string measurement_table(const MeasuredSession& session, const LiveConfig& config,
                              const std::vector<std::string>& files) {
  std::vector<std::vector<std::string>> rows{
      {"alone", "runs", "J_a s", "+-", "util %", "alloc %", "mem time %", "MiB"}};
  for (const SoloRow& r : session.solo(config)) {
    rows.push_back({r.job, std::to_string(r.runs), shown(r.solo_s, 3), shown(r.sd_s, 3),
                    shown(r.profile.gpu_util_pct, 0), shown(r.profile.mem_alloc_pct, 1),
                    shown(r.profile.mem_time_pct, 0), shown(r.profile.mem_used_mib, 0)});
  }
  std::string text = session.gpu_name + ", " + session.sharing + "\n";
  if (rows.size() > 1) text += "\n" + aligned(rows);
  rows = {{"together", "runs", "ISD %", "PS %"}};
  for (const MeasuredTogether& r : session.together(config)) {
    std::string isd;
    for (const double x : r.isd) isd += (isd.empty() ? "" : " / ") + shown(100 * x, 1);
    rows.push_back(
        {co_runner_names(r.members, config), std::to_string(r.runs), isd, shown(100 * r.ps, 1)});
  }
  if (rows.size() > 1) text += "\n" + aligned(rows);
  text += services_table(session, config);
  const std::vector<std::string> few = hardly_sampled(session, config);
  if (!few.empty()) {
    text += fmt::format(
        "\nprofiles of few samples, which may have missed memory: {}; shorten live.sample_s, or "
        "lengthen the jobs\n",
        fmt::join(few, ", "));
  }
  const std::vector<std::string> unexplained = without_speeds(session, config);
  if (!unexplained.empty()) {
    text += fmt::format(
        "\nnot in measured.corun.csv, for no speeds explain their times beside those alone (did "
        "something else run?): {}\n",
        fmt::join(unexplained, ", "));
  }
  return text + fmt::format("\nwritten to {}: {}\n", config.output, fmt::join(files, ", "));
}

}  // namespace corun::live
