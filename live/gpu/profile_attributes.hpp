#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace corun::live {

/// The columns of the Futurewei mini-ML Workload Dataset, as its header spells them (PriRecT Table I).
/// The first six identify the job; the others are measured.
inline constexpr std::size_t kOriginColumns = 6;
// clang-format off
inline constexpr std::array<std::string_view, 66> kProfileAttributes{
    "ID", "Model", "Dataset", "Epoch", "BS", "Run_Env",
    "CPU_Util_%_ran", "Max_CPU_Util_%", "Min_CPU_Util_%",
    "GPU_Util_%_ran", "MGUP", "Min_GPU_Util_%",
    "Sys_Mem_Util_%_ran", "Max_Sys_Mem_Util_%", "Min_Sys_Mem_Util_%",
    "MaPMiU(non swap)", "PMiU(non swap)_%", "CPU_Thds",
    "GPU_Temp_ran", "Max_GPU_Temp", "Min_GPU_Temp",
    "GTSAMPR", "MaGTSAMP", "MiGTSAMP",
    "MGMAP",
    "GPUPR", "MaGPUPR", "MiGPUPR",
    "SCT_user", "SCT_nice", "SCT_sys", "SCT_idle", "SCT_iowait", "SCT_irq", "SCT_softirq",
    "SCT_steal", "SCT_guest", "SCT_guest_nice",
    "Cor_in_Sys", "CS_ctx_switches", "CS_interrupts", "CS_soft_interrupts", "CS_syscalls",
    "SMU_total", "SMU_available", "SMU_percent", "SMU_used", "SMU_free", "SMU_active",
    "SMU_inactive", "SMU_buffers", "SMU_cached", "SMU_shared", "SMU_slab",
    "DU_total", "DU_used", "DU_free", "DU_percent",
    "NIOB_sent", "NIOB_received", "NIOP_sent", "NIO_received", "NIO_errin", "NIO_errout",
    "NIO_dropin", "NIO_dropout"};
// clang-format on

}  // namespace corun::live
