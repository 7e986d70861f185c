#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "predictors/predictor.hpp"
#include "traces/csv_reader.hpp"
#include "traces/gpu_catalog.hpp"

/// Tables of measured jobs, from which predictors are fitted and which they predict. The form is recognised by
/// the columns of the header. To add one, write <form>_table.cpp with a JobTableForm and name it in
/// job_table.cpp.
namespace corun::inline predictors {

/// How rows are grouped, for splits of which whole groups are unknown.
enum class JobGroup : std::uint8_t { kModel, kFamily, kGpu, kHost };
inline constexpr int kJobGroups = 4;
std::string_view name_of(JobGroup group);  ///< "model", "family", "gpu", "host"

/// What a form reads of a row.
struct JobTableRow {
  PredictorJob job;  ///< its groups are set from `names`
  std::array<std::string, kJobGroups> names;
  double value = kNaN;
  double at_least = kNaN;
  /// The value may be learnt from and scored: it was measured as the table's others.
  bool counts = false;
  /// Why the job is unlike those learnt from, so that it is not predicted, as "without cuDNN"; empty: it is like them.
  std::string unlike;
};

class JobTableForm {
 public:
  virtual ~JobTableForm() = default;
  virtual std::string_view name() const = 0;
  /// What the first column group of `names` is called in this table.
  virtual std::string_view family_is() const { return "family"; }
  /// The columns that tell the form; all must be in the header.
  virtual std::span<const std::string_view> recognised_by() const = 0;
  virtual bool serves(Target target) const = 0;
  /// What the table calls a figure of `corun list figures`.
  virtual std::string_view column_of(std::string_view figure) const { return figure; }
  /// Reads rows of one file; called once per file. Columns are added to `csv` (CsvReader::add_column).
  class Reader {
   public:
    virtual ~Reader() = default;
    virtual JobTableRow row() = 0;  ///< of the current record
  };
  virtual std::unique_ptr<Reader> open(CsvReader& csv, Target target,
                                       const GpuTypes& types) const = 0;
};

/// The forms: one function per file.
const JobTableForm& timm_memory_table();
const JobTableForm& gpumemnet_table();
const JobTableForm& iteration_times_table();
const JobTableForm& cnn_times_table();
const JobTableForm& own_job_table();

struct JobTable {
  std::string source;
  const JobTableForm* form = nullptr;
  Target target = Target::kMemory;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> fields;  ///< by row, if asked for
  std::vector<JobTableRow> rows;

  /// The rows to learn from: those with a value or a lower bound that count.
  std::vector<MeasuredJob> measured() const;
};

/// Whether the file's first line is that of a job table.
bool has_job_table_header(const std::string& path);

/// InputError FILE:LINE:COLUMN for a file of no known form, a form that does not serve the target, and rows
/// that cannot be.
JobTable read_job_table(const std::string& path, Target target, const GpuTypes& types,
                        bool keep_fields = false);

// Helpers of forms.

/// The column, if the header has it.
std::optional<CsvReader::Column> column_if_there(CsvReader& csv, std::string_view name);
/// The number in the column; NaN for an empty field or an absent column.
double number_or_nan(const CsvReader& csv, std::optional<CsvReader::Column> column,
                     const NumberRule& rule);

}  // namespace corun::inline predictors
