#include "live/gpu/gpu_box.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <poll.h>
#include <unistd.h>

#include "processes/process_tree.hpp"
#include "sim/error.hpp"

namespace corun::live {

namespace {

/// More than a driver reserves on an idle GPU.
constexpr double kDriverMib = 1024;
constexpr Duration kDaemonPatience = std::chrono::seconds{20};
constexpr const char* kMpsControl = "nvidia-cuda-mps-control";

std::string path_variable() {
  const char* path = std::getenv("PATH");
  return std::string("PATH=") + (path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
}

std::optional<std::string> mps_program() {
  try {
    return find_program(kMpsControl, {path_variable()}, ".", "mps");
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<std::string> refusals(const Nvml& nvml, std::size_t gpu, const GpuRules& rules) {
  const GpuFacts& facts = nvml.gpus()[gpu];
  std::vector<std::string> reasons;
  if (facts.mig.value_or(false)) {
    reasons.emplace_back(
        "MIG is on, and a slice does not report its utilisation: nvidia-smi -mig 0");
  }
  if (facts.mode == GpuFacts::ComputeMode::kProhibited) {
    reasons.emplace_back("its compute mode prohibits compute: nvidia-smi -c DEFAULT");
  }
  if (facts.mode == GpuFacts::ComputeMode::kExclusive && rules.shared && !rules.mps) {
    reasons.emplace_back(
        "its compute mode lets one process in at a time: nvidia-smi -c DEFAULT, or share by mps");
  }
  if (rules.allow_others) return reasons;
  std::string others;
  for (const GpuProcess& p : nvml.processes(gpu).value_or(std::vector<GpuProcess>{})) {
    if (is_below(p.pid, getpid())) continue;  // started by this corun
    others += (others.empty() ? "" : ", ") + std::to_string(p.pid);
  }
  if (!others.empty()) {
    reasons.push_back("others use it (process " + others +
                      "): wait for them, or --allow-others and measure what cannot be repeated");
  } else if (descendants(getpid()).empty() && nvml.read(gpu).memory_used_mib > kDriverMib) {
    reasons.push_back("somebody holds " +
                      std::to_string(std::lround(nvml.read(gpu).memory_used_mib)) +
                      " MiB of it, whose process the driver does not name: free it, or "
                      "--allow-others");
  }
  return reasons;
}

std::vector<std::size_t> choose_gpus(const Nvml& nvml, std::span<const std::int64_t> asked,
                                     const GpuRules& rules, const std::string& place) {
  std::vector<std::size_t> chosen;
  for (const std::int64_t index : asked) {
    if (index < 0 || static_cast<std::size_t>(index) >= nvml.gpus().size()) {
      throw InputError(place, "no GPU " + std::to_string(index) + ", expected 0 to " +
                                  std::to_string(nvml.gpus().size() - 1) +
                                  "; see corun live probe");
    }
    const auto gpu = static_cast<std::size_t>(index);
    if (std::find(chosen.begin(), chosen.end(), gpu) != chosen.end()) {
      throw InputError(place, "GPU " + std::to_string(index) + " is named twice");
    }
    if (const auto reasons = refusals(nvml, gpu, rules); !reasons.empty()) {
      throw DeviceError("GPU " + std::to_string(index) + " is not used: " + reasons.front());
    }
    chosen.push_back(gpu);
  }
  if (!asked.empty()) return chosen;
  std::string why;
  for (std::size_t gpu = 0; gpu < nvml.gpus().size(); ++gpu) {
    const auto reasons = refusals(nvml, gpu, rules);
    if (reasons.empty()) {
      chosen.push_back(gpu);
    } else {
      why += (why.empty() ? "" : "; ") + ("GPU " + std::to_string(gpu) + ": " + reasons.front());
    }
  }
  if (chosen.empty()) throw DeviceError("no GPU can be used. " + why);
  return chosen;
}

std::vector<std::size_t> by_type(const Nvml& nvml, std::span<const std::size_t> gpus) {
  std::vector<std::size_t> ordered(gpus.begin(), gpus.end());
  const auto first_of_type = [&](std::size_t gpu) {
    return std::ranges::find(
               gpus, nvml.gpus()[gpu].name,
               [&](std::size_t g) -> const std::string& { return nvml.gpus()[g].name; }) -
           gpus.begin();
  };
  std::ranges::stable_sort(ordered, {}, first_of_type);
  return ordered;
}

bool mps_installed() { return mps_program().has_value(); }

std::string mps_state() {
  int daemons = 0;
  for (const ProcessInfo& p : all_processes()) {
    std::ifstream file("/proc/" + std::to_string(p.pid) + "/comm");
    std::string name;
    std::getline(file, name);
    // The kernel keeps 15 bytes of a name, so daemon and server have the same one.
    daemons += name == std::string(kMpsControl).substr(0, 15) ? 1 : 0;
  }
  const std::string installed = mps_installed() ? "installed" : "not installed";
  if (daemons == 0) return installed + ", no daemon runs";
  return installed + ", a daemon that is not ours runs; it is left alone";
}

Sharing::Sharing(Session& session, const Nvml& nvml, std::span<const std::size_t> gpus, bool mps) {
  const std::string pipes = session.make_directory(mps ? "mps" : "no-mps");
  environment_.push_back("CUDA_MPS_PIPE_DIRECTORY=" + pipes);
  if (!mps) return;
  environment_.push_back("CUDA_MPS_LOG_DIRECTORY=" + session.make_directory("mps-log"));
  const auto program = mps_program();
  if (!program) {
    throw DeviceError(std::string(kMpsControl) +
                      " is not in PATH; it comes with the driver. Or set cluster.sharing: "
                      "time-slicing");
  }
  Command command;
  command.argv = {*program, "-f"};  // in the foreground: it stays a descendant of its guard
  command.environment = environment_;
  command.environment.push_back(path_variable());
  std::string visible;
  for (const std::size_t gpu : gpus)
    visible += (visible.empty() ? "" : ",") + nvml.gpus()[gpu].uuid;
  command.environment.push_back("CUDA_VISIBLE_DEVICES=" + visible);
  command.directory = session.directory();
  command.limits.disk_free_bytes = 0;
  daemon_ = std::make_unique<SupervisedProcess>(command, session.lifeline(), "mps");
  daemon_->start();
  // The daemon accepts clients once its control pipe exists.
  const Time deadline = monotonic_now() + kDaemonPatience;
  std::error_code error;
  while (!std::filesystem::exists(pipes + "/control", error)) {
    if (daemon_->wait_until(monotonic_now() + std::chrono::milliseconds{10})) {
      throw DeviceError("the MPS daemon does not start: " + describe(daemon_->ending()));
    }
    if (monotonic_now() > deadline) throw DeviceError("the MPS daemon does not get ready");
  }
}

bool Sharing::works() { return daemon_ == nullptr || !daemon_->poll(); }

}  // namespace corun::live
