#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/knowledge/knowledge_base.hpp"
#include "support/output_file.hpp"

/// A knowledge base as a YAML file, version 1. `corun kb build` writes it; `belief: {initial:
/// FILE}`, `corun recommend --kb FILE` and the other words of `corun kb` read it:
///
///   kind: corun knowledge base
///   version: 1
///   about: what it was built from, one line
///   features: [gpu_util_pct, mem_alloc_pct, mem_time_pct]
///   centres:                       # one row per cluster, in the unit of the features
///     - [61.423, 43.245, 24.456]
///   distance_centres: []           # centres for distances, if other than those for labels
///   scale: [1, 1, 1]               # a feature counts as (value - centre) / scale
///   uncertainty: all-centres       # or own-centre
///   decay: 0
///   sources:                       # files of co-runs it has learnt from, each once
///     - {name: mine.corun.csv, sha256: 0f3c..., rows_sha256: 77ab..., pairs: 46, measured_on: V100...}
///   isd:                           # a job of `cluster` beside one of `partner`; fractions
///     - {cluster: 0, partner: 1, count: 12, mean: 0.052, variance: 0.0011, ...}
///   ps:                            # of the two together; cluster <= partner
///     - {cluster: 0, partner: 1, count: 12, mean: 0.338, variance: 0.0090, ...}
///   complete: true  # sha256 3c5e... of the lines before; a file cut short has no such line
///
/// After the variance follow, if known, `m2`, `min`, `max` and either `values` (up to 64
/// observations in order of arrival) or `bins` ({bin: weight}, see statistic.hpp), and with decay
/// `weight`, `weight2` and the `weights` of the values. A file written by hand may omit them and
/// then has no quartiles; its last line needs no SHA-256. An unlisted cluster pair was never observed.
///
/// Reading back gives the same knowledge base (bit for bit without decay), so learning in several
/// runs equals learning in one. The file is written whole or not at all.
namespace corun::inline knowledge {

struct KnowledgeSource {
  std::string name;
  std::string sha256;  ///< of the file's bytes; empty for tables that come with corun
  std::int64_t pairs = 0;
  std::string measured_on;       ///< GPU type and sharing mode; several joined by ", "
  std::string rows_sha256 = {};  ///< sha256_of_rows(); empty in files of older versions
  friend bool operator==(const KnowledgeSource&, const KnowledgeSource&) = default;
};

/// Whether both are the same co-runs, the same bytes, or the same table that comes with corun.
inline bool same_source(const KnowledgeSource& a, const KnowledgeSource& b) {
  if (!a.rows_sha256.empty() && a.rows_sha256 == b.rows_sha256) return true;
  return a.sha256.empty() && b.sha256.empty() ? a.name == b.name : a.sha256 == b.sha256;
}

struct KnowledgeFile {
  KnowledgeBase kb;
  std::string about;
  std::vector<KnowledgeSource> sources;
};

inline constexpr int kKnowledgeVersion = 1;
inline constexpr std::size_t kMostKnowledgeClusters = 64;

/// Throws InputError "FILE:LINE:COLUMN: ..." for a file of another form: another kind or version, a
/// truncated file, numbers that are out of range or contradict each other.
KnowledgeFile read_knowledge_file(const std::string& path);
/// The same from text, called `name` in messages.
KnowledgeFile parse_knowledge(std::string_view text, const std::string& name);

std::string knowledge_text(const KnowledgeFile& file);

/// Writes the file atomically; `place` is the flag that named the path, for errors. A file that exists
/// stays or not as output_file.hpp says. InputError as write_outputs(), and if the file could not be read back.
void write_knowledge_file(const std::string& path, const KnowledgeFile& file,
                          const std::string& place, Existing existing = Existing::kReplace);

/// Reads the file, applies `change` and writes it back under a lock: of two processes that update
/// one file, the second waits for the first and reads its result. Nothing is written if `change`
/// throws. InputError as read_knowledge_file(), and if the file cannot be locked or written.
void update_knowledge_file(const std::string& path,
                           const std::function<void(KnowledgeFile&)>& change,
                           const std::string& place);

}  // namespace corun::inline knowledge
