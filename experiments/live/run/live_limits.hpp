#pragma once

#include "experiments/config/config.hpp"
#include "experiments/experiment/experiment.hpp"

/// What a simulated cluster does and a real one does not, refused before the first job starts. All of these
/// throw InputError.
namespace corun::live {

/// A live cluster is what is there, and does not do what a command cannot.
void check_live_cluster(const Config& config);

/// Nobody knows true costs here.
void check_live_policy(const PolicyInstance& policy);

/// A policy that moves running jobs; whether it does shows only in what it decides.
[[noreturn]] void refuse_preemption(const PolicyInstance& policy);

}  // namespace corun::live
