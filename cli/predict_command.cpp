#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "cli/note.hpp"
#include "cli/option_values.hpp"
#include "cli/predictor/predictor_options.hpp"
#include "predictors/graph/zoo/zoo.hpp"
#include "predictors/onnx/onnx_import.hpp"
#include "predictors/tables/predictor_file.hpp"
#include "runner/inputs/job_forecast.hpp"
#include "sim/base/csv_text.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"
#include "support/text_table.hpp"
#include "traces/input_file.hpp"

/// `corun predict`: what a model needs on GPU types before it has run.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

constexpr std::int64_t kMostBatch = 1'000'000;

CommandLine forecast_command_line() {
  CommandLine command;
  command.name = "predict";
  command.usage = "corun predict --zoo NAME|--onnx FILE [--batch N] [--gpu TYPE,...] [options]";
  command.summary =
      "What a job needs before it has run: peak memory, time of a step and GPU utilisation on "
      "each\n"
      "GPU type, with 90 % intervals, and the largest batch that fits. The model is one of\n"
      "`corun list zoo` or an ONNX file. Without predictors that `corun predictor fit` has "
      "fitted,\n"
      "built-in formulas serve, with wider intervals. --queue says with which job of a queue it\n"
      "should share a GPU.";
  command.examples =
      "  corun predict --zoo resnet50 --batch 64 --gpu V100-16GB\n"
      "  corun predict --zoo bert_base --batch 32 --tokens 128 --gpu V100-16GB,T4,A100-40GB\n"
      "  corun predict --zoo vgg16 --batch 32 --gpu T4 --phase inference\n"
      "  corun predict --onnx bert.onnx --batch 8 --size sequence=128 --phase inference\n"
      "  corun predict --zoo resnet18 --batch 64 --gpu V100-16GB --queue examples/jobs.csv\n";
  command.configured = false;
  auto add = command.own.add_options();
  add("zoo", po::value<std::string>(), "a model of `corun list zoo`");
  add("onnx", po::value<std::string>(), "an ONNX file");
  add("batch", po::value<std::string>()->default_value("32"), "samples of a step");
  add("gpu", po::value<std::string>()->default_value("V100-16GB,T4,A100-40GB"),
      "GPU types of `corun list gpus`, or all");
  add("phase", po::value<std::string>()->default_value("train"), "train or inference");
  add("pixels", po::value<std::string>(), "side of an image, for --zoo");
  add("tokens", po::value<std::string>(), "length of a text, for --zoo");
  add("size", po::value<std::vector<std::string>>()->composing(),
      "for --onnx: NAME=N, a dimension that the file leaves open, N from 0; once for each. A "
      "nameless one is INPUT.PLACE, as ids.1=128. --batch sets the one called batch, else the "
      "first");
  add("model", po::value<std::vector<std::string>>()->composing(),
      "what `corun predictor fit` wrote; once for each target");
  add("queue", po::value<std::string>(),
      "a job trace or a table of profiles: with which of its jobs the model should share a GPU");
  add("kb", po::value<std::string>()->default_value("jrs"),
      "with --queue: the knowledge base to believe");
  add_gpu_types_option(command);
  return command;
}

std::int64_t size_option(const po::variables_map& values, const char* key) {
  return values.count(key) == 0 ? 0 : whole_option(values, key, 1, 1'000'000);
}

/// "batch=8" of --size.
std::map<std::string, std::int64_t> sizes_option(const po::variables_map& values) {
  std::map<std::string, std::int64_t> sizes;
  for (const std::string& text : list_option(values, "size")) {
    const std::size_t equals = text.rfind('=');
    const auto number = equals == std::string::npos
                            ? std::nullopt
                            : parse_integer(std::string_view(text).substr(equals + 1));
    if (!number || *number < 0 || equals == 0) {
      throw InputError("--size", "found '" + printable(text) +
                                     "', expected NAME=N with a whole number, 0 or more");
    }
    const auto [size, added] = sizes.emplace(text.substr(0, equals), *number);
    if (!added && size->second != *number) {
      throw InputError("--size", fmt::format("found '{}', but {} was given before; give one",
                                             printable(text), size->second));
    }
  }
  return sizes;
}

std::string read_whole_file(const std::string& path) {
  constexpr std::size_t kLargestOnnx = std::size_t{1} << 31U;  // the format's own limit
  const auto in = open_input(path, "an ONNX file");
  std::string bytes;
  std::vector<char> part(std::size_t{1} << 20U);
  while (*in) {
    in->read(part.data(), static_cast<std::streamsize>(part.size()));
    bytes.append(part.data(), static_cast<std::size_t>(in->gcount()));
    if (bytes.size() > kLargestOnnx) {
      throw InputError(shown_path(path),
                       "is larger than 2 GiB, the most that an ONNX file can be; "
                       "keep its weights in files of their own");
    }
  }
  return bytes;
}

struct AskedModel {
  std::string name;
  std::shared_ptr<const ComputationGraph> graph;
  std::optional<std::int64_t> batch = {};  ///< what --size says of the samples
};

AskedModel model_of_file(const po::variables_map& values, const CommonOptions& common) {
  const std::string path = find_input_file(values["onnx"].as<std::string>(), common, "--onnx");
  OnnxOptions options;
  options.sizes = sizes_option(values);
  OnnxModel model;
  try {
    model = import_onnx(read_whole_file(path), options);
  } catch (const MissingSize& e) {
    throw InputError(shown_path(path),
                     fmt::format("{}; give --size {}=N", e.what(), printable(e.name)));
  } catch (const std::invalid_argument& e) {
    throw InputError(shown_path(path), e.what());
  }
  AskedModel asked;
  if (model.samples_given) {
    asked.batch = model.graph.samples();
    if (*asked.batch > kMostBatch) {
      throw InputError("--size",
                       fmt::format("found '{}={}', expected a batch of {} at most",
                                   printable(model.samples_name), *asked.batch, kMostBatch));
    }
    const bool default_batch = values["batch"].defaulted();
    if (!default_batch && *asked.batch != whole_option(values, "batch", 1, kMostBatch)) {
      throw InputError("--size", fmt::format("{0}={1}, but --batch is {2}, and {0} counts the "
                                             "samples; give one of them",
                                             printable(model.samples_name), *asked.batch,
                                             values["batch"].as<std::string>()));
    }
  }
  for (const std::string& text : model.notes) note(common, text);
  if (!model.unknown_operators.empty()) {
    std::vector<std::string> named;
    for (const auto& [type, count] : model.unknown_operators) {
      named.push_back(fmt::format("{} ({})", type, count));
    }
    note(common, fmt::format("{} operations of unknown types count as copies: {}",
                             model.unknown_count(), fmt::join(named, ", ")));
  }
  asked.name = shown_path(path);
  asked.graph = std::make_shared<const ComputationGraph>(std::move(model.graph));
  return asked;
}

/// Says which times rest on no measurement, and which are not predicted.
void note_precisions(const CommonOptions& common, const ComputationGraph& graph,
                     const std::vector<JobForecast>& forecasts) {
  for (const Precision precision : {Precision::kHalf, Precision::kBfloat16, Precision::kDouble}) {
    if (!multiplies_in(graph, precision)) continue;
    std::vector<std::string_view> without;
    for (const JobForecast& f : forecasts) {
      JobFigures figures;
      set_gpu(figures, *f.gpu);
      if (std::isnan(peak_tflops(figures, precision))) without.push_back(f.gpu->name);
    }
    if (!without.empty()) {
      note(common,
           fmt::format("the model multiplies in {}, of which no peak is known for {}: no time "
                       "and no utilisation",
                       name_of(precision), fmt::join(without, ", ")));
    }
    if (without.size() < forecasts.size()) {
      note(common, fmt::format("the model multiplies in {}: its time is by the peak of the tensor "
                               "cores; no predictor has learnt from such jobs",
                               name_of(precision)));
    }
  }
}

AskedModel model_of(const po::variables_map& values, const CommonOptions& common) {
  const bool zoo = values.count("zoo") != 0;
  if (zoo == (values.count("onnx") != 0)) {
    throw InputError("corun predict", zoo ? "takes --zoo or --onnx, not both"
                                          : "needs a model; give --zoo NAME or --onnx FILE");
  }
  try {
    if (zoo) {
      const auto name = values["zoo"].as<std::string>();
      const ZooEntry* entry = find_zoo_model(name);
      if (entry == nullptr) {
        std::vector<std::string_view> known;
        for (const ZooEntry& e : zoo_catalog()) known.push_back(e.name);
        const std::string_view near = nearest(name, known);
        throw InputError("--zoo",
                         "found '" + printable(name) + "', expected a model of the zoo; " +
                             (near.empty() ? "" : "did you mean '" + std::string(near) + "'? ") +
                             "corun list zoo shows all");
      }
      const ZooInput input{size_option(values, "pixels"), size_option(values, "tokens")};
      if (values.count("size") != 0) throw InputError("--size", "goes with --onnx only");
      if (input.pixels > 0 && entry->pixels == 0) {
        throw InputError("--pixels", name + " reads texts; give --tokens");
      }
      if (input.tokens > 0 && entry->tokens == 0) {
        throw InputError("--tokens", name + " reads images; give --pixels");
      }
      try {
        return {name, std::make_shared<const ComputationGraph>(build_zoo_model(*entry, input))};
      } catch (const std::invalid_argument& e) {
        const std::string option = entry->pixels > 0 ? "--pixels" : "--tokens";
        throw InputError(option, std::to_string(std::max(input.pixels, input.tokens)) +
                                     " does not suit " + name + ": " + e.what());
      }
    }
    for (const char* key : {"pixels", "tokens"}) {
      if (values.count(key) != 0) {
        throw InputError(std::string("--") + key, "goes with --zoo only; give --size NAME=N");
      }
    }
    return model_of_file(values, common);
  } catch (const std::invalid_argument& e) {
    throw InputError("--zoo", e.what());
  }
}

std::vector<const GpuSpec*> gpus_of(const po::variables_map& values, const GpuTypes& types) {
  const auto text = values["gpu"].as<std::string>();
  if (text == "all") return types.all();
  std::vector<const GpuSpec*> asked;
  for (const std::string& name : split_text(text, ',')) {
    const GpuSpec* type = types.find(name);
    if (type == nullptr) {
      throw InputError("--gpu", "found '" + printable(name) +
                                    "', expected the name of a GPU type; " + types.advice(name));
    }
    asked.push_back(type);
  }
  return asked;
}

JobPredictors predictors_of(const po::variables_map& values, const CommonOptions& common,
                            std::vector<NamedFile>& inputs) {
  JobPredictors predictors;
  std::array<bool, kTargets> given{};
  for (const std::string& path : list_option(values, "model")) {
    const std::string found = find_input_file(path, common, "--model");
    inputs.push_back({"--model", found});
    const PredictorFile file = read_predictor_file(found);
    const auto target = static_cast<std::size_t>(file.predictor->target());
    if (given.at(target)) {
      throw InputError("--model", fmt::format("two predictors of {}; give one",
                                              name_of(file.predictor->target())));
    }
    given.at(target) = true;
    predictors.by_target.at(target) = file.predictor;
  }
  std::vector<std::string_view> formulas;
  for (std::size_t t = 0; t < kTargets; ++t) {
    if (given.at(t)) continue;
    const auto target = static_cast<Target>(t);
    predictors.by_target.at(t) = built_in_predictor(target);
    formulas.push_back(name_of(target));
  }
  if (!formulas.empty()) {
    note(common, fmt::format("{} by built-in formulas; fit a predictor on measured jobs "
                             "(corun predictor fit) and give --model FILE for narrower intervals",
                             fmt::join(formulas, ", ")));
  }
  return predictors;
}

std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string with_interval(const Prediction& p) {
  if (std::isnan(p.median)) return "-";
  return fmt::format("{} [{}, {}]", short_number(p.median), short_number(p.lo), short_number(p.hi));
}

std::string forecast_table(const AskedModel& model, const JobQuestion& question,
                           const std::vector<JobForecast>& forecasts, bool learnt_limit) {
  using Align = TextTable::Align;
  const GraphTotals totals = totals_of(*model.graph);
  std::string text = fmt::format(
      "{}, {} of batches of {}: {:.2f} M parameters, {:.2f} G multiply-adds and {:.1f} M "
      "activations per sample, {} operations\n\n",
      model.name, question.training ? "training" : "inference", question.batch,
      static_cast<double>(totals.parameters) / 1e6, totals.multiply_adds / 1e9,
      totals.activation_elements / 1e6, model.graph->size());
  TextTable table({Align::kLeft, Align::kRight});
  table.add({"GPU type", "memory MiB", "of", "fits", "largest batch", "ms per step", "GPU util %"});
  for (const JobForecast& f : forecasts) {
    table.add({f.gpu->name, with_interval(f.memory_mib),
               f.gpu->memory_mib > 0 ? short_number(f.gpu->memory_mib) : "-",
               !f.fits   ? "-"
               : *f.fits ? "yes"
                         : "no",
               f.largest_batch > 0 ? fmt::format("{}", f.largest_batch)
               : f.fits            ? "none"
                                   : "-",
               with_interval(f.step_ms), with_interval(f.utilisation_pct)});
  }
  return text + table.text() + "\nBrackets: 90 % of single jobs lie between.\n" +
         (learnt_limit ? "Fits: the predicted memory is at most the largest that is not expected "
                         "to run out, a "
                         "limit learnt from held-out jobs.\n"
                       : "Fits: 99 % of jobs predicted so need no more than there is.\n");
}

Json interval_json(const Prediction& p) {
  return {{"median", json_number(p.median)}, {"lo", json_number(p.lo)}, {"hi", json_number(p.hi)}};
}

Json forecast_json(const AskedModel& model, const JobQuestion& question,
                   const std::vector<JobForecast>& forecasts,
                   const std::vector<SharingAdvice>& advice) {
  const GraphTotals totals = totals_of(*model.graph);
  Json types = Json::array();
  for (const JobForecast& f : forecasts) {
    types.push_back({{"gpu_type", f.gpu->name},
                     {"gpu_memory_mib", f.gpu->memory_mib},
                     {"memory_mib", interval_json(f.memory_mib)},
                     {"fits", json_or_null(f.fits)},
                     {"largest_batch", f.largest_batch},
                     {"step_ms", interval_json(f.step_ms)},
                     {"gpu_util_pct", interval_json(f.utilisation_pct)}});
  }
  Json json{{"model", model.name},
            {"phase", question.training ? "train" : "inference"},
            {"batch", question.batch},
            {"parameters", totals.parameters},
            {"weight_bytes", totals.weight_bytes},
            {"multiply_adds", totals.multiply_adds},
            {"activation_elements", totals.activation_elements},
            {"operations", model.graph->size()},
            {"gpu_types", std::move(types)}};
  if (!advice.empty()) {
    Json list = Json::array();
    for (const SharingAdvice& a : advice) {
      list.push_back({{"job", a.job},
                      {"isd_of_model", json_number(a.isd_of_model)},
                      {"isd_of_job", json_number(a.isd_of_job)},
                      {"ps", json_number(a.ps)},
                      {"fits", a.fits}});
    }
    json["sharing"] = std::move(list);
  }
  return json;
}

std::string forecast_csv(const std::vector<JobForecast>& forecasts) {
  std::string text =
      "gpu_type,gpu_memory_mib,mem_mib,mem_mib_lo,mem_mib_hi,fits,largest_batch,step_ms,step_ms_lo,"
      "step_ms_hi,gpu_util_pct,gpu_util_pct_lo,gpu_util_pct_hi\n";
  const auto cells = [](const Prediction& p) {
    return csv_number(p.median) + "," + csv_number(p.lo) + "," + csv_number(p.hi);
  };
  for (const JobForecast& f : forecasts) {
    text += csv_text(f.gpu->name) + "," + csv_number(f.gpu->memory_mib) + "," +
            cells(f.memory_mib) +
            fmt::format(",{},{},",
                        !f.fits   ? ""
                        : *f.fits ? "1"
                                  : "0",
                        f.largest_batch) +
            cells(f.step_ms) + "," + cells(f.utilisation_pct) + "\n";
  }
  return text;
}

std::string advice_table(const std::vector<SharingAdvice>& advice, const GpuSpec& gpu) {
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight});
  table.add({"beside", "ISD of the model %", "ISD of the job %", "PS %", "both fit"});
  for (const SharingAdvice& a : advice) {
    table.add({a.job, short_number(100 * a.isd_of_model), short_number(100 * a.isd_of_job),
               fmt::format("{:.1f}", 100 * a.ps), a.fits ? "yes" : "no"});
  }
  return fmt::format("\nOn a shared {}, least slowdown first (means of the knowledge base):\n\n",
                     gpu.name) +
         table.text();
}

}  // namespace

int predict_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto values = parse_command_line(forecast_command_line(), arguments, common);
  if (!values) return kDone;
  JobQuestion question;
  question.batch = whole_option(*values, "batch", 1, kMostBatch);
  question.training = choice_option(*values, "phase", {"train", "inference"}) == "train";
  std::vector<NamedFile> inputs;
  const GpuTypes types = gpu_types_option(*values, common, inputs);
  const std::vector<const GpuSpec*> gpus = gpus_of(*values, types);
  if (values->count("onnx") != 0) {
    inputs.push_back(
        {"--onnx", find_input_file((*values)["onnx"].as<std::string>(), common, "--onnx")});
  }
  std::string queue;
  if (values->count("queue") != 0) {
    queue = find_input_file((*values)["queue"].as<std::string>(), common, "--queue");
    inputs.push_back({"--queue", queue});
    inputs.push_back({"--kb", (*values)["kb"].as<std::string>()});
    if (common.format == Format::kCsv) {
      throw InputError("--queue",
                       "has no place in a table of GPU types; take --format json or table");
    }
    if (gpus.size() > 1) {
      note(common,
           fmt::format("--queue: the ranking is for {}, the first of --gpu", gpus.front()->name));
    }
  }
  const AskedModel model = model_of(*values, common);
  const JobPredictors predictors = predictors_of(*values, common, inputs);
  if (common.output) check_outputs_differ({{"--output", *common.output}}, inputs);
  question.graph = model.graph;
  if (model.batch) question.batch = *model.batch;
  std::vector<JobForecast> forecasts;
  for (const GpuSpec* gpu : gpus) forecasts.push_back(forecast(predictors, question, *gpu));
  note_precisions(common, *model.graph, forecasts);
  std::vector<SharingAdvice> advice;
  if (!queue.empty()) {
    advice = advise_sharing(forecasts.front(), queue, (*values)["kb"].as<std::string>());
  }
  emit(common, common.format == Format::kJson
                   ? json_text(forecast_json(model, question, forecasts, advice))
               : common.format == Format::kCsv
                   ? forecast_csv(forecasts)
                   : forecast_table(model, question, forecasts,
                                    predictors.of(Target::kMemory).has_learnt_limit()) +
                         (advice.empty() ? "" : advice_table(advice, *gpus.front())));
  return kDone;
}

}  // namespace corun::inline cli
