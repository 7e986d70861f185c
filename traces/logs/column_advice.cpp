#include "traces/logs/column_advice.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "sim/base/csv_text.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline traces {
namespace {

/// Names, in lower case, under which logs of others have our columns, most usual first: for advice only.
struct UsualNames {
  std::string_view ours;
  bool parts;                               ///< of names, else whole names
  std::array<std::string_view, 12> theirs;  ///< the last may be empty
};
constexpr std::array<UsualNames, 4> kUsualNames = {{
    {"job", false, {"job_id", "jobid", "job_name", "jobname", "id", "name", "uid", "uuid"}},
    {"submit_s",
     true,
     {"submit", "submission", "arrival", "arrive", "queued", "created", "timestamp", "start"}},
    {"solo_s",
     true,
     {"duration", "runtime", "run_time", "elapsed", "service", "exec", "length", "walltime"}},
    {"gpus",
     true,
     {"gpus", "num_gpu", "gpu_num", "ngpu", "gpu_count", "gpu_req", "plan_gpu", "gres", "alloctres",
      "tres_alloc", "reqtres", "tres_req"}},
}};

/// Endings of names, in lower case, of numbers in other units than ours.
struct UnitEnding {
  std::string_view ending;
  double factor;
};
constexpr auto kTimeUnits = std::to_array<UnitEnding>({{"hours", 3600},
                                                       {"hour", 3600},
                                                       {"_hrs", 3600},
                                                       {"_h", 3600},
                                                       {"days", 86400},
                                                       {"day", 86400},
                                                       {"minutes", 60},
                                                       {"_mins", 60},
                                                       {"_min", 60},
                                                       {"_ms", 1e-3},
                                                       {"millis", 1e-3},
                                                       {"milliseconds", 1e-3},
                                                       {"_us", 1e-6},
                                                       {"microseconds", 1e-6},
                                                       {"_ns", 1e-9},
                                                       {"nanoseconds", 1e-9}});
constexpr auto kMemoryUnits = std::to_array<UnitEnding>({{"gib", 1024},
                                                         {"gb", 1024},
                                                         {"_g", 1024},
                                                         {"tib", 1048576},
                                                         {"tb", 1048576},
                                                         {"kib", 1.0 / 1024},
                                                         {"kb", 1.0 / 1024},
                                                         {"bytes", 1.0 / 1048576}});

/// By which a column of this name must be multiplied to be in the unit of `ours`, as far as the name says it.
double unit_factor(std::string_view theirs, std::string_view ours) {
  std::string name = lower_case(theirs.substr(0, theirs.find('@')));
  while (name.ends_with(')') || name.ends_with(']') || name.ends_with(' ')) name.pop_back();
  for (char& c : name) {
    if (c == '(' || c == '[' || c == ' ') c = '_';  // "runtime (h)"
  }
  const std::string_view stem = ours.substr(0, ours.find('@'));
  const auto of = [&](const auto& units) {
    const auto unit =
        std::ranges::find_if(units, [&](const UnitEnding& u) { return name.ends_with(u.ending); });
    return unit == units.end() ? 1.0 : unit->factor;
  };
  if (stem.ends_with("_s")) return of(kTimeUnits);
  if (stem.ends_with("_mib")) return of(kMemoryUnits);
  return 1;
}

/// Names, in lower case, of columns that count the instances of a job.
constexpr std::array<std::string_view, 9> kInstances = {"worker_num", "num_workers",  "inst_num",
                                                        "num_inst",   "instance_num", "instances",
                                                        "replicas",   "num_replicas", "workers"};

/// The first name of `names` that has one of the parts in it, in lower case; empty if there is none.
std::string with_part(const std::vector<std::string>& names,
                      std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    for (const std::string& name : names) {
      if (lower_case(name).find(part) != std::string::npos) return name;
    }
  }
  return {};
}

/// The column of `names` that counts instances; empty if there is none.
std::string instances_column(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::ranges::find(kInstances, lower_case(name)) != kInstances.end()) return name;
  }
  return {};
}

/// As --columns takes it.
std::string in_quotes(const std::string& name) {
  return name.find_first_of(",=\"") == std::string::npos ? name : "\"" + name + "\"";
}

/// "solo_s@T4" if this is probably what `theirs` means, such as "solo@T4"; else nothing, also for a type
/// whose name --columns cannot give.
std::string near_on_type(std::string_view theirs) {
  const std::size_t at = theirs.find('@');
  if (at == std::string_view::npos || at + 1 == theirs.size()) return "";
  if (theirs.find_first_of(",*=") != std::string_view::npos) return "";
  constexpr std::array<std::string_view, 2> stems = {"solo_s", "mem_used_mib"};
  const std::string_view near = nearest(theirs.substr(0, at), stems);
  return near.empty() ? "" : std::string(near).append(theirs.substr(at));
}

/// Columns of the file that are probably ours under other names: usual names first, then near ones. None of
/// `absent` comes twice.
std::vector<RenamedColumn> guessed(const std::vector<std::string>& header,
                                   const std::vector<std::string>& unknown,
                                   std::vector<std::string_view> absent) {
  std::vector<RenamedColumn> found;
  const auto take = [&](const std::string& theirs, std::string_view ours) {
    found.push_back({theirs, std::string(ours), unit_factor(theirs, ours)});
    std::erase(absent, ours);
  };
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::find(found, name, &RenamedColumn::theirs) != found.end();
  };
  for (const UsualNames& usual : kUsualNames) {
    for (const std::string_view theirs : usual.theirs) {
      if (theirs.empty()) break;
      if (std::ranges::find(absent, usual.ours) == absent.end()) break;
      const auto at = std::ranges::find_if(unknown, [&](const std::string& name) {
        const std::string candidate = lower_case(name);
        return usual.parts ? candidate.find(theirs) != std::string::npos : candidate == theirs;
      });
      if (at != unknown.end() && !is_taken(*at)) take(*at, usual.ours);
    }
  }
  const std::string instances = instances_column(header);
  for (RenamedColumn& column : found) {
    if (column.ours == "gpus" && !instances.empty() && column.theirs != instances) {
      column.theirs = in_quotes(column.theirs) + "*" + in_quotes(instances);
    }
  }
  if (std::ranges::find(absent, "solo_s") != absent.end()) {
    const std::string end = with_part(unknown, {"end", "finish", "completion", "deletion", "stop"});
    const std::string start = with_part(unknown, {"start", "begin", "scheduled"});
    if (!end.empty() && !start.empty() && end != start) {
      found.push_back(
          {in_quotes(end) + "-" + in_quotes(start), "solo_s", unit_factor(end, "solo_s")});
      std::erase(absent, "solo_s");
    }
  }
  const auto is_used = [&](const std::string& name) {
    return std::ranges::any_of(found, [&](const RenamedColumn& c) {
      return c.theirs == name || c.theirs.find(name) != std::string::npos;
    });
  };
  for (const std::string& name : unknown) {
    if (is_used(name)) continue;
    if (const std::string on_type = near_on_type(name); !on_type.empty()) {
      const bool has = std::ranges::find(header, on_type) != header.end() ||
                       std::ranges::find(found, on_type, &RenamedColumn::ours) != found.end();
      if (!has) take(name, on_type);
    } else if (const std::string_view ours = nearest(name, absent); !ours.empty())
      take(name, ours);
  }
  return found;
}

/// "arrival=submit_s,hours=solo_s*3600", as parse_renamed_columns() takes it.
std::string columns_text(const std::vector<RenamedColumn>& columns) {
  std::string text;
  for (const RenamedColumn& c : columns) {
    const bool expression = c.theirs.find_first_of("*-\"") != std::string::npos;
    text += (text.empty() ? "" : ",") + (expression ? c.theirs : in_quotes(c.theirs)) + "=" +
            c.ours + (c.factor == 1 ? "" : "*" + csv_number(c.factor));
  }
  return text;
}

/// "column 'a'" or "columns 'a', 'b'".
template <typename Names>
std::string column_list(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "'" : ", '") + printable(name) + "'";
  return (names.size() == 1 ? "column " : "columns ") + text;
}

}  // namespace

void check_job_header(const CsvReader& csv, std::span<const CsvColumn> columns,
                      std::vector<RenamedColumn> renamed) {
  constexpr std::size_t kLongest = 300;  // bytes of a list in the message
  std::vector<std::string_view> absent;
  std::vector<std::string_view> missing;
  for (const CsvColumn& column : columns) {
    if (csv.has(csv.column(column.name))) continue;
    if (column.name != "state") absent.push_back(column.name);  // found by itself
    if (column.required) missing.push_back(column.name);
  }
  const std::vector<RenamedColumn> guesses = guessed(csv.header(), csv.unknown(), absent);
  if (missing.empty() && guesses.empty()) return;
  renamed.insert(renamed.end(), guesses.begin(), guesses.end());
  for (const std::string_view name : missing) {  // no column of the file looks like it
    if (std::ranges::find(guesses, name, &RenamedColumn::ours) == guesses.end()) {
      renamed.push_back({"THEIRS", std::string(name)});
    }
  }
  std::string advice = "--columns " + printable(columns_text(renamed), kLongest);
  if (!guesses.empty()) advice += " (NAME= leaves a column out)";
  if (missing.empty()) {
    std::vector<std::string> names;
    for (const RenamedColumn& guess : guesses) names.push_back(guess.theirs);
    throw InputError(csv.name() + ":1:1", "unknown " + column_list(names) + ", which may be " +
                                              printable(columns_text(guesses), kLongest) +
                                              "; rename or decide: " + advice);
  }
  std::string header;
  for (const std::string& name : csv.header()) header += (header.empty() ? "" : ", ") + name;
  throw InputError(csv.name() + ":1:1", "the header has no " + column_list(missing) +
                                            ", expected at least submit_s, solo_s; it has " +
                                            printable(header, kLongest) + "; name yours: " +
                                            (guesses.empty() ? "" : "perhaps ") + advice);
}

std::string uncounted_instances(const CsvReader& csv, const std::vector<RenamedColumn>& renamed) {
  const std::string instances = instances_column(csv.unknown());
  const bool plain = std::ranges::any_of(renamed, [&](const RenamedColumn& c) {
    return c.ours == "gpus" && std::ranges::find(csv.header(), c.theirs) != csv.header().end();
  });
  return plain ? instances : "";
}

}  // namespace corun::inline traces
