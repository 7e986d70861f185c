#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "cli/option_values.hpp"
#include "services/queue_approximation.hpp"
#include "services/queue_simulation.hpp"
#include "sim/base/csv_text.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/json.hpp"
#include "support/output_file.hpp"
#include "support/text_table.hpp"
#include "traces/requests/request_trace.hpp"
#include "traces/requests/service_time_table.hpp"

/// `corun service`: what latency follows from a load of requests.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

CommandLine service_command_line() {
  CommandLine command;
  command.name = "service";
  command.usage = "corun service --times FILE --rate N,...|--trace FILE [--goal MS] [options]";
  command.summary =
      "The latency of a service: requests wait in one queue, replicas take them in batches, and a\n"
      "batch takes its measured time. A row per load and number of replicas: latency, requests\n"
      "within the goal, utilisation; then how many replicas meet the goal. Co-runners are a\n"
      "factor on the service's times (--stretch). Nothing here is a cluster: `corun replay` knows\n"
      "no requests.";
  command.examples =
      "  corun service --times examples/service_times.csv --model classify --slice 7g --rate 200\n"
      "  corun service --times examples/service_times.csv --model classify --slice 1g --rate "
      "100,150 "
      "--replicas 1,2,4 --batch 16 --wait 5 --goal 60\n"
      "  corun service --times examples/service_times.csv --model classify --slice 7g --rate 100 "
      "--shape diurnal --seconds 864000 --stretch 1.3\n"
      "  corun service --times examples/service_times.csv --model detect --trace "
      "examples/requests.csv --replicas 1,2\n";
  command.configured = false;
  auto add = command.own.add_options();
  add("times", po::value<std::string>(),
      "table of measured times of batches: model, batch_size, latency_ms, and gpu_type, slice, "
      "processes, sequence_tokens where it has several");
  add("model", po::value<std::string>()->default_value(""), "a model of the table");
  add("gpu", po::value<std::string>()->default_value(""), "a GPU type of the table");
  add("slice", po::value<std::string>()->default_value(""), "a slice of the table, as 2g");
  add("processes", po::value<std::string>()->default_value("1"),
      "equal processes that shared the slice when it was measured");
  add("tokens", po::value<std::string>()->default_value("0"), "sequence length; 0: any");
  add("rate", po::value<std::string>(), "requests per second; a row for each of a list");
  add("trace", po::value<std::string>(),
      "when requests arrive: arrival_s, or TIMESTAMP as in Azure's traces");
  add("rate-factor", po::value<std::string>()->default_value("1"),
      "with --trace: so many times the requests per second; a row for each of a list");
  add("shape", po::value<std::string>()->default_value("constant"),
      "of --rate over time: constant; diurnal, a wave of 24 h; bursts of four times the rate for "
      "10 s on average, every 100 s");
  add("swing", po::value<std::string>()->default_value("0.5"),
      "of diurnal: the highest rate is 1 + SWING times the mean, 0 to 1");
  add("spacing", po::value<std::string>()->default_value("poisson"), "of --rate: poisson or even");
  add("seconds", po::value<std::string>()->default_value("3600"), "length of the load of --rate");
  add("replicas", po::value<std::string>()->default_value("1"), "a row for each of a list");
  add("batch", po::value<std::string>()->default_value("1"), "the largest batch");
  add("wait", po::value<std::string>()->default_value("0"),
      "longest time that a batch waits to fill [ms]");
  add("service", po::value<std::string>()->default_value("constant"),
      "a batch takes constant or exponential times around its mean");
  add("stretch", po::value<std::string>()->default_value("1"),
      "factor on all times: what co-runners cost");
  add("goal", po::value<std::string>(), "latency [ms] that --percentile of the requests must have");
  add("percentile", po::value<std::string>()->default_value("99"), "of the goal");
  add("seed", po::value<std::string>()->default_value("1"), "of arrivals and service times");
  add("method", po::value<std::string>()->default_value("auto"),
      "simulation of every request, approximation, or auto: up to 5 million requests the former");
  return command;
}

/// The numbers of a list such as 1,2,4.
std::vector<double> numbers_option(const po::variables_map& values, const std::string& key,
                                   double min, double max, const std::string& what) {
  std::vector<double> numbers;
  for (const std::string& text : split_text(values[key].as<std::string>(), ',')) {
    const auto number = parse_number(text);
    if (!number || !(*number >= min && *number <= max)) {
      throw InputError("--" + key, fmt::format("found '{}', expected {} from {} to {}",
                                               printable(text), what, min, max));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

struct AskedService {
  ServiceQueue queue;
  double stretch = 1;
  Spacing spacing = Spacing::kPoisson;
  std::vector<Time> trace = {};    ///< empty: rates
  std::vector<double> loads = {};  ///< rates [1/s], or factors on the trace's
  std::vector<double> replicas = {};
  std::string shape = {};
  double swing = 0;
  Time end{0};
  std::optional<Duration> goal = {};
  double percentile = 99;
  std::string method = {};
  std::uint64_t seed = 1;
};

struct ServiceRow {
  double per_s = 0;  ///< mean of the load [requests/s]
  int replicas = 1;
  QueueResult result;
  std::string method;

  std::optional<bool> meets(const AskedService& asked) const {
    if (!asked.goal) return std::nullopt;
    return result.latency.share_within(*asked.goal) >= asked.percentile / 100;
  }
};

RequestLoad load_of_rate(const AskedService& asked, double per_s) {
  if (asked.shape == "diurnal") {
    return diurnal_load({.mean_per_s = per_s, .swing = asked.swing}, asked.end);
  }
  if (asked.shape == "bursts") {
    const Bursts bursts{per_s, 4 * per_s, std::chrono::seconds(90), std::chrono::seconds(10)};
    return burst_load(bursts, asked.end, asked.seed);
  }
  return constant_load(per_s, asked.end);
}

ServiceRow row_of(const AskedService& asked, double load_or_factor, int replicas) {
  constexpr double kMostSimulated = 5e6;
  ServiceQueue queue = asked.queue;
  queue.replicas = replicas;
  ServiceRow row;
  row.replicas = replicas;
  QueueSimulation simulation{.seed = asked.seed};
  simulation.stretch = StepFunction(asked.stretch);
  if (!asked.trace.empty()) {
    TraceRequests source(asked.trace, load_or_factor);
    row.result = simulate_queue(queue, source, simulation);
    row.per_s = static_cast<double>(asked.trace.size()) / std::max(1e-9, to_seconds(source.last()));
    row.method = "simulation";
    return row;
  }
  const RequestLoad load = load_of_rate(asked, load_or_factor);
  row.per_s = mean_rate(load);
  const bool simulated =
      asked.method == "simulation" ||
      (asked.method == "auto" && row.per_s * to_seconds(load.end) <= kMostSimulated);
  constexpr double kMostByRequest = 1e10;  // a quarter of an hour
  if (simulated && row.per_s * to_seconds(load.end) > kMostByRequest) {
    throw InputError("--method",
                     fmt::format("{:.2g} requests are too many to simulate one by one, expected "
                                 "1e10 at most; take --method approximation",
                                 row.per_s * to_seconds(load.end)));
  }
  if (simulated) {
    LoadRequests source(load, asked.spacing, asked.seed);
    simulation.until = load.end;
    row.result = simulate_queue(queue, source, simulation);
    row.method = "simulation";
    return row;
  }
  ApproximationOptions options{.seed = asked.seed};
  options.stretch = simulation.stretch;
  const ApproximatedQueue approximated = approximate_queue(queue, load, asked.spacing, options);
  row.result = approximated.result;
  for (std::size_t m = 0; m < kMethods; ++m) {
    if (approximated.requests.at(m) == 0) continue;
    const double share = static_cast<double>(approximated.requests.at(m)) /
                         static_cast<double>(row.result.latency.count());
    row.method += fmt::format("{}{} {:.0f} %", row.method.empty() ? "" : ", ",
                              name_of(static_cast<Method>(m)), 100 * share);
  }
  return row;
}

std::string shown_ms(double seconds) {
  const double value = seconds * 1e3;
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

std::string service_table(const AskedService& asked, const std::vector<ServiceRow>& rows) {
  std::string text;
  if (asked.goal) {
    text += fmt::format("goal: {} % of the requests within {} ms\n\n", asked.percentile,
                        shown_ms(to_seconds(*asked.goal)));
  }
  std::vector<std::vector<std::string>> cells{
      {"requests/s", "replicas", "busy %", "batch", "mean ms", "p50 ms", "p95 ms", "p99 ms"}};
  if (asked.goal) {
    for (const char* name : {"within goal %", "goodput/s", "met"}) cells.front().push_back(name);
  }
  cells.front().push_back("method");
  for (const ServiceRow& row : rows) {
    const LatencyRecord& latency = row.result.latency;
    std::vector<std::string> line{fmt::format("{:.4g}", row.per_s),
                                  fmt::format("{}", row.replicas),
                                  fmt::format("{:.1f}", 100 * row.result.utilisation()),
                                  fmt::format("{:.2f}", row.result.mean_batch()),
                                  shown_ms(latency.mean_s()),
                                  shown_ms(latency.quantile_s(0.5)),
                                  shown_ms(latency.quantile_s(0.95)),
                                  shown_ms(latency.quantile_s(0.99))};
    if (asked.goal) {
      line.push_back(fmt::format("{:.2f}", 100 * latency.share_within(*asked.goal)));
      line.push_back(fmt::format("{:.4g}", row.result.goodput_per_s(*asked.goal)));
      line.push_back(*row.meets(asked) ? "yes" : "no");
    }
    line.push_back(row.method);
    cells.push_back(std::move(line));
  }
  text += aligned(std::move(cells));
  if (!asked.goal) return text;
  text += "\n";
  for (std::size_t i = 0; i < rows.size(); i += asked.replicas.size()) {
    std::optional<int> least;
    for (std::size_t j = i; j < i + asked.replicas.size(); ++j) {
      if (*rows[j].meets(asked))
        least = std::min(least.value_or(rows[j].replicas), rows[j].replicas);
    }
    text += fmt::format("{:.4g} requests/s: {}\n", rows[i].per_s,
                        least ? fmt::format("{} replica{} meet{} the goal", *least,
                                            *least == 1 ? "" : "s", *least == 1 ? "s" : "")
                              : "none of these numbers of replicas meets the goal");
  }
  return text;
}

Json service_json(const AskedService& asked, const std::vector<ServiceRow>& rows) {
  Json list = Json::array();
  for (const ServiceRow& row : rows) {
    const LatencyRecord& latency = row.result.latency;
    Json one{{"requests_per_s", json_number(row.per_s)},
             {"replicas", row.replicas},
             {"requests", latency.count()},
             {"utilisation", json_number(row.result.utilisation())},
             {"mean_batch", json_number(row.result.mean_batch())},
             {"mean_s", json_number(latency.mean_s())},
             {"p50_s", json_number(latency.quantile_s(0.5))},
             {"p95_s", json_number(latency.quantile_s(0.95))},
             {"p99_s", json_number(latency.quantile_s(0.99))},
             {"max_s", json_number(to_seconds(latency.max()))}};
    if (asked.goal) {
      one["within_goal"] = json_number(latency.share_within(*asked.goal));
      one["goodput_per_s"] = json_number(row.result.goodput_per_s(*asked.goal));
      one["meets_goal"] = *row.meets(asked);
    }
    one["method"] = row.method;
    list.push_back(std::move(one));
  }
  Json json;
  if (asked.goal) {
    json["goal"] = {{"percentile", asked.percentile}, {"latency_s", to_seconds(*asked.goal)}};
  }
  json["rows"] = std::move(list);
  return json;
}

std::string service_csv(const AskedService& asked, const std::vector<ServiceRow>& rows) {
  std::string text =
      "requests_per_s,replicas,requests,utilisation,mean_batch,mean_s,p50_s,p95_s,p99_s,max_s,"
      "within_goal,goodput_per_s,method\n";
  for (const ServiceRow& row : rows) {
    const LatencyRecord& latency = row.result.latency;
    text += fmt::format("{},{},{},", csv_number(row.per_s), row.replicas, latency.count());
    for (const double value : {row.result.utilisation(), row.result.mean_batch(), latency.mean_s(),
                               latency.quantile_s(0.5), latency.quantile_s(0.95),
                               latency.quantile_s(0.99), to_seconds(latency.max())}) {
      text += csv_number(value) + ",";
    }
    text += asked.goal ? csv_number(latency.share_within(*asked.goal)) + "," +
                             csv_number(row.result.goodput_per_s(*asked.goal))
                       : ",";
    text += "," + csv_text(row.method) + "\n";
  }
  return text;
}

ServiceTimes times_option(const po::variables_map& values, const std::string& path) {
  const auto text = [&](const char* key) { return values[key].as<std::string>(); };
  ServiceTimeChoice choice{text("model"), text("gpu"), text("slice")};
  choice.processes = static_cast<int>(whole_option(values, "processes", 1, 1000));
  choice.sequence_tokens = static_cast<int>(whole_option(values, "tokens", 0, 1'000'000'000));
  std::vector<MeasuredBatch> measured;
  for (const MeasuredServiceTime& row : chosen_times(read_service_times(path), choice)) {
    measured.push_back({row.batch, row.mean_s});
  }
  return ServiceTimes(std::move(measured));
}

AskedService asked_service(const po::variables_map& values, const CommonOptions& common,
                           std::vector<NamedFile>& inputs) {
  if (values.count("times") == 0) {
    throw InputError("--times",
                     "is missing, expected a table of measured times of batches, such as "
                     "examples/service_times.csv");
  }
  if ((values.count("rate") == 0) == (values.count("trace") == 0)) {
    throw InputError("--rate", "give either --rate or --trace, the load of the service");
  }
  const std::string times = find_input_file(values["times"].as<std::string>(), common, "--times");
  inputs.push_back({"--times", times});
  AskedService asked{{times_option(values, times)}};
  asked.queue.variation =
      choice_option(values, "service", {"constant", "exponential"}) == "constant"
          ? ServiceVariation::kConstant
          : ServiceVariation::kExponential;
  asked.queue.batching.largest = static_cast<int>(whole_option(values, "batch", 1, 1'000'000));
  if (asked.queue.batching.largest > asked.queue.times.largest()) {
    throw InputError("--batch",
                     fmt::format("found {}, but the largest measured batch is {}; take that "
                                 "at most, or measure a larger one",
                                 asked.queue.batching.largest, asked.queue.times.largest()));
  }
  asked.queue.batching.longest_wait =
      from_seconds(number_option(values, "wait", 0, 1e9, "a number of ms") * 1e-3);
  asked.stretch = number_option(values, "stretch", 0.01, 1000, "a factor");
  asked.spacing = choice_option(values, "spacing", {"poisson", "even"}) == "even"
                      ? Spacing::kEven
                      : Spacing::kPoisson;
  asked.shape = choice_option(values, "shape", {"constant", "diurnal", "bursts"});
  asked.swing = number_option(values, "swing", 0, 1, "a share");
  asked.end = from_seconds(number_option(values, "seconds", 1e-3, 1e8, "a number of seconds"));
  for (const double replicas : numbers_option(values, "replicas", 1, 1e5, "a number of replicas")) {
    if (replicas != static_cast<int>(replicas)) {
      throw InputError("--replicas",
                       "found " + fmt::format("{}", replicas) + ", expected a whole number");
    }
    asked.replicas.push_back(replicas);
  }
  asked.percentile = number_option(values, "percentile", 0, 100, "a percentile");
  if (values.count("goal") != 0) {
    asked.goal = from_seconds(number_option(values, "goal", 1e-6, 1e12, "a number of ms") * 1e-3);
  }
  asked.method = choice_option(values, "method", {"auto", "simulation", "approximation"});
  asked.seed = static_cast<std::uint64_t>(
      whole_option(values, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  if (values.count("trace") == 0) {
    asked.loads = numbers_option(values, "rate", 1e-9, 1e8, "a number of requests per second");
    return asked;
  }
  if (asked.method == "approximation") {
    throw InputError("--method",
                     "a trace is simulated request by request; give --rate to approximate");
  }
  const std::string trace = find_input_file(values["trace"].as<std::string>(), common, "--trace");
  inputs.push_back({"--trace", trace});
  asked.trace = read_request_trace(trace).arrivals;
  asked.loads = numbers_option(values, "rate-factor", 1e-6, 1e6, "a factor");
  return asked;
}

}  // namespace

int service_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto values = parse_command_line(service_command_line(), arguments, common);
  if (!values) return kDone;
  std::vector<NamedFile> inputs;
  const AskedService asked = asked_service(*values, common, inputs);
  if (common.output) check_outputs_differ({{"--output", *common.output}}, inputs);
  std::vector<ServiceRow> rows;
  for (const double load : asked.loads) {
    for (const double replicas : asked.replicas) {
      rows.push_back(row_of(asked, load, static_cast<int>(replicas)));
    }
  }
  emit(common, common.format == Format::kJson  ? json_text(service_json(asked, rows))
               : common.format == Format::kCsv ? service_csv(asked, rows)
                                               : service_table(asked, rows));
  return kDone;
}

}  // namespace corun::inline cli
