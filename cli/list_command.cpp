#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "evaluation/paper_sections/shipped_experiments.hpp"
#include "knowledge/knowledge_catalog.hpp"
#include "models/interference/catalog.hpp"
#include "policies/catalog.hpp"
#include "predictors/catalog.hpp"
#include "predictors/graph/zoo/zoo.hpp"
#include "runner/config/key_descriptions.hpp"
#include "runner/inputs/gpu_types_file.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/json.hpp"
#include "support/text_table.hpp"
#include "traces/catalog.hpp"
#include "traces/csv_reader.hpp"
#include "traces/gpu_catalog.hpp"

/// `corun list`: lists policies, models, traces, knowledge bases, experiments and keys.
namespace corun::inline cli {

namespace {

struct Row {
  std::string name;
  std::string description;
  std::vector<std::pair<std::string, std::string>> parameters;
};

std::string fallback_text(const ParameterValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>) {
          return fmt::format("{}", v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return v;
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          return fmt::format("[{}]", fmt::join(v, ", "));
        } else {
          return "null";
        }
      },
      value);
}

std::vector<Row> policy_rows() {
  std::vector<Row> rows;
  for (const PolicyEntry& e : policy_catalog()) {
    Row row{std::string(e.name), std::string(e.description), {}};
    if (!e.alias.empty()) row.description += fmt::format("; also called {}", e.alias);
    for (const ParameterSpec& p : e.parameters) {
      row.parameters.emplace_back(
          p.name, fmt::format("{} (default {})", p.description, fallback_text(p.fallback)));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Rows of a catalogue whose entries have a name and a description.
template <typename Catalog>
std::vector<Row> rows_of(const Catalog& catalog) {
  std::vector<Row> rows;
  for (const auto& e : catalog) {
    rows.push_back({std::string(e.name), std::string(e.description), {}});
  }
  return rows;
}

/// The keys of a configuration: default and meaning, then a line with the permitted values.
std::string keys_text(Format format) {
  const std::vector<KeyDescription> keys = describe_keys();
  if (format == Format::kJson) {
    Json json = Json::array();
    for (const KeyDescription& k : keys) {
      json.push_back({{"name", k.key},
                      {"default", k.by_default},
                      {"value", k.value},
                      {"description", k.meaning}});
    }
    return json_text(json);
  }
  std::string text;
  if (format == Format::kCsv) {
    text = "name,default,value,description\n";
    for (const KeyDescription& k : keys) {
      text += csv_text(k.key) + ',' + csv_text(k.by_default) + ',' + csv_text(k.value) + ',' +
              csv_text(k.meaning) + '\n';
    }
    return text;
  }
  constexpr std::size_t kLongest = 16;  // a longer default shifts only its own meaning
  std::size_t width = 0;
  for (const KeyDescription& k : keys) width = std::max(width, k.key.size());
  for (const KeyDescription& k : keys) {
    text += fmt::format("{:<{}}  {:<{}}  {}\n    {}\n", k.key, width, k.by_default, kLongest,
                        k.meaning, k.value);
  }
  return text;
}

/// The GPU types: a figure that is not known is left out.
std::string gpus_text(const GpuTypes& types, Format format) {
  struct Column {
    const char* name;   ///< in CSV and JSON
    const char* title;  ///< in the table
    double (*of)(const GpuSpec&);
  };
  constexpr std::array<Column, 10> kColumns{{
      {"sms", "SMs", [](const GpuSpec& g) { return static_cast<double>(g.sms); }},
      {"cuda_cores", "CUDA cores",
       [](const GpuSpec& g) { return static_cast<double>(g.cuda_cores); }},
      {"tensor_cores", "tensor cores",
       [](const GpuSpec& g) { return static_cast<double>(g.tensor_cores); }},
      {"threads_per_sm", "threads/SM",
       [](const GpuSpec& g) { return static_cast<double>(g.threads_per_sm); }},
      {"memory_mib", "memory MiB", [](const GpuSpec& g) { return g.memory_mib; }},
      {"bandwidth_gbs", "GB/s", [](const GpuSpec& g) { return g.bandwidth_gbs; }},
      {"memory_clock_mhz", "mem. MHz", [](const GpuSpec& g) { return g.memory_clock_mhz; }},
      {"boost_mhz", "boost MHz", [](const GpuSpec& g) { return g.boost_mhz; }},
      {"fp32_tflops", "FP32 TFLOP/s", [](const GpuSpec& g) { return g.fp32_tflops; }},
      {"l2_mib", "L2 MiB", [](const GpuSpec& g) { return g.l2_mib; }},
  }};
  // Tensor cores of a GPU without them are 0, not unknown.
  const auto known = [](const GpuSpec& g, double value) { return g.sms > 0 || value > 0; };
  if (format == Format::kJson) {
    Json json = Json::array();
    for (const GpuSpec* type : types.all()) {
      const GpuSpec& g = *type;
      Json entry{{"name", g.name}, {"architecture", g.architecture}};
      for (const Column& c : kColumns) {
        entry[c.name] = known(g, c.of(g)) ? Json(c.of(g)) : Json(nullptr);
      }
      json.push_back(std::move(entry));
    }
    return json_text(json);
  }
  std::string text;
  if (format == Format::kCsv) {
    text = "name,architecture";
    for (const Column& c : kColumns) text += fmt::format(",{}", c.name);
    text += '\n';
    for (const GpuSpec* type : types.all()) {
      const GpuSpec& g = *type;
      text += csv_text(g.name) + ',' + csv_text(g.architecture);
      for (const Column& c : kColumns) {
        text += known(g, c.of(g)) ? ',' + csv_number(c.of(g)) : ",";
      }
      text += '\n';
    }
    return text;
  }
  text = fmt::format("{:<21}  {:<12}", "GPU type", "architecture");
  for (const Column& c : kColumns)
    text += fmt::format("  {:>{}}", c.title, std::string_view(c.title).size());
  text += '\n';
  for (const GpuSpec* type : types.all()) {
    const GpuSpec& g = *type;
    text += fmt::format("{:<21}  {:<12}", g.name, g.architecture);
    for (const Column& c : kColumns) {
      const std::size_t width = std::string_view(c.title).size();
      text += known(g, c.of(g)) ? fmt::format("  {:>{}.6g}", c.of(g), width)
                                : fmt::format("  {:>{}}", "-", width);
    }
    text += '\n';
  }
  return text;
}

std::vector<Row> experiment_rows() {
  std::vector<Row> rows;
  for (ShippedExperiment& e : shipped_experiments()) {
    rows.push_back({std::move(e.path), std::move(e.description), {}});
  }
  return rows;
}

std::vector<Row> zoo_rows() {
  std::vector<Row> rows;
  for (const ZooEntry& e : zoo_catalog()) {
    const GraphTotals totals = totals_of(build_zoo_model(e));
    rows.push_back(
        {std::string(e.name),
         fmt::format("{:.1f} M parameters, {:.2f} G multiply-adds ({}), {}",
                     static_cast<double>(totals.parameters) / 1e6, totals.multiply_adds / 1e9,
                     e.pixels > 0 ? fmt::format("image of {0} x {0}", e.pixels)
                                  : fmt::format("{} tokens", e.tokens),
                     e.source),
         {}});
  }
  return rows;
}

std::vector<Row> rows_called(const std::string& what) {
  if (what == "policies") return policy_rows();
  if (what == "models") return rows_of(interference_model_catalog());
  if (what == "traces") return rows_of(trace_catalog());
  if (what == "knowledge") return rows_of(knowledge_catalog());
  if (what == "experiments") return experiment_rows();
  if (what == "predictors") return rows_of(predictor_catalog());
  if (what == "figures") return rows_of(figure_catalog());
  if (what == "zoo") return zoo_rows();
  constexpr std::array<std::string_view, 10> kKnown{
      "policies",    "models", "gpus",       "traces", "knowledge",
      "experiments", "keys",   "predictors", "zoo",    "figures"};
  throw InputError("corun list",
                   what.empty()
                       ? fmt::format("needs a word: one of {}", fmt::join(kKnown, ", "))
                       : "no list '" + printable(what) + "': " + did_you_mean(what, kKnown));
}

std::string table_of(const std::vector<Row>& rows) {
  TextTable table({TextTable::Align::kLeft});
  for (const Row& r : rows) {
    table.add({r.name, r.description});
    for (const auto& [name, text] : r.parameters) {
      table.add_line(fmt::format("    {}: {}", name, text));
    }
  }
  return table.text();
}

Json json_of(const std::vector<Row>& rows, bool with_parameters) {
  Json json = Json::array();
  for (const Row& r : rows) {
    Json entry{{"name", r.name}, {"description", r.description}};
    if (with_parameters) {
      entry["parameters"] = Json::object();
      for (const auto& [name, text] : r.parameters) entry["parameters"][name] = text;
    }
    json.push_back(std::move(entry));
  }
  return json;
}

std::string csv_of(const std::vector<Row>& rows) {
  std::string out = "name,description\n";
  for (const Row& r : rows) out += csv_text(r.name) + "," + csv_text(r.description) + "\n";
  return out;
}

}  // namespace

int list_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "list";
  command.usage =
      "corun list policies|models|traces|knowledge|experiments|gpus|keys|zoo|predictors|figures "
      "[options]";
  command.summary =
      "What there is, one line each; policies with their parameters, GPU types with their\n"
      "specifications, keys of a configuration with their default and what may stand there.";
  command.examples = "  corun list policies\n  corun list traces --format json\n";
  command.positional = "what";
  command.configured = false;
  std::string own;
  command.own.add_options()(
      "gpu-types", boost::program_options::value(&own)->value_name("FILE"),
      "with gpus: GPU types of your own, YAML as for cluster.gpu_types, first");
  CommonOptions common;
  const auto values = parse_command_line(command, arguments, common);
  if (!values) return kDone;
  const std::string what = values->count("what") ? (*values)["what"].as<std::string>() : "";
  if (!own.empty() && what != "gpus") {
    throw InputError("--gpu-types", "is for the list gpus; leave it out");
  }
  if (what == "keys") {
    emit(common, keys_text(common.format));
    return kDone;
  }
  if (what == "gpus") {
    GpuTypes types;
    if (!own.empty()) {
      const std::string path = find_input_file(own, common, "--gpu-types");
      types = GpuTypes(read_gpu_types(path));
      if (common.output) {
        check_outputs_differ({{"--output", *common.output}}, {{"--gpu-types", path}});
      }
    }
    emit(common, gpus_text(types, common.format));
    return kDone;
  }
  const std::vector<Row> rows = rows_called(what);
  emit(common, common.format == Format::kJson  ? json_text(json_of(rows, what == "policies"))
               : common.format == Format::kCsv ? csv_of(rows)
                                               : table_of(rows));
  return kDone;
}

}  // namespace corun::inline cli
