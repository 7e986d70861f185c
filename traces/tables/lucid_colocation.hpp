#pragma once

#include <array>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <unordered_map>
#include <vector>

/// Lucid's own tables (S-Lab-System-Group/Lucid) in the forms that corun reads: these functions make the
/// files lucid_pairs.csv and lucid_solo.csv of the public data sets.
///
/// | Lucid's file        | columns that are read, 1 and 2 being the two jobs                           |
/// |---------------------|-----------------------------------------------------------------------------|
/// | colocate_info.csv   | model1, dataset1, batchsize1, amp1, speed1 (over that alone), the same with |
/// |                     | 2, gpu_util [%], gmem_util [%], gmem [MiB] of both together                 |
/// | single_data.csv     | model, dataset, batchsize, amp, speed [samples/s], gpu_util [%],            |
/// |                     | gmem_util [%], gmem [MiB], label (0 to 2, made of the outcome)              |
///
/// A job is named MODEL|DATASET|BATCH|AMP. All numbers are checked and copied as written. Every mistake of
/// a file is an InputError "FILE:LINE:COLUMN: ...".
namespace corun::inline traces {

/// Measurements of jobs alone, as written.
struct LucidSolo {
  struct Job {
    std::string name;
    std::array<std::string, 4> workload;  ///< model, dataset, batch size, amp
    std::array<std::string, 5> values;    ///< speed, gpu_util, gmem_util, gmem, label
  };
  std::vector<Job> jobs;                                  ///< in file order, names differ
  std::unordered_map<std::string, std::size_t> position;  ///< in `jobs`, by name
};

/// single_data.csv, or lucid_solo.csv, which also has a column `job`.
LucidSolo read_lucid_solo(const std::string& path);
/// The same from a stream; `name` stands for the file in messages.
LucidSolo read_lucid_solo(std::istream& in, const std::string& name);

/// Writes lucid_solo.csv.
void write_lucid_solo(std::ostream& out, const LucidSolo& solo);

/// Reads colocate_info.csv and writes lucid_pairs.csv, with `slowdown_x_pct` = 1 / speed - 1 [%] to 4
/// digits behind the point, `pair_id` counting rows from 0, and the columns of `solo` for each job. Without
/// `solo` those columns are empty; a job that `solo` lacks is a mistake of the file. Returns the number of
/// rows.
std::size_t write_lucid_pairs(std::ostream& out, const std::string& path, const LucidSolo* solo);
std::size_t write_lucid_pairs(std::ostream& out, std::istream& in, const std::string& name,
                              const LucidSolo* solo);

}  // namespace corun::inline traces
