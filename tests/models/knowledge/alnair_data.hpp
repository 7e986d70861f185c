#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "models/learners/matrix_view.hpp"
#include "tests/helpers/public_data.hpp"
#include "traces/csv_reader.hpp"

/// The Futurewei mini-ML Workload Dataset for the tests of models/knowledge.
namespace corun {

/// Its numeric columns in file order. "Run_Env", the third text column beside model and data set, is
/// appended as 0 for Standard and 1 for High-RAM.
// A list, not a column.
// clang-format off
inline constexpr std::array<std::string_view, 63> kAlnairNumbers{
    "ID", "Epoch", "BS", "CPU_Util_%_ran", "Max_CPU_Util_%", "Min_CPU_Util_%", "GPU_Util_%_ran",
    "MGUP", "Min_GPU_Util_%", "Sys_Mem_Util_%_ran", "Max_Sys_Mem_Util_%", "Min_Sys_Mem_Util_%",
    "MaPMiU(non swap)", "PMiU(non swap)_%", "CPU_Thds", "GPU_Temp_ran", "Max_GPU_Temp",
    "Min_GPU_Temp", "GTSAMPR", "MaGTSAMP", "MiGTSAMP", "MGMAP", "GPUPR", "MaGPUPR", "MiGPUPR",
    "SCT_user", "SCT_nice", "SCT_sys", "SCT_idle", "SCT_iowait", "SCT_irq", "SCT_softirq",
    "SCT_steal", "SCT_guest", "SCT_guest_nice", "Cor_in_Sys", "CS_ctx_switches", "CS_interrupts",
    "CS_soft_interrupts", "CS_syscalls", "SMU_total", "SMU_available", "SMU_percent", "SMU_used",
    "SMU_free", "SMU_active", "SMU_inactive", "SMU_buffers", "SMU_cached", "SMU_shared", "SMU_slab",
    "DU_total", "DU_used", "DU_free", "DU_percent", "NIOB_sent", "NIOB_received", "NIOP_sent",
    "NIO_received", "NIO_errin", "NIO_errout", "NIO_dropin", "NIO_dropout"};
// clang-format on

struct AlnairData {
  std::vector<std::string> names;
  std::vector<double> values;  ///< jobs x names, row-major
  std::vector<int> family;     ///< per job, the model; all BERT variants are one
  std::vector<int> task;       ///< per job: classification 0, segmentation 1, GAN 2, NLP 3, RL 4
  std::size_t jobs = 0;

  MatrixView view() const { return {values, jobs, names.size()}; }
  std::size_t column(std::string_view name) const {
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (names[c] == name) return c;
    }
    throw std::out_of_range("no column " + std::string(name));
  }
};

inline constexpr const char* kAlnairFile = "alnair/alnair_dataset.csv";

/// Empty if the file is missing.
inline std::optional<AlnairData> read_alnair() {
  if (!test::has_public_data(kAlnairFile)) return std::nullopt;
  std::vector<CsvColumn> columns{{"Model", true}, {"Run_Env", true}};
  for (const std::string_view name : kAlnairNumbers) columns.push_back({name, true});
  CsvReader reader(test::public_data(kAlnairFile), columns,
                   {.separator = ',', .ignore_unknown = true});
  AlnairData data;
  data.names.assign(kAlnairNumbers.begin(), kAlnairNumbers.end());
  data.names.emplace_back("Run_Env");
  std::map<std::string, int> families;
  while (reader.next()) {
    for (const std::string_view name : kAlnairNumbers) {
      data.values.push_back(reader.required_number(reader.column(name), {.what = "a number"}));
    }
    const std::string_view environment = reader.text(reader.column("Run_Env"));
    data.values.push_back(environment.find("High-RAM") != std::string_view::npos ? 1 : 0);
    const std::string model(reader.text(reader.column("Model")));
    const auto says = [&](std::string_view part) { return model.find(part) != std::string::npos; };
    const std::string family = says("bert") ? "BERT" : model;
    data.family.push_back(
        families.emplace(family, static_cast<int>(families.size())).first->second);
    data.task.push_back(says("Segmentation") ? 1
                        : says("DCGAN")      ? 2
                        : says("bert")       ? 3
                        : says("Reinforce")  ? 4
                                             : 0);
    ++data.jobs;
  }
  return data;
}

}  // namespace corun
