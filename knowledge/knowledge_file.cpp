#include "knowledge/knowledge_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/checksum.hpp"
#include "support/file_lock.hpp"
#include "support/yaml_tree.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline knowledge {

namespace {

constexpr std::string_view kKnowledgeKind = "corun knowledge base";
/// The SHA-256 of all lines before follows. Files written by hand have none.
constexpr std::string_view kLastLine = "complete: true  # sha256 ";
constexpr std::size_t kMostClusters = kMostKnowledgeClusters;
constexpr std::size_t kBytesMax = std::size_t{64} << 20U;

// ---- reading ------------------------------------------------------------------------------------

[[noreturn]] void refuse(const YamlNode& node, const std::string& what,
                         const std::string& expected) {
  throw InputError(node.place(), what + " is " + node.description() + ", expected " + expected);
}

/// A map. Refuses unknown keys on construction.
class Section {
 public:
  Section(const YamlNode& node, std::string name, std::vector<std::string_view> keys)
      : node_(node), name_(std::move(name)) {
    if (node.kind != YamlNode::Kind::kMap) refuse(node, name_, "a map");
    for (const YamlNode& child : node.children) {
      if (std::find(keys.begin(), keys.end(), child.key) == keys.end()) {
        throw InputError(child.key_place(), "unknown key '" + printable(child.key) + "' in " +
                                                name_ + ": " + did_you_mean(child.key, keys));
      }
    }
  }

  const YamlNode* find(std::string_view key) const { return node_.find(key); }
  const YamlNode& need(std::string_view key) const {
    const YamlNode* child = node_.find(key);
    if (child == nullptr) {
      throw InputError(node_.place(), name_ + " has no '" + std::string(key) + "'");
    }
    return *child;
  }
  double number(std::string_view key, double lo, double hi, const char* expected) const {
    return value_of(need(key), std::string(key), lo, hi, expected);
  }
  double number_or(std::string_view key, double other, double lo, double hi,
                   const char* expected) const {
    const YamlNode* child = node_.find(key);
    return child == nullptr ? other : value_of(*child, std::string(key), lo, hi, expected);
  }
  std::int64_t whole(std::string_view key, std::int64_t lo, std::int64_t hi,
                     const std::string& expected) const {
    const YamlNode& child = need(key);
    const auto value = child.kind == YamlNode::Kind::kScalar && !child.quoted
                           ? parse_integer(child.text)
                           : std::nullopt;
    if (!value || *value < lo || *value > hi) refuse(child, "'" + std::string(key) + "'", expected);
    return *value;
  }
  std::string text(std::string_view key) const {
    const YamlNode& child = need(key);
    if (child.kind != YamlNode::Kind::kScalar) refuse(child, "'" + std::string(key) + "'", "text");
    return child.text;
  }

  static double value_of(const YamlNode& node, const std::string& what, double lo, double hi,
                         const char* expected) {
    const auto value = node.kind == YamlNode::Kind::kScalar && !node.quoted
                           ? parse_number(node.text)
                           : std::nullopt;
    if (!value || !(*value >= lo && *value <= hi)) refuse(node, "'" + what + "'", expected);
    return *value;
  }

 private:
  const YamlNode& node_;
  std::string name_;
};

const std::vector<YamlNode>& list_of(const YamlNode& node, const std::string& what) {
  if (node.kind != YamlNode::Kind::kSequence && node.kind != YamlNode::Kind::kNull) {
    refuse(node, "'" + what + "'", "a list");
  }
  return node.children;
}

FeatureVector features_of(const YamlNode& node, const std::string& what, double lo) {
  const auto& items = list_of(node, what);
  if (items.size() != kFeatures) {
    throw InputError(node.place(),
                     fmt::format("'{}' has {} numbers, expected {}: {}", what, items.size(),
                                 kFeatures, fmt::join(kFeatureNames, ", ")));
  }
  FeatureVector out{};
  for (std::size_t f = 0; f < kFeatures; ++f) {
    out[f] =
        Section::value_of(items[f], what, lo, 1e6, lo > 0 ? "a number above 0" : "a finite number");
  }
  return out;
}

std::vector<FeatureVector> centres_of(const YamlNode& node, const std::string& what) {
  std::vector<FeatureVector> out;
  for (const YamlNode& row : list_of(node, what)) out.push_back(features_of(row, what, -1e6));
  return out;
}

constexpr double kFractionMax = 1e6;
constexpr const char* kFraction = "a fraction (0.1 for 10 %)";
constexpr const char* kWeight = "a weight, 0 or more";

/// Reads one line of `isd` or `ps`.
Statistic statistic_of(const Section& row, const YamlNode& node) {
  Statistic::State s;
  s.count = row.whole("count", 1, 1'000'000'000'000, "a number of observations, 1 or more");
  // Without m2 the line was written by hand: a mean above 10 (1000 %) is then probably a
  // percentage.
  s.mean = row.number("mean", -kFractionMax, row.find("m2") ? kFractionMax : 10, kFraction);
  const double variance = row.number("variance", 0, 1e12, "a variance, 0 or more");
  const auto n = static_cast<double>(s.count);
  s.weight = row.number_or("weight", n, 1e-300, n, "a weight above 0, the count at most");
  s.weight2 = row.number_or("weight2", s.weight, 1e-300, s.weight, "a weight above 0");
  const double free = std::max(0.0, s.weight - s.weight2 / s.weight);
  s.m2 = row.number_or("m2", variance * free, 0, 1e30, "a sum of squares, 0 or more");
  if (std::abs(s.m2 - variance * free) > 1e-9 * (s.m2 + variance * free) + 1e-15) {
    throw InputError(row.need("m2").place(),
                     fmt::format("'m2' is {} where count and variance give {}: the two contradict "
                                 "each other; leave m2 out to keep the variance",
                                 csv_number(s.m2), csv_number(variance * free)));
  }
  // Rounding may put a mean slightly outside the range of its values.
  const double slack = 1e-9 * (1 + std::abs(s.mean));
  s.min = row.number_or("min", s.mean, -kFractionMax, s.mean + slack, "a fraction, not above mean");
  s.max = row.number_or("max", s.mean, s.mean - slack, kFractionMax, "a fraction, not below mean");
  const YamlNode* values = row.find("values");
  const YamlNode* weights = row.find("weights");
  const YamlNode* bins = row.find("bins");
  if (values != nullptr) {
    for (const YamlNode& v : list_of(*values, "values")) {
      s.values.emplace_back(Section::value_of(v, "values", -kFractionMax, kFractionMax, kFraction),
                            1.0);
    }
    if (s.values.size() > Statistic::kExact) {
      throw InputError(values->place(), fmt::format("'values' has {} entries, expected {} at most",
                                                    s.values.size(), Statistic::kExact));
    }
  }
  if (weights != nullptr) {
    const auto& list = list_of(*weights, "weights");
    if (list.size() != s.values.size()) {
      throw InputError(weights->place(), "'weights' and 'values' are of different length");
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      s.values[i].second = Section::value_of(list[i], "weights", 0, 1e12, kWeight);
    }
  }
  double listed = 0;
  if (bins != nullptr) {
    if (bins->kind != YamlNode::Kind::kMap) refuse(*bins, "'bins'", "a map of bin: weight");
    constexpr double kBins = (Statistic::kHighest - Statistic::kLowest) / Statistic::kBinWidth;
    for (const YamlNode& bin : bins->children) {
      const auto number = parse_integer(bin.key);
      if (!number || *number < 0 || static_cast<double>(*number) > kBins - 0.5) {
        throw InputError(bin.key_place(), fmt::format("'{}' is no bin, expected 0 to {}",
                                                      printable(bin.key), kBins - 1));
      }
      const double weight = Section::value_of(bin, "bins", 1e-300, 1e12, "a weight above 0");
      s.bins.emplace(static_cast<int>(*number), weight);
      listed += weight;
    }
    if (!s.values.empty()) {
      throw InputError(bins->place(), "'bins' beside 'values', expected one of them");
    }
  }
  double sum = 0;
  for (const auto& [value, weight] : s.values) {
    listed += weight;
    sum += weight * value;
    if (value < s.min || value > s.max) {
      throw InputError(values->place(),
                       fmt::format("value {} lies outside of min {} and max {}", csv_number(value),
                                   csv_number(s.min), csv_number(s.max)));
    }
  }
  s.unlisted = static_cast<std::int64_t>(row.find("unlisted") == nullptr
                                             ? (listed == 0 ? s.count : 0)
                                             : row.whole("unlisted", 0, s.count, "0 to the count"));
  if (s.unlisted == 0 && std::abs(listed - s.weight) > 1e-6 * s.weight) {
    throw InputError(node.place(),
                     fmt::format("{} observations are listed where the count says {}; was a line "
                                 "changed by hand?",
                                 csv_number(listed), csv_number(s.weight)));
  }
  constexpr double kSameMean = 1e-6;
  if (s.unlisted == 0 && !s.values.empty() &&
      std::abs(sum / listed - s.mean) > kSameMean * (1 + std::abs(s.mean))) {
    throw InputError(values->place(), fmt::format("the mean of 'values' is {}, 'mean' says {}",
                                                  csv_number(sum / listed), csv_number(s.mean)));
  }
  return Statistic::from(s);
}

void read_statistics(const YamlNode& list, bool isd, KnowledgeBase& kb) {
  const std::string what = isd ? "isd" : "ps";
  const std::string range = fmt::format("the number of a cluster, 0 to {}", kb.clusters() - 1);
  for (const YamlNode& node : list_of(list, what)) {
    const Section row(node, what,
                      {"cluster", "partner", "count", "mean", "variance", "m2", "min", "max",
                       "weight", "weight2", "values", "weights", "bins", "unlisted"});
    const int a = static_cast<int>(row.whole("cluster", 0, kb.clusters() - 1, range));
    const int b = static_cast<int>(row.whole("partner", 0, kb.clusters() - 1, range));
    if (!isd && a > b) {
      throw InputError(node.place(), fmt::format("ps of {}-{}: expected the lower cluster first, "
                                                 "PS belongs to the two together",
                                                 a, b));
    }
    Statistic& s = isd ? kb.isd(a, b) : kb.ps(a, b);
    if (s.count() != 0) {
      throw InputError(node.place(), fmt::format("{} of {}-{} is listed twice", what, a, b));
    }
    s = statistic_of(row, node);
    if (!isd && s.max() > 1 + 1e-9) {
      throw InputError(node.place(), fmt::format("ps of {}-{} reaches {}: expected fractions of at "
                                                 "most 1",
                                                 a, b, csv_number(s.max())));
    }
  }
}

/// Checks that each co-run has observations of both its jobs.
void check_counts(const KnowledgeBase& kb, const YamlNode& root) {
  for (int a = 0; a < kb.clusters(); ++a) {
    for (int b = a; b < kb.clusters(); ++b) {
      const auto pairs = kb.ps(a, b).count();
      const std::int64_t each = (a == b ? 2 : 1) * pairs;
      if (kb.isd(a, b).count() != each || kb.isd(b, a).count() != each) {
        throw InputError(
            root.place(),
            fmt::format("clusters {}-{}: {} pairs in ps, but {} and {} observations in isd, "
                        "expected {} each; is a line missing?",
                        a, b, pairs, kb.isd(a, b).count(), kb.isd(b, a).count(), each));
      }
    }
  }
}

// ---- writing ------------------------------------------------------------------------------------

std::string numbers(const FeatureVector& row) {
  return fmt::format("[{}, {}, {}]", csv_number(row[0]), csv_number(row[1]), csv_number(row[2]));
}

std::string yaml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text, 400)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string line_of(int a, int b, const Statistic& statistic) {
  const Statistic::State s = statistic.state();
  std::string out =
      fmt::format("  - {{cluster: {}, partner: {}, count: {}, mean: {}, variance: {}", a, b,
                  s.count, csv_number(s.mean), csv_number(statistic.variance()));
  out += ", m2: " + csv_number(s.m2);
  if (statistic.has_quantiles() || s.min != s.mean || s.max != s.mean) {
    out += ", min: " + csv_number(s.min) + ", max: " + csv_number(s.max);
  }
  const auto n = static_cast<double>(s.count);
  const bool fades = s.weight != n || s.weight2 != n;
  if (fades) {
    out += ", weight: " + csv_number(s.weight) + ", weight2: " + csv_number(s.weight2);
  }
  if (s.unlisted != 0 && s.unlisted != s.count) out += fmt::format(", unlisted: {}", s.unlisted);
  if (!s.values.empty()) {
    std::vector<std::string> values;
    std::vector<std::string> weights;
    for (const auto& [value, weight] : s.values) {
      values.push_back(csv_number(value));
      weights.push_back(csv_number(weight));
    }
    out += fmt::format(", values: [{}]", fmt::join(values, ", "));
    if (fades) out += fmt::format(", weights: [{}]", fmt::join(weights, ", "));
  }
  if (!s.bins.empty()) {
    std::vector<std::string> bins;
    for (const auto& [bin, weight] : s.bins) {
      bins.push_back(fmt::format("{}: {}", bin, csv_number(weight)));
    }
    out += fmt::format(", bins: {{{}}}", fmt::join(bins, ", "));
  }
  return out + "}\n";
}

/// The file, locked against other processes until destruction. A lock belongs to an open file, and
/// an update replaces the file. After waiting, the constructor thus checks that it holds the file
/// of that name, and else tries again.
class FileLock {
 public:
  explicit FileLock(const std::string& path) {
    for (;;) {
      fd_ =
          ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // opening a pipe must not block
      if (fd_ < 0) {
        throw InputError(path, fmt::format("cannot be opened ({}), expected a knowledge base; "
                                           "`corun kb build` writes one",
                                           std::strerror(errno)));
      }
      struct stat kind {};
      if (::fstat(fd_, &kind) != 0 || !S_ISREG(kind.st_mode)) {
        ::close(fd_);
        throw InputError(path, "is not a regular file, expected a knowledge base");
      }
      if (wait_for_lock(fd_) != LockOutcome::kHeld) {
        throw InputError(path, std::string("cannot be locked: ") + std::strerror(errno));
      }
      if (is_named(fd_, path)) return;
      ::close(fd_);
    }
  }
  ~FileLock() { ::close(fd_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_ = -1;
};

KnowledgeFile knowledge_of(const YamlNode& root, const std::string& name) {
  const YamlNode* kind = root.find("kind");
  if (kind == nullptr || kind->text != kKnowledgeKind) {
    throw InputError(kind == nullptr ? name : kind->place(),
                     kind == nullptr
                         ? "no knowledge base, expected 'kind: " + std::string(kKnowledgeKind) +
                               "' first; `corun kb build` writes one"
                         : "'kind' is " + kind->description() + ", expected '" +
                               std::string(kKnowledgeKind) + "'");
  }
  const YamlNode* version = root.find("version");
  const auto number = version != nullptr ? parse_integer(version->text) : std::nullopt;
  if (!number || *number != kKnowledgeVersion) {
    throw InputError(
        version == nullptr ? name : version->place(),
        fmt::format("'version' is {}, this corun reads version {}{}",
                    version == nullptr ? "missing" : version->description(), kKnowledgeVersion,
                    number && *number > kKnowledgeVersion
                        ? "; the file is of a newer corun: use that one"
                        : ""));
  }
  const YamlNode* complete = root.find("complete");
  if (complete == nullptr || complete->text != "true") {
    throw InputError(name,
                     "the file ends early: its last line should be 'complete: true'; it was "
                     "cut short, take another copy");
  }
  const Section top(root, "the knowledge base",
                    {"kind", "version", "about", "features", "centres", "distance_centres", "scale",
                     "uncertainty", "decay", "sources", "isd", "ps", "complete"});
  const YamlNode& features = top.need("features");
  const auto& names = list_of(features, "features");
  if (names.size() != kFeatures ||
      !std::equal(names.begin(), names.end(), kFeatureNames.begin(),
                  [](const YamlNode& a, std::string_view b) { return a.text == b; })) {
    throw InputError(features.place(), fmt::format("'features' differ, expected [{}]",
                                                   fmt::join(kFeatureNames, ", ")));
  }
  Clusters clusters;
  const YamlNode& centres = top.need("centres");
  clusters.centres = centres_of(centres, "centres");
  if (clusters.centres.empty() || clusters.centres.size() > kMostClusters) {
    throw InputError(centres.place(), fmt::format("{} clusters, expected 1 to {}",
                                                  clusters.centres.size(), kMostClusters));
  }
  if (const YamlNode* others = top.find("distance_centres")) {
    clusters.distance_centres = centres_of(*others, "distance_centres");
    if (!clusters.distance_centres.empty() &&
        clusters.distance_centres.size() != clusters.centres.size()) {
      throw InputError(others->place(), "as many rows as 'centres' are expected, or none");
    }
  }
  if (const YamlNode* scale = top.find("scale")) {
    clusters.scale = features_of(*scale, "scale", 1e-9);
  }
  if (top.find("uncertainty") != nullptr) {
    const std::string rule = top.text("uncertainty");
    if (rule != "all-centres" && rule != "own-centre") {
      refuse(top.need("uncertainty"), "'uncertainty'", "all-centres or own-centre");
    }
    clusters.rule = rule == "own-centre" ? Uncertainty::kOwnCentre : Uncertainty::kAllCentres;
  }
  const double decay = top.number_or("decay", 0, 0, 0.999, "0 to 0.999");
  KnowledgeFile file{KnowledgeBase(std::move(clusters), decay), "", {}};
  if (top.find("about") != nullptr) file.about = top.text("about");
  if (const YamlNode* sources = top.find("sources")) {
    for (const YamlNode& node : list_of(*sources, "sources")) {
      const Section source(node, "a source",
                           {"name", "sha256", "rows_sha256", "pairs", "measured_on"});
      file.sources.push_back(
          {source.text("name"), source.find("sha256") ? source.text("sha256") : "",
           source.whole("pairs", 0, 1'000'000'000'000, "a number of pairs, 0 or more"),
           source.find("measured_on") ? source.text("measured_on") : "",
           source.find("rows_sha256") ? source.text("rows_sha256") : ""});
    }
  }
  if (const YamlNode* list = top.find("isd")) read_statistics(*list, true, file.kb);
  if (const YamlNode* list = top.find("ps")) read_statistics(*list, false, file.kb);
  check_counts(file.kb, root);
  return file;
}

}  // namespace

namespace {

/// The text of the file. Throws before a good file is replaced by an unreadable one.
std::string checked_text(const KnowledgeFile& file, const std::string& place) {
  std::string text = knowledge_text(file);
  parse_knowledge(text, place);
  return text;
}

/// A damaged bit in a number would make another knowledge base, without a word. Line ends may change.
void check_sum(std::string_view text, const std::string& name) {
  const std::size_t last = text.rfind(kLastLine);
  if (last == std::string_view::npos) return;
  std::string lines(text.substr(0, last));
  std::erase(lines, '\r');
  if (text.substr(last + kLastLine.size()).starts_with(sha256_of_text(lines))) return;
  const auto line = 1 + std::ranges::count(lines, '\n');
  throw InputError(
      fmt::format("{}:{}:1", name, line),
      "the lines before have another SHA-256 than this one says: the file is damaged or was "
      "edited; take another copy, or keep your edit by a last line 'complete: true'");
}

}  // namespace

KnowledgeFile parse_knowledge(std::string_view text, const std::string& name) {
  check_sum(text, name);
  return knowledge_of(parse_yaml(text, name, true, kBytesMax), name);
}

KnowledgeFile read_knowledge_file(const std::string& path) {
  return parse_knowledge(read_yaml_text(path, kBytesMax), path);
}

std::string knowledge_text(const KnowledgeFile& file) {
  const Clusters& c = file.kb.clustering();
  std::string out =
      fmt::format("kind: {}\nversion: {}\nabout: {}\nfeatures: [{}]\n", kKnowledgeKind,
                  kKnowledgeVersion, yaml_quoted(file.about), fmt::join(kFeatureNames, ", "));
  const auto rows = [&](const char* key, const std::vector<FeatureVector>& centres) {
    out += std::string(key) + ":" + (centres.empty() ? " []" : "") + "\n";
    for (const FeatureVector& centre : centres) out += "  - " + numbers(centre) + "\n";
  };
  rows("centres", c.centres);
  rows("distance_centres", c.distance_centres);
  out += fmt::format("scale: {}\nuncertainty: {}\ndecay: {}\n", numbers(c.scale), name_of(c.rule),
                     csv_number(file.kb.decay()));
  out += std::string("sources:") + (file.sources.empty() ? " []" : "") + "\n";
  for (const KnowledgeSource& source : file.sources) {
    const std::string hash = source.rows_sha256.empty()
                                 ? std::string()
                                 : ", rows_sha256: " + yaml_quoted(source.rows_sha256);
    out += fmt::format("  - {{name: {}, sha256: {}{}, pairs: {}, measured_on: {}}}\n",
                       yaml_quoted(source.name), yaml_quoted(source.sha256), hash, source.pairs,
                       yaml_quoted(source.measured_on));
  }
  const auto statistics = [&](const char* key, bool ordered, const auto& get) {
    std::string lines;
    for (int a = 0; a < file.kb.clusters(); ++a) {
      for (int b = ordered ? 0 : a; b < file.kb.clusters(); ++b) {
        if (get(a, b).count() > 0) lines += line_of(a, b, get(a, b));
      }
    }
    out += std::string(key) + ":" + (lines.empty() ? " []" : "") + "\n" + lines;
  };
  statistics("isd", true, [&](int a, int b) -> const Statistic& { return file.kb.isd(a, b); });
  statistics("ps", false, [&](int a, int b) -> const Statistic& { return file.kb.ps(a, b); });
  return fmt::format("{}{}{}\n", out, kLastLine, sha256_of_text(out));
}

void write_knowledge_file(const std::string& path, const KnowledgeFile& file,
                          const std::string& place, Existing existing) {
  write_outputs({{place, path, checked_text(file, place)}}, existing);
}

void update_knowledge_file(const std::string& path,
                           const std::function<void(KnowledgeFile&)>& change,
                           const std::string& place) {
  const FileLock lock(path);
  KnowledgeFile file = read_knowledge_file(path);
  change(file);
  write_file_atomically(checked_output_path(path, place), checked_text(file, place));
}

}  // namespace corun::inline knowledge
