#include "experiments/knowledge_csv.hpp"

#include "traces/csv_reader.hpp"

namespace corun {

namespace {

std::vector<CsvColumn> columns() {
  return {{"metric", true}, {"cluster", true}, {"partner", true},
          {"count", true},  {"mean", true},    {"variance", true}};
}

KnowledgeBase read(CsvReader& csv, int clusters) {
  const auto metric = csv.column("metric");
  const auto cluster = csv.column("cluster");
  const auto partner = csv.column("partner");
  const auto count = csv.column("count");
  const auto mean = csv.column("mean");
  const auto variance = csv.column("variance");
  const IntegerRule cluster_rule{"the number of a cluster", 0, clusters - 1};
  KnowledgeBase kb(clusters);
  while (csv.next()) {
    const auto whole = [&](CsvReader::Column column, const IntegerRule& rule) {
      const auto value = csv.integer(column, rule);
      if (!value) csv.refuse(column, std::string(rule.what));
      return *value;
    };
    const int a = static_cast<int>(whole(cluster, cluster_rule));
    const int b = static_cast<int>(whole(partner, cluster_rule));
    const std::string_view name = csv.text(metric);
    if (name != "isd" && name != "ps") csv.refuse(metric, "isd or ps");
    if (name == "ps" && a > b) csv.refuse(partner, "a cluster not below `cluster`");
    Statistic& s = name == "isd" ? kb.isd(a, b) : kb.ps(a, b);
    if (s.count != 0) csv.fail(cluster, "this pair of clusters is listed twice");
    s.count = whole(count, {"a number of observations, 1 or more", 1, 1'000'000'000'000});
    s.mean = csv.required_number(mean, {"a fraction (0.1 for 10 %)", -1, 10});
    s.m2 = csv.required_number(variance, {"a variance, 0 or more", 0, 1e12}) *
           static_cast<double>(s.count - 1);
  }
  return kb;
}

}  // namespace

KnowledgeBase read_knowledge_csv(const std::string& path, int clusters) {
  CsvReader csv(path, columns());
  return read(csv, clusters);
}

KnowledgeBase read_knowledge_csv(std::istream& in, const std::string& name, int clusters) {
  CsvReader csv(in, name, columns());
  return read(csv, clusters);
}

}  // namespace corun
