#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/elastic_program.hpp"

/// Reader of the measurements that were published with Pollux (Qiao et al., OSDI 2021) and Sia (Jayaram Subramanya et al.,
/// SOSP 2023), as tables of all programs. The columns are:
///
/// | file | columns |
/// |---|---|
/// | `applications.csv` | `cluster,model,initial_batch_size,max_batch_size,min_local_batch_size,max_local_batch_size,epochs,sia_restart_s` |
/// | `placements.csv` | `cluster,model,gpus_per_node,local_batch_size,step_time_s,sync_time_s`; `gpus_per_node` such as 1-1-2 |
/// | `scalability.csv` | `cluster,model,nodes,gpus,local_batch_size,step_time_s,sync_time_s` |
/// | `statistical_efficiency.csv` | `model,batch_size,epoch,progress_iterations_at_initial_batch,iterations,grad_sqr,grad_var` |
///
/// Others are ignored. A cluster stands for a GPU type. Left out: `gpt_pmp`, whose rows are the stages of a pipeline.
namespace corun::inline traces {

struct ElasticProgramFiles {
  std::string applications;
  std::string placements;
  std::string scalability;
  std::string statistics;
};

/// By name. InputError, with line and column, for what the table excludes, for a program without measured steps on a
/// cluster of `applications`, and for batch sizes with unlike epochs.
std::map<std::string, ElasticProgram, std::less<>> read_elastic_programs(
    const ElasticProgramFiles& files);

}  // namespace corun::inline traces
