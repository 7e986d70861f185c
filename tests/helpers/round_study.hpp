#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tests/helpers/temporary_directory.hpp"

/// A tiny directory of real runs, written by hand: three jobs, four GPUs.
namespace corun::test {

/// The files by their name under the directory; a test changes some, then writes them.
inline std::map<std::string, std::string> round_study_files() {
  return {
      {"trace.csv",
       "job,arrival_s,model,samples_per_epoch,initial_batch_size,gpus,mode,steps_at_initial_batch,"
       "epochs,adapted_duration_s\n"
       "0,0,A,1000,10,1,static,300,3,300\n"
       "1,0,A,1000,10,2,gns,400,4,200\n"
       "2,50,B,500,5,1,static,200,2,100\n"},
      {"throughput_oracle.csv",
       "worker_type,model,batch_size,gpus,steps_per_s\n"
       "x,A,10,1,1\nx,A,10,2,2\nx,A,20,2,1.5\nx,B,5,1,2\ny,B,5,1,1\n"},
      {"batch_schedule_predicted.csv",
       "job,from_epoch,to_epoch_exclusive,batch_size\n"
       "0,0,3,10\n1,0,2,10\n1,2,4,20\n2,0,2,5\n"},
      {"batch_rule_simulated.csv",
       "job,from_completed_epochs,target_batch_size\n0,0,10\n1,0,10\n1,2,20\n2,0,5\n"},
      {"real/one/jobs.csv", "job,jct_s,gpu_run_s\n0,320,300\n1,260,400\n2,310,95\n"},
      {"real/one/rounds.csv", "round,job,workers\n0,0,0\n0,1,1 2\n1,0,0\n1,1,1 2\n2,0,0\n2,2,3\n"},
      {"real/one/throughput.csv",
       "round,job,batch_size,steps_per_s\n1,1,10,2\n2,0,10,1\n2,2,5,2\n"},
  };
}

inline void write_round_study(const TemporaryDirectory& directory,
                              const std::map<std::string, std::string>& files) {
  for (const auto& [name, text] : files) {
    std::filesystem::create_directories(std::filesystem::path(directory.path(name)).parent_path());
    directory.write(name, text);
  }
}

}  // namespace corun::test
