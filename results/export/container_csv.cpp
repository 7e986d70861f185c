#include "results/export/container_csv.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline results {

namespace {

/// The words of a command line; nothing if a quote is open or a backslash ends the text.
std::optional<std::vector<std::string>> words(std::string_view text) {
  std::vector<std::string> out;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && c == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) out.emplace_back();
    in_word = true;
    if (c == '\\' && quote != '\'') {
      if (++i == text.size()) return std::nullopt;
      // Between double quotes a backslash is literal unless a quote or backslash follows.
      if (quote == '"' && text[i] != '"' && text[i] != '\\') out.back() += c;
      out.back() += text[i];
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else {
      out.back() += c;
    }
  }
  if (quote != 0) return std::nullopt;
  return out;
}

std::vector<CsvColumn> columns() {
  return {{"job", true}, {"image", true}, {"command", false}, {"args", false}};
}

ContainerTable read(CsvReader& csv) {
  const auto job = csv.column("job");
  const auto image = csv.column("image");
  const auto command = csv.column("command");
  const auto args = csv.column("args");
  const auto word_list = [&](CsvReader::Column column) {
    auto list = words(csv.text(column));
    if (!list) {
      csv.refuse(column, "words in which every quote is closed",
                 "close it, or put a backslash before it");
    }
    return *list;
  };
  ContainerTable table;
  table.name = csv.name();
  while (csv.next()) {
    ContainerSpec spec;
    spec.image = csv.required_text(image, "the image of a container");
    if (spec.image.find(' ') != std::string::npos) {
      csv.refuse(image, "the image of a container, without blanks");
    }
    spec.command = word_list(command);
    spec.args = word_list(args);
    const std::string name(csv.required_text(job, "the name of a job"));
    if (!table.jobs.emplace(name, std::move(spec)).second) {
      csv.fail(job, "job '" + printable(name) + "' is listed twice; leave one of the rows");
    }
  }
  return table;
}

}  // namespace

const ContainerSpec& container_of(const ContainerTable& containers, const std::string& job) {
  const auto spec = containers.jobs.find(job);
  if (spec == containers.jobs.end()) {
    throw InputError(containers.name, "no row for job '" + printable(job) +
                                          "', expected one for every job of the plan; add it");
  }
  return spec->second;
}

ContainerTable read_container_csv(const std::string& path) {
  CsvReader csv(path, columns());
  return read(csv);
}

ContainerTable read_container_csv(std::istream& in, const std::string& name) {
  CsvReader csv(in, name, columns());
  return read(csv);
}

}  // namespace corun::inline results
