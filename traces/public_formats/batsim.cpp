#include "traces/public_formats/batsim.hpp"

#include <filesystem>
#include <istream>
#include <iterator>
#include <map>

#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/input_file.hpp"

namespace corun::inline traces {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostWorkloadBytes = std::size_t{256} << 20U;

std::string read_all(std::istream& in, const std::string& name) {
  std::string text;
  char block[65536];
  while (in.read(block, sizeof block) || in.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMostWorkloadBytes) {
      throw InputError(name,
                       "is larger than 256 MiB, expected a workload of Batsim; name another file");
    }
  }
  return text;
}

/// The place of a byte.
std::string place_of(const std::string& name, std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const std::size_t begin = before.rfind('\n') + 1;  // 0 if there is none
  return name + ":" + std::to_string(std::ranges::count(before, '\n') + 1) + ":" +
         std::to_string(before.size() - begin + 1);
}

/// A number of at least 0, or nothing for null, absent and negative ones. InputError for anything else.
std::optional<double> number(const Json& job, const char* key, double most,
                             const std::string& where) {
  const auto at = job.find(key);
  if (at == job.end() || at->is_null()) return std::nullopt;
  if (!at->is_number() || at->get<double>() > most) {
    throw InputError(where, "'" + std::string(key) + "' is " +
                                printable(at->dump(-1, ' ', true, Json::error_handler_t::replace)) +
                                ", expected a number up to " +
                                std::to_string(static_cast<std::int64_t>(most)) + "; correct it");
  }
  const double value = at->get<double>();
  return value >= 0 ? std::optional(value) : std::nullopt;
}

Trace read_batsim(std::istream& in, const std::string& name, const std::string& source,
                  const LogRules& rules) {
  const std::string text = read_all(in, name);
  Json workload;
  try {
    workload = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw InputError(
        place_of(name, text, error.byte > 0 ? error.byte - 1 : 0),
        "not JSON here, expected a workload of Batsim, whole and well-formed; correct it");
  } catch (const Json::exception&) {  // a number beyond a double
    throw InputError(name + ":1:1",
                     "has a number that no double holds, expected smaller ones; correct it");
  }
  const auto member = [&](const char* key, bool array) -> const Json& {
    const auto at = workload.is_object() ? workload.find(key) : workload.end();
    if (at == workload.end() || (array ? !at->is_array() : !at->is_object())) {
      throw InputError(name + ":1:1",
                       "found no " + std::string(array ? "array" : "object") + " '" + key +
                           "', expected a workload of Batsim with jobs and profiles; add it");
    }
    return *at;
  };
  const Json& profiles = member("profiles", false);
  TraceBuilder builder(source, rules);
  std::size_t row = 0;
  for (const Json& job : member("jobs", true)) {
    ++row;
    const std::string where = name + ": job " + std::to_string(row);
    if (!job.is_object())
      throw InputError(where, "is no object, expected {\"id\": ...}; correct it");
    TraceJob found;
    const auto id = job.find("id");
    if (id != job.end() && id->is_string()) found.name = id->get<std::string>();
    if (id != job.end() && id->is_number_integer())
      found.name = std::to_string(id->get<std::int64_t>());
    if (find_bad_text(found.name, false) < found.name.size()) {
      throw InputError(
          where, "'id' is '" + printable(found.name) + "', expected text on one line; correct it");
    }
    found.name = name_or_row(found.name, row);
    found.spec.gpus = static_cast<int>(number(job, "res", kGpusRule.max, where).value_or(0));
    const auto submit = number(job, "subtime", kMaxTimeSeconds, where);
    const auto profile = job.find("profile");
    if (profile == job.end() || !profile->is_string() ||
        !profiles.contains(profile->get<std::string>())) {
      throw InputError(where, "names no profile of the file, expected one of \"profiles\"; add it");
    }
    const Json& what = profiles.at(profile->get<std::string>());
    if (!what.is_object() || what.value("type", Json()) != "delay") {
      builder.skip("whose profile is no delay", row);
      continue;
    }
    found.spec.work = from_seconds(number(what, "delay", kRunTimeRule.max, where).value_or(0));
    if (!submit && found.spec.gpus > 0 && found.spec.work > Duration::zero()) {
      builder.skip_without_submit(row);
      continue;
    }
    found.spec.submit = from_seconds(submit.value_or(0));
    builder.add_or_skip(std::move(found), row);
  }
  builder.assume("a resource of Batsim counts as a GPU; times are seconds");
  return builder.take(name + ":1:1");
}

}  // namespace

Trace read_batsim(const std::string& path, const LogRules& rules) {
  const auto in = open_input(path, "a JSON file");
  return read_batsim(*in, shown_path(path), std::filesystem::path(path).filename().string(), rules);
}

Trace read_batsim(std::istream& in, const std::string& name, const LogRules& rules) {
  return read_batsim(in, name, name, rules);
}

bool looks_like_batsim(const TraceHead& head) {
  const std::string_view line = first_line(head.text);
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || line[first] != '{') return false;
  const bool jobs = head.text.find("\"jobs\"") != std::string::npos;
  return jobs && (head.text.find("\"nb_res\"") != std::string::npos ||
                  head.text.find("\"subtime\"") != std::string::npos);
}

}  // namespace corun::inline traces
