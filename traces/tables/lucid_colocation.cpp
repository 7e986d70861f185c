#include "traces/tables/lucid_colocation.hpp"

#include <ostream>
#include <string_view>
#include <utility>

#include "sim/base/csv_text.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/column_rules.hpp"
#include "traces/csv_reader.hpp"
#include "traces/decimal_text.hpp"

namespace corun::inline traces {
namespace {

using Column = CsvReader::Column;

constexpr std::array<std::string_view, 4> kWorkloadParts{"model", "dataset", "batchsize", "amp"};
constexpr std::array<std::string_view, 5> kSoloValues{"speed", "gpu_util", "gmem_util", "gmem",
                                                      "label"};
constexpr std::array<std::string_view, 3> kTogether{"gpu_util", "gmem_util", "gmem"};
constexpr std::array<std::string_view, 2> kJobNumbers{"1", "2"};

constexpr NumberRule kSamplesPerSecond{"a number of samples per second", 0, 1e12};
/// Same range as in read_lucid_rates().
constexpr NumberRule kSpeedOverAlone{"a speed relative to the one alone", 0, 10, true};
constexpr NumberRule kPackingLabel{"a label", 0, 2};
constexpr int kPercentDigits = 4;

const std::vector<CsvColumn> kSingleJobColumns = {
    {"model", true},    {"dataset", true},   {"batchsize", true}, {"amp", true},  {"speed", true},
    {"gpu_util", true}, {"gmem_util", true}, {"gmem", true},      {"label", true}};
const std::vector<CsvColumn> kColocationColumns = {
    {"model1", true},   {"dataset1", true},  {"batchsize1", true}, {"amp1", true}, {"speed1", true},
    {"model2", true},   {"dataset2", true},  {"batchsize2", true}, {"amp2", true}, {"speed2", true},
    {"gpu_util", true}, {"gmem_util", true}, {"gmem", true}};

const NumberRule& rule_of(std::string_view value) {
  if (value == "speed") return kSamplesPerSecond;
  if (value == "gmem") return kMib;
  return value == "label" ? kPackingLabel : kShare;
}

/// The text of a field that has a number or is empty.
std::string number_text(const CsvReader& csv, Column column, const NumberRule& rule) {
  csv.number(column, rule);
  return std::string(csv.text(column));
}

/// The fields of a workload; `which` is the suffix of the columns.
std::array<std::string, 4> workload_of(const CsvReader& csv, std::string_view which) {
  std::array<std::string, 4> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Column column = csv.column(std::string(kWorkloadParts[i]).append(which));
    parts[i] = csv.required_text(column, "a part of the workload");
  }
  return parts;
}

std::string name_of(const std::array<std::string, 4>& workload) {
  std::string name;
  for (const std::string& part : workload) name.append(name.empty() ? "" : "|").append(part);
  return name;
}

std::string workload_fields(const std::string& name, const std::array<std::string, 4>& workload) {
  std::string fields = csv_text(name);
  for (const std::string& part : workload) fields += ',' + csv_text(part);
  return fields;
}

/// The five fields of a job alone, of one of a pair; empty without `solo`.
std::string alone_fields(const CsvReader& csv, std::string_view which, const std::string& name,
                         const LucidSolo* solo) {
  if (solo == nullptr) return ",,,,,";
  const auto at = solo->position.find(name);
  if (at == solo->position.end()) {
    csv.fail(
        csv.column(std::string("model").append(which)),
        "found job '" + printable(name) +
            "', expected one of the table of single jobs; add it there, or read no such table");
  }
  std::string fields;
  for (const std::string& value : solo->jobs[at->second].values) fields += ',' + value;
  return fields;
}

/// Fields of one job of a pair: workload, alone, speed, slowdown.
std::string side_fields(const CsvReader& csv, std::string_view which, const LucidSolo* solo) {
  const std::array<std::string, 4> workload = workload_of(csv, which);
  const std::string name = name_of(workload);
  const Column column = csv.column(std::string("speed").append(which));
  const double speed = csv.required_number(column, kSpeedOverAlone);
  return workload_fields(name, workload) + alone_fields(csv, which, name, solo) + ',' +
         std::string(csv.text(column)) + ',' + rounded_text((1 / speed - 1) * 100, kPercentDigits);
}

LucidSolo read_lucid_solo(CsvReader& csv) {
  LucidSolo solo;
  while (csv.next()) {
    LucidSolo::Job job;
    job.workload = workload_of(csv, "");
    job.name = name_of(job.workload);
    for (std::size_t i = 0; i < kSoloValues.size(); ++i) {
      job.values[i] = number_text(csv, csv.column(kSoloValues[i]), rule_of(kSoloValues[i]));
    }
    if (!solo.position.emplace(job.name, solo.jobs.size()).second) {
      csv.fail(csv.column("model"), "found job '" + printable(job.name) +
                                        "' a second time, expected each once; remove one of them");
    }
    solo.jobs.push_back(std::move(job));
  }
  if (solo.jobs.empty()) {
    throw InputError(csv.name() + ":1:1",
                     "no rows after the header, expected one per job; is it whole?");
  }
  return solo;
}

std::size_t write_lucid_pairs(std::ostream& out, CsvReader& csv, const LucidSolo* solo) {
  out << "pair_id,job_a,model_a,dataset_a,bs_a,amp_a,solo_speed_a,solo_gpu_util_a,solo_gmem_util_a,"
         "solo_gmem_mib_a,lucid_label_a,norm_a,slowdown_a_pct,job_b,model_b,dataset_b,bs_b,amp_b,"
         "solo_speed_b,solo_gpu_util_b,solo_gmem_util_b,solo_gmem_mib_b,lucid_label_b,norm_b,"
         "slowdown_b_pct,corun_gpu_util,corun_gmem_util,corun_gmem_mib\n";
  std::size_t rows = 0;
  while (csv.next()) {
    out << rows++;
    for (const std::string_view which : kJobNumbers) out << ',' << side_fields(csv, which, solo);
    for (const std::string_view value : kTogether) {
      out << ',' << number_text(csv, csv.column(value), rule_of(value));
    }
    out << '\n';
  }
  if (rows == 0) {
    throw InputError(csv.name() + ":1:1",
                     "no rows after the header, expected one per pair; is it whole?");
  }
  return rows;
}

}  // namespace

LucidSolo read_lucid_solo(const std::string& path) {
  CsvReader csv(path, kSingleJobColumns, kAnyColumns);
  return read_lucid_solo(csv);
}

LucidSolo read_lucid_solo(std::istream& in, const std::string& name) {
  CsvReader csv(in, name, kSingleJobColumns, kAnyColumns);
  return read_lucid_solo(csv);
}

void write_lucid_solo(std::ostream& out, const LucidSolo& solo) {
  out << "job,model,dataset,batchsize,amp,speed,gpu_util,gmem_util,gmem,label\n";
  for (const LucidSolo::Job& job : solo.jobs) {
    out << workload_fields(job.name, job.workload);
    for (const std::string& value : job.values) out << ',' << value;
    out << '\n';
  }
}

std::size_t write_lucid_pairs(std::ostream& out, const std::string& path, const LucidSolo* solo) {
  CsvReader csv(path, kColocationColumns, kAnyColumns);
  return write_lucid_pairs(out, csv, solo);
}

std::size_t write_lucid_pairs(std::ostream& out, std::istream& in, const std::string& name,
                              const LucidSolo* solo) {
  CsvReader csv(in, name, kColocationColumns, kAnyColumns);
  return write_lucid_pairs(out, csv, solo);
}

}  // namespace corun::inline traces
