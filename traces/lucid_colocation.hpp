#pragma once

#include <array>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <unordered_map>
#include <vector>

/// Lucid's own tables (S-Lab-System-Group/Lucid) as those that corun reads: the files lucid_pairs.csv and
/// lucid_solo.csv of the public data sets are made of them by these.
///
/// | Lucid's file        | columns that are read, 1 and 2 being the two jobs                           |
/// |---------------------|-----------------------------------------------------------------------------|
/// | colocate_info.csv   | model1, dataset1, batchsize1, amp1, speed1 (over that alone), the same with |
/// |                     | 2, gpu_util [%], gmem_util [%], gmem [MiB] of both together                 |
/// | single_data.csv     | model, dataset, batchsize, amp, speed [samples/s], gpu_util [%],            |
/// |                     | gmem_util [%], gmem [MiB], label (0 to 2, made of the outcome)              |
///
/// A job is called MODEL|DATASET|BATCH|AMP. All numbers are checked and copied as they are written. Every
/// mistake of a file is an InputError "FILE:LINE:COLUMN: ...".
namespace corun {

/// What jobs show alone, as written.
struct LucidSolo {
  struct Job {
    std::string name;
    std::array<std::string, 4> workload;  ///< model, dataset, batch size, amp
    std::array<std::string, 5> values;    ///< speed, gpu_util, gmem_util, gmem, label
  };
  std::vector<Job> jobs;                                  ///< in file order, names that differ
  std::unordered_map<std::string, std::size_t> position;  ///< in `jobs`, by name
};

/// single_data.csv, or lucid_solo.csv, which has a column `job` more.
LucidSolo read_lucid_solo(const std::string& path);
/// The same from a stream, called `name` in messages.
LucidSolo read_lucid_solo(std::istream& in, const std::string& name);

/// The form of lucid_solo.csv.
void write_lucid_solo(std::ostream& out, const LucidSolo& solo);

/// Reads colocate_info.csv and writes it in the form of lucid_pairs.csv, with `slowdown_x_pct` = 1 / speed
/// - 1 [%] to 4 digits behind the point, `pair_id` counting rows from 0, and of `solo` what each job shows
/// alone. Without `solo` those columns are empty; a job that `solo` lacks is a mistake of the file. Gives
/// the number of rows.
std::size_t write_lucid_pairs(std::ostream& out, const std::string& path, const LucidSolo* solo);
std::size_t write_lucid_pairs(std::ostream& out, std::istream& in, const std::string& name,
                              const LucidSolo* solo);

}  // namespace corun
