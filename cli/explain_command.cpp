#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/cli.hpp"
#include "policies/catalog.hpp"
#include "runner/config/key_descriptions.hpp"
#include "runner/config/scope.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "sim/records/metrics.hpp"
#include "support/json.hpp"
#include "support/text_table.hpp"
#include "traces/csv_reader.hpp"

/// `corun explain`: what corun models and what it does not; a key, a policy or a figure of the results.
namespace corun::inline cli {

namespace {

/// What the word names.
struct Explanation {
  std::string kind;  ///< "topic", "key", "policy", "metric"
  std::string name;
  std::string modelled;  ///< of a topic
  std::string text;
  std::string page;
};

Explanation explanation_of(const Topic& topic) {
  return {"topic", std::string(topic.name), std::string(name_of(topic.modelled)),
          std::string(topic.text), std::string(topic.page)};
}

std::vector<Explanation> explanations_of(const std::string& word) {
  std::vector<Explanation> found;
  if (const Topic* topic = find_topic(word)) found.push_back(explanation_of(*topic));
  for (const KeyDescription& k : describe_keys()) {
    const bool below = k.key.starts_with(word + ".") || k.key.ends_with("." + word);
    if (k.key != word && !below) continue;
    found.push_back({"key", k.key, "",
                     fmt::format("{}; {}; default {}", k.meaning, k.value, k.by_default),
                     "docs/configuration.md"});
  }
  for (const PolicyEntry& p : policy_catalog()) {
    if (p.name != word && p.alias != word) continue;
    found.push_back(
        {"policy", std::string(p.name), "", std::string(p.description), "docs/policies.md"});
  }
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    const MetricInfo& info = metric_info(static_cast<Metric>(m));
    if (info.name != word) continue;
    found.push_back({"metric", word, "",
                     info.unit == "1" ? std::string(info.description)
                                      : fmt::format("{} [{}]", info.description, info.unit),
                     "docs/results.md"});
  }
  return found;
}

[[noreturn]] void refuse(const std::string& word) {
  std::vector<std::string_view> known;
  for (const Topic& topic : topics()) {
    known.push_back(topic.name);
    std::string_view words = topic.words;
    while (!words.empty()) {
      const std::size_t end = std::min(words.find(' '), words.size());
      known.push_back(words.substr(0, end));
      words.remove_prefix(std::min(end + 1, words.size()));
    }
  }
  for (const PolicyEntry& p : policy_catalog()) known.push_back(p.name);
  const std::string_view near = nearest(word, known);
  throw InputError(
      "corun explain",
      fmt::format("nothing is called '{}'{} corun explain lists the topics, corun list "
                  "keys and corun list policies the other names",
                  printable(word), near.empty() ? ";" : fmt::format(": did you mean '{}'?", near)));
}

std::string text_of_all(const std::vector<Explanation>& all, Format format, bool one) {
  if (format == Format::kJson) {
    Json json = Json::array();
    for (const Explanation& e : all) {
      json.push_back({{"kind", e.kind},
                      {"name", e.name},
                      {"modelled", e.modelled},
                      {"text", e.text},
                      {"page", e.page}});
    }
    return json_text(json);
  }
  if (format == Format::kCsv) {
    std::string text = "kind,name,modelled,text,page\n";
    for (const Explanation& e : all) {
      text += csv_text(e.kind) + ',' + csv_text(e.name) + ',' + csv_text(e.modelled) + ',' +
              csv_text(e.text) + ',' + csv_text(e.page) + '\n';
    }
    return text;
  }
  TextTable table({TextTable::Align::kLeft});
  if (!one) table.add({"topic", "modelled", "how, or what to use instead"});
  for (const Explanation& e : all) {
    if (one) {
      const std::string modelled = e.modelled.empty() ? "" : ", modelled: " + e.modelled;
      table.add_line(
          fmt::format("{} ({}{})\n    {}\n    see {}", e.name, e.kind, modelled, e.text, e.page));
    } else {
      table.add({e.name, e.modelled, e.text});
    }
  }
  return table.text();
}

}  // namespace

int explain_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "explain";
  command.usage = "corun explain [WORD] [options]";
  command.summary =
      "What corun models and what it does not, and what to use instead. WORD is a topic (elastic,\n"
      "failure, network, mig, quota, slo, energy), a key of a configuration or a section of it, a\n"
      "policy, or a figure of the results. Without it: all topics.";
  command.examples =
      "  corun explain\n  corun explain elastic\n  corun explain preemption\n  corun explain "
      "jct_s\n";
  command.positional = "WORD";
  command.configured = false;
  CommonOptions common;
  const auto values = parse_command_line(command, arguments, common);
  if (!values) return kDone;
  if (!values->count("WORD")) {
    std::vector<Explanation> all;
    for (const Topic& topic : topics()) all.push_back(explanation_of(topic));
    emit(common, text_of_all(all, common.format, false));
    return kDone;
  }
  const auto word = (*values)["WORD"].as<std::string>();
  const std::vector<Explanation> found = explanations_of(word);
  if (found.empty()) refuse(word);
  emit(common, text_of_all(found, common.format, true));
  return kDone;
}

}  // namespace corun::inline cli
