#include "traces/public_formats/openb.hpp"

#include <algorithm>
#include <filesystem>

#include "sim/error.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kPodColumns = {{"name", true},
                                            {"num_gpu", true},
                                            {"gpu_milli", true},
                                            {"cpu_milli", true},
                                            {"memory_mib", true},
                                            {"creation_time", true},
                                            {"deletion_time", true},
                                            {"scheduled_time"},
                                            {"gpu_spec"},
                                            {"pod_phase"}};
const std::vector<CsvColumn> kNodeColumns = {
    {"sn", true}, {"gpu", true}, {"model", true}, {"cpu_milli"}, {"memory_mib"}};
constexpr IntegerRule kOpenbMilli{"thousandths of a GPU", 0, 1000};

/// The bits of "V100M16|V100M32".
std::uint32_t model_bits(CsvReader& csv, CsvReader::Column column, TraceBuilder& builder) {
  std::uint32_t bits = 0;
  const std::string_view text = csv.text(column);
  for (std::size_t at = 0; !text.empty();) {
    const std::size_t end = std::min(text.find('|', at), text.size());
    const std::string_view model = text.substr(at, end - at);
    if (model.empty()) csv.refuse(column, "names of GPU models joined by '|'");
    const auto bit = builder.gpu_model(model);
    if (!bit) csv.refuse(column, "at most 32 different GPU models in a trace");
    bits |= *bit;
    if (end == text.size()) break;
    at = end + 1;
  }
  return bits;
}

Trace read_pods(CsvReader& csv, const std::string& source, const LogRules& rules) {
  const auto name = csv.column("name");
  const auto num_gpu = csv.column("num_gpu");
  const auto gpu_milli = csv.column("gpu_milli");
  const auto gpu_spec = csv.column("gpu_spec");
  const auto cpu = csv.column("cpu_milli");
  const auto memory = csv.column("memory_mib");
  const auto creation = csv.column("creation_time");
  const auto scheduled = csv.column("scheduled_time");
  const auto deletion = csv.column("deletion_time");
  const auto phase = csv.column("pod_phase");
  TraceBuilder builder(source, rules);
  std::size_t running = 0;
  for (std::size_t row = 1; csv.next(); ++row) {
    TraceJob job;
    job.name = name_or_row(csv.text(name), row);
    const auto created = csv.seconds(creation, kSubmitRule);
    const auto placed = csv.seconds(scheduled, kSubmitRule);
    const auto end = csv.seconds(deletion, kSubmitRule);
    const std::string_view state = csv.text(phase);
    if (!builder.keeps_state(state, csv.line(), placed && end)) continue;
    job.spec.gpus = static_cast<int>(csv.integer(num_gpu, kGpusOrNoneRule).value_or(0));
    if (job.spec.gpus > 0) {
      job.spec.gpu_milli = static_cast<int>(csv.integer(gpu_milli, kOpenbMilli).value_or(1000));
      const bool sound =
          job.spec.gpu_milli == 1000 || (job.spec.gpu_milli > 0 && job.spec.gpus == 1);
      if (!sound) csv.refuse(gpu_milli, "1 to 1000 with one GPU, 1000 with several");
    }
    if (job.spec.gpus > 0) {
      if (!created) {
        builder.skip_without_submit(csv.line());
        continue;
      }
      if (csv.has(scheduled) && !placed) {
        builder.skip("never scheduled", csv.line());
        continue;
      }
      if (!end) {
        builder.skip("without an end", csv.line());
        continue;
      }
      job.spec.submit = *created;
      const Time start = placed.value_or(*created);
      constexpr Duration kLongest = std::chrono::seconds{90'000'000};
      if (*end < start) {
        builder.skip_backwards(csv.line());
        continue;
      }
      if (*end - start > kLongest) csv.refuse(deletion, "an end within 90000000 s of the start");
      job.spec.work = *end - start;
      running += parse_job_state(state) == JobState::kRunning ? 1 : 0;
    }
    job.spec.gpu_models = model_bits(csv, gpu_spec, builder);
    job.spec.request.cpu_milli = csv.integer(cpu, kRequestRule).value_or(0);
    job.spec.request.memory_mib = csv.integer(memory, kRequestRule).value_or(0);
    builder.add_or_skip(std::move(job), csv.line());
  }
  if (running > 0) {
    builder.assume(std::to_string(running) + (running == 1 ? " pod" : " pods") +
                   " of phase Running: the deletion_time is taken as the end");
  }
  return builder.take(csv.name() + ":1:1");
}

NodeList read_nodes(CsvReader& csv) {
  const auto sn = csv.column("sn");
  const auto gpu = csv.column("gpu");
  const auto model = csv.column("model");
  const auto cpu = csv.column("cpu_milli");
  const auto memory = csv.column("memory_mib");
  NodeList list;
  list.name = csv.name();
  std::size_t without = 0;
  while (csv.next()) {
    ListedNode node;
    node.name = csv.required_text(sn, "the name of a node");
    node.gpus = static_cast<int>(csv.integer(gpu, kGpusOrNoneRule).value_or(0));
    if (node.gpus == 0) {
      ++without;
      continue;
    }
    node.gpu_model = csv.required_text(model, "the model of its GPUs");
    node.cpu_milli = csv.integer(cpu, kRequestRule).value_or(0);
    node.memory_mib = csv.integer(memory, kRequestRule).value_or(0);
    node.line = csv.line();
    list.nodes.push_back(std::move(node));
  }
  if (without > 0) {
    list.skipped.push_back(std::to_string(without) + (without == 1 ? " node" : " nodes") +
                           " without GPUs");
  }
  if (list.nodes.empty()) {
    throw InputError(csv.name() + ":1:1", "no node with GPUs, expected some; add nodes");
  }
  return list;
}

}  // namespace

Trace read_openb_pods(const std::string& path, const LogRules& rules) {
  CsvReader csv(path, kPodColumns, kLogColumns);
  return read_pods(csv, std::filesystem::path(path).filename().string(), rules);
}

Trace read_openb_pods(std::istream& in, const std::string& name, const LogRules& rules) {
  CsvReader csv(in, name, kPodColumns, kLogColumns);
  return read_pods(csv, name, rules);
}

bool looks_like_openb_pods(const TraceHead& head) {
  return has_columns(head, {"name", "num_gpu", "gpu_milli", "creation_time", "deletion_time"});
}

NodeList read_openb_nodes(const std::string& path) {
  CsvReader csv(path, kNodeColumns, kAnyColumns);
  return read_nodes(csv);
}

NodeList read_openb_nodes(std::istream& in, const std::string& name) {
  CsvReader csv(in, name, kNodeColumns, kAnyColumns);
  return read_nodes(csv);
}

}  // namespace corun::inline traces
