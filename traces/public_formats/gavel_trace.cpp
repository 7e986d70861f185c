#include "traces/public_formats/gavel_trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"
#include "traces/input_file.hpp"
#include "traces/tables/gavel_rates_csv.hpp"

namespace corun::inline traces {
namespace {

constexpr NumberRule kArrival{"a number of seconds", 0, kMaxTimeSeconds};
constexpr IntegerRule kGavelSteps{"a whole number of steps", 1, 1'000'000'000'000'000};
constexpr IntegerRule kGavelGpus{"a whole number of GPUs", 1, 1'000'000};
/// As in corun's own trace: dozens of such jobs in sequence still end before kNever.
constexpr double kLongestSeconds = 9e7;

constexpr NumberRule kGavelWeight{"a weight", 0, 1e6, true};

const std::vector<CsvColumn> kGavelColumns = {{"job_id"},
                                              {"job"},
                                              {"priority_weight"},
                                              {"steps_per_s_v100"},
                                              {"steps_per_s_p100"},
                                              {"steps_per_s_k80"},
                                              {"arrival_s", true},
                                              {"job_type", true},
                                              {"scale_factor", true},
                                              {"total_steps", true}};

/// The columns of a form without header; columns that are not read have names, too.
const std::vector<std::string> kTen = {"job_type",       "command",         "working_directory",
                                       "steps_argument", "needs_data",      "total_steps",
                                       "scale_factor",   "priority_weight", "slo",
                                       "arrival_s"};
const std::vector<std::string> kTwelve = {
    "job_type",        "command",     "working_directory", "steps_argument",
    "needs_data",      "total_steps", "scale_factor",      "mode",
    "priority_weight", "slo",         "duration",          "arrival_s"};
const std::vector<std::string> kSeven = {"job_type",    "command",   "steps_argument", "needs_data",
                                         "total_steps", "arrival_s", "scale_factor"};

/// The number of tabs in the first line shows the form; none: the CSV.
CsvOptions form_of(std::string_view head) {
  const auto tabs = static_cast<std::size_t>(std::ranges::count(first_line(head), '\t'));
  if (tabs == 0) return {};
  const std::vector<std::string>& header = tabs < kTen.size() - 1      ? kSeven
                                           : tabs < kTwelve.size() - 1 ? kTen
                                                                       : kTwelve;
  return {.separator = '\t', .ignore_unknown = true, .header = header};
}

/// Whether the type has rates for some number of GPUs.
bool knows(const GavelThroughputs& rates, std::string_view type) {
  constexpr std::array<std::int64_t, 4> kScaleFactors{1, 2, 4, 8};
  return std::ranges::any_of(kScaleFactors,
                             [&](std::int64_t n) { return rates.find(type, n).has_value(); });
}

[[noreturn]] void refuse_type(const CsvReader& csv, CsvReader::Column type,
                              const GavelThroughputs& rates) {
  const std::vector<std::string_view> known(rates.pairs.names.begin(), rates.pairs.names.end());
  const std::string_view near = nearest(csv.text(type), known);
  csv.refuse(type,
             "a type that has rates in " + printable(rates.source, 200) +
                 (near.empty() ? "" : "; did you mean '" + printable(near) + "'?"),
             "correct the type or give other rates");
}

Trace read_gavel_trace(CsvReader& csv, const std::string& source, const GavelThroughputs* rates,
                       const LogRules& rules) {
  const auto id = csv.column(csv.has(csv.column("job_id")) ? "job_id" : "job");
  const auto weight = csv.column("priority_weight");
  const auto arrival = csv.column("arrival_s");
  const auto type = csv.column("job_type");
  const auto scale_factor = csv.column("scale_factor");
  const auto total_steps = csv.column("total_steps");

  Trace trace;
  trace.source = source;
  trace.feature_list = rates->pairs.speeds.features;
  trace.reference_type = rates->pairs.gpu;
  for (std::size_t g = 1; g < rates->gpus.size(); ++g) {
    trace.measured_types.push_back({rates->gpus[g]});
  }
  std::unordered_map<std::string, std::size_t> line_of;
  std::size_t row = 0;
  std::size_t without_rate = 0;
  while (csv.next()) {
    std::string name = csv.has(id) ? std::string(csv.required_text(id, "the number of a job"))
                                   : std::to_string(row);
    ++row;
    const auto [first, is_new] = line_of.emplace(name, csv.line());
    if (!is_new) {
      csv.refuse(id,
                 "numbers that differ, and line " + std::to_string(first->second) + " has this one",
                 "give one of the two another");
    }
    if (trace.jobs.size() >= index(kNoJob)) {
      csv.fail(type, "more jobs than identifiers, expected fewer than 4294967295; split the file");
    }
    TraceJob found{.name = std::move(name)};
    JobSpec& job = found.spec;
    job.submit = csv.required_seconds(arrival, kArrival);
    const auto asked = csv.integer(scale_factor, kGavelGpus);
    if (!asked) csv.refuse(scale_factor, "a whole number of GPUs");
    job.gpus = static_cast<int>(*asked);
    const auto steps = csv.integer(total_steps, kGavelSteps);
    if (!steps) csv.refuse(total_steps, "a whole number of steps");
    job.steps = *steps;

    job.weight = csv.number(weight, kGavelWeight).value_or(1);

    const std::string_view what = csv.required_text(type, "a type of jobs");
    const auto place = rates->find(what, job.gpus);
    if (!place || !(rates->alone[*place] > 0)) {
      if (!place && !knows(*rates, what)) refuse_type(csv, type, *rates);
      ++without_rate;
      if (rules.strict) {
        csv.refuse(type, "a rate on " + rates->pairs.gpu + ", with --strict");
      }
      continue;
    }
    job.steps_per_s = rates->alone[*place];
    const double seconds = static_cast<double>(job.steps) / job.steps_per_s;
    if (!(seconds <= kLongestSeconds)) {
      csv.refuse(total_steps,
                 "steps for up to 9e7 seconds at " + csv_number(job.steps_per_s) + " steps/s",
                 "correct it");
    }
    job.work = std::max(from_seconds(seconds), Duration{1});
    found.key = rates->pairs.speeds.jobs[*place];
    for (std::size_t g = 1; g < rates->gpus.size(); ++g) {
      const double rate = rates->alone_on[*place * rates->gpus.size() + g];  // 0: infinite time
      found.on_types.push_back({static_cast<double>(job.steps) / rate});
    }
    const double* features = rates->pairs.speeds.of(*place);
    found.features.assign(features, features + trace.feature_list.size());
    trace.jobs.push_back(std::move(found));
  }
  if (trace.jobs.empty()) {
    throw InputError(csv.name() + ":1:1",
                     row > 0 ? "found no job that has a rate on " + rates->pairs.gpu +
                                   ", expected some; take another GPU type or other rates"
                             : "found no jobs, expected one per row; add jobs");
  }
  if (without_rate > 0) {
    trace.left_out.push_back(
        {"without a rate on " + rates->pairs.gpu + " with as many GPUs as they ask for",
         without_rate, 0});
  }
  if (rates->pairs_left_out > 0) {
    trace.left_out.push_back({"pairs of rates with a job that does not run on " + rates->pairs.gpu,
                              rates->pairs_left_out, 0, true});
  }
  return trace;
}

/// `name` is the trace's name in messages.
void require_rates(const std::string& name, const GavelThroughputs* rates) {
  if (rates != nullptr) return;
  throw InputError(name,
                   "a Gavel trace counts steps, expected the rates that make them time; name "
                   "Gavel's simulation_throughputs.json in world.path");
}

}  // namespace

Trace read_gavel_trace(const std::string& path, const GavelThroughputs* rates,
                       const LogRules& rules) {
  require_rates(shown_path(path), rates);
  const std::string head = first_bytes(path, "a Gavel trace");
  CsvReader csv(path, kGavelColumns, form_of(head));
  Trace trace =
      read_gavel_trace(csv, std::filesystem::path(path).filename().string(), rates, rules);
  const std::string pairs = pair_rates_path(path);
  if (has_own_rates(head) && std::filesystem::exists(pairs)) trace.files_beside.push_back(pairs);
  return trace;
}

Trace parse_gavel_trace(std::string_view text, const std::string& name,
                        const GavelThroughputs* rates, const LogRules& rules) {
  require_rates(name, rates);
  std::istringstream in{std::string(text)};
  CsvReader csv(in, name, kGavelColumns, form_of(text));
  return read_gavel_trace(csv, name, rates, rules);
}

bool looks_like_gavel_trace(const TraceHead& head) {
  if (has_columns(head, {"arrival_s", "job_type", "scale_factor", "total_steps"})) return true;
  std::vector<std::string_view> fields;
  for (std::string_view rest = first_line(head.text);;) {
    const std::size_t tab = rest.find('\t');
    fields.push_back(rest.substr(0, tab));
    if (tab == std::string_view::npos) break;
    rest.remove_prefix(tab + 1);
  }
  for (const std::vector<std::string>& form : {kTwelve, kTen, kSeven}) {
    if (fields.size() != form.size()) continue;
    const auto has_number = [&](std::string_view column) {
      const auto at = std::ranges::find(form, column) - form.begin();
      return parse_number(fields[static_cast<std::size_t>(at)]).has_value();
    };
    if (!std::ranges::all_of(std::array{"total_steps", "scale_factor", "arrival_s"}, has_number)) {
      continue;
    }
    return true;
  }
  return false;
}

}  // namespace corun::inline traces
