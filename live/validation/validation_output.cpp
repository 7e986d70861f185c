#include "live/validation/validation_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/csv_text.hpp"
#include "support/statistics/interval_output.hpp"
#include "support/text_table.hpp"

namespace corun::live {

namespace {

std::vector<std::string> names_of(const std::vector<JobId>& jobs, const Trace& queue) {
  std::vector<std::string> names;
  for (const JobId j : jobs) names.push_back(queue.jobs[index(j)].name);
  return names;
}

Json json_of(const std::optional<ValidationError>& error) {
  if (!error) return nullptr;
  Json json = interval_json(error->mean);
  json["size"] = interval_json(error->size);
  json["count"] = error->count;
  return json;
}

Json json_of(const Validated& v) {
  return {{"measured", json_or_null(v.measured)},
          {"predicted", json_or_null(v.predicted)},
          {"replayed", json_or_null(v.replayed)},
          {"measured_minus_predicted", json_of(v.error_of_predicted)},
          {"measured_minus_replayed", json_of(v.error_of_replayed)}};
}

Json json_of(const PolicyValidation& p, const Trace& queue) {
  Json jobs = Json::array();
  for (const ValidatedJob& j : p.jobs) {
    const auto figure = [&](double JobFigures::*f) {
      return Json{{"measured", j.measured.*f},
                  {"predicted", j.predicted ? Json((*j.predicted).*f) : Json(nullptr)},
                  {"replayed", j.replayed.*f}};
    };
    jobs.push_back({{"job", queue.jobs[index(j.job)].name},
                    {"gpu", index(j.gpu)},
                    {"company", names_of(j.co_runners, queue)},
                    {"isd", figure(&JobFigures::isd)},
                    {"jct_s", figure(&JobFigures::jct_s)}});
  }
  Json groups = Json::array();
  for (const ValidatedGroup& g : p.groups) {
    groups.push_back({{"jobs", names_of(g.jobs, queue)},
                      {"together", g.together},
                      {"ps", {{"measured", g.measured_ps}, {"replayed", g.replayed_ps}}}});
  }
  return {{"policy", p.label},
          {"left_out", {{"failed", p.failed}, {"not_run", p.not_run}, {"beside", p.beside}}},
          {"isd", json_of(p.isd)},
          {"jct_s", json_of(p.jct_s)},
          {"ps", json_of(p.ps)},
          {"jobs", std::move(jobs)},
          {"groups", std::move(groups)}};
}

std::string scaled(const std::optional<double>& value, double scale, int digits = 1) {
  return value ? shown(scale * *value, digits) : "-";
}

std::string table_of(const PolicyValidation& p, const Trace& queue) {
  std::vector<std::vector<std::string>> rows{
      {p.label, "with", "ISD %", "predicted", "replayed", "JCT s", "predicted", "replayed"}};
  for (const ValidatedJob& j : p.jobs) {
    const auto predicted = [&](double JobFigures::*f) {
      return j.predicted ? std::optional((*j.predicted).*f) : std::nullopt;
    };
    rows.push_back({queue.jobs[index(j.job)].name,
                    fmt::format("{}", fmt::join(names_of(j.co_runners, queue), " + ")),
                    scaled(j.measured.isd, 100), scaled(predicted(&JobFigures::isd), 100),
                    scaled(j.replayed.isd, 100), scaled(j.measured.jct_s, 1, 2),
                    scaled(predicted(&JobFigures::jct_s), 1, 2), scaled(j.replayed.jct_s, 1, 2)});
  }
  std::string text = aligned(rows);
  rows = {{"co-run", "PS %", "replayed"}};
  for (const ValidatedGroup& g : p.groups) {
    if (g.jobs.size() < 2) continue;
    rows.push_back({fmt::format("{}", fmt::join(names_of(g.jobs, queue), " + ")),
                    scaled(g.measured_ps, 100), scaled(g.replayed_ps, 100)});
  }
  if (rows.size() > 1) text += "\n" + aligned(rows);
  return text + "\n";
}

std::string summary_of(const std::vector<PolicyValidation>& policies) {
  std::vector<std::vector<std::string>> rows{
      {"measured (predicted, replayed)", "jobs", "left out", "ISD %", "JCT s", "PS %"}};
  for (const PolicyValidation& p : policies) {
    const auto three = [](const Validated& v, double scale, int digits = 1) {
      return fmt::format("{} ({}, {})", scaled(v.measured, scale, digits),
                         scaled(v.predicted, scale, digits), scaled(v.replayed, scale, digits));
    };
    rows.push_back({p.label, std::to_string(p.jobs.size()),
                    std::to_string(p.failed + p.not_run + p.beside), three(p.isd, 100),
                    three(p.jct_s, 1, 2), three(p.ps, 100)});
  }
  std::string text = aligned(rows) + "\n";
  rows = {
      {"measured - said, mean [95 %]", "ISD points", "size", "JCT s", "size", "PS points", "size"}};
  for (const PolicyValidation& p : policies) {
    const auto row = [&](const std::string& which,
                         std::optional<ValidationError> Validated::*error) {
      std::vector<std::string> cells{p.label + ", " + which};
      const auto add = [&](const Validated& v, double scale, int digits) {
        const std::optional<ValidationError>& e = v.*error;
        cells.push_back(e ? interval_text(e->mean, scale, digits) : "-");
        cells.push_back(e ? interval_text(e->size, scale, digits) : "-");
      };
      add(p.isd, 100, 1);
      add(p.jct_s, 1, 2);
      add(p.ps, 100, 1);
      rows.push_back(std::move(cells));
    };
    row("predicted", &Validated::error_of_predicted);
    row("replayed", &Validated::error_of_replayed);
  }
  return text + aligned(rows);
}

}  // namespace

Json validation_json(const RunValidation& run) {
  Json json{{"gpu", run.gpu}, {"gpus", run.gpus}, {"policies", Json::array()}};
  for (const PolicyValidation& p : run.policies) json["policies"].push_back(json_of(p, *run.queue));
  return json;
}

std::string validation_csv(const RunValidation& run) {
  const Trace& queue = *run.queue;
  std::string text = "policy,jobs,company,metric,measured,predicted,replayed\n";
  for (const PolicyValidation& p : run.policies) {
    const auto row = [&](const std::vector<JobId>& jobs, const std::vector<JobId>& co_runners,
                         const char* metric, double measured, std::optional<double> predicted,
                         double replayed) {
      text += fmt::format("{},{},{},{},{},{},{}\n", csv_text(p.label),
                          fmt::join(names_of(jobs, queue), "+"),
                          fmt::join(names_of(co_runners, queue), "+"), metric, csv_number(measured),
                          csv_number(predicted), csv_number(replayed));
    };
    for (const ValidatedJob& j : p.jobs) {
      const auto both = [&](const char* metric, double JobFigures::*f) {
        row({j.job}, j.co_runners, metric, j.measured.*f,
            j.predicted ? std::optional((*j.predicted).*f) : std::nullopt, j.replayed.*f);
      };
      both("isd", &JobFigures::isd);
      both("jct_s", &JobFigures::jct_s);
    }
    for (const ValidatedGroup& g : p.groups) {
      row(g.jobs, {}, "ps", g.measured_ps, std::nullopt, g.replayed_ps);
    }
  }
  return text;
}

std::string validation_table(const RunValidation& run) {
  std::string text =
      fmt::format("{}, {} {}\n\n", run.gpu, run.gpus, run.gpus == 1 ? "GPU" : "GPUs");
  for (const PolicyValidation& p : run.policies) text += table_of(p, *run.queue);
  return text + summary_of(run.policies);
}

}  // namespace corun::live
