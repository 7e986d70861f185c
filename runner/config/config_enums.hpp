#pragma once

#include <array>
#include <cstdint>

#include "runner/config/enum_names.hpp"
#include "sim/cluster_view.hpp"
#include "sim/engine/tick_rule.hpp"
#include "sim/profiling_mode.hpp"

/// The enums of a configuration and their words in YAML, with the words of the engine's enums
/// (StartMode, TickRule, ProfilingMode). docs/configuration.md explains each word.
namespace corun::inline runner {

/// workload.order: the order in which the jobs of a source arrive.
enum class QueueOrder : std::uint8_t {
  kShuffled,  ///< one permutation per seed, the same for all policies
  kTrace,     ///< the order of the source
};
template <>
struct EnumNames<QueueOrder> {
  static constexpr std::array kTable{EnumName{QueueOrder::kShuffled, "shuffled"},
                                     EnumName{QueueOrder::kTrace, "trace"}};
};

/// workload.profiles: the profile of jobs that bring none.
enum class MissingProfiles : std::uint8_t {
  kNone,  ///< they stay without a profile
  kJrs,   ///< the profile of a measured JRS job, drawn by seed and job
};
template <>
struct EnumNames<MissingProfiles> {
  static constexpr std::array kTable{EnumName{MissingProfiles::kNone, "none"},
                                     EnumName{MissingProfiles::kJrs, "jrs"}};
};

/// workload.adaptivity: what elastic jobs leave to the scheduler and choose themselves (the terms of Sia's paper).
enum class Adaptivity : std::uint8_t {
  kRigid,          ///< nothing: the GPUs and the batch size of the file
  kStrongScaling,  ///< any number of GPUs, with the batch size of the file
  kAdaptive,       ///< any number of GPUs, with the batch size that is best there
};
template <>
struct EnumNames<Adaptivity> {
  static constexpr std::array kTable{EnumName{Adaptivity::kRigid, "rigid"},
                                     EnumName{Adaptivity::kStrongScaling, "strong-scaling"},
                                     EnumName{Adaptivity::kAdaptive, "adaptive"}};
};

/// cluster.sharing: how jobs share a GPU. Files of measurements may name other modes.
enum class SharingMode : std::uint8_t { kTimeSlicing, kMps };
template <>
struct EnumNames<SharingMode> {
  static constexpr std::array kTable{EnumName{SharingMode::kTimeSlicing, "time-slicing"},
                                     EnumName{SharingMode::kMps, "mps"}};
};

/// estimates.duration, .memory, .utilisation: what policies see of them.
enum class EstimateKind : std::uint8_t {
  kNone,
  kExact,
  kLognormal,  ///< the true value multiplied by a log-normal factor of median 1
  kShuffled,   ///< duration only: that of a job drawn at random, uniformly and with replacement
};
template <>
struct EnumNames<EstimateKind> {
  static constexpr std::array kTable{EnumName{EstimateKind::kNone, "none"},
                                     EnumName{EstimateKind::kExact, "exact"},
                                     EnumName{EstimateKind::kLognormal, "lognormal"},
                                     EnumName{EstimateKind::kShuffled, "shuffled"}};
};

/// control.mode
enum class ControlMode : std::uint8_t {
  kEvents,  ///< each event at its own time
  kRounds,  ///< events only at ends of rounds
};
template <>
struct EnumNames<ControlMode> {
  static constexpr std::array kTable{EnumName{ControlMode::kEvents, "events"},
                                     EnumName{ControlMode::kRounds, "rounds"}};
};

/// control.plan
enum class PlanMode : std::uint8_t {
  kOnline,  ///< a new plan at each pass, with the present belief
  kOnce,    ///< the first plan holds
};
template <>
struct EnumNames<PlanMode> {
  static constexpr std::array kTable{EnumName{PlanMode::kOnline, "online"},
                                     EnumName{PlanMode::kOnce, "once"}};
};

/// control.start
template <>
struct EnumNames<StartMode> {
  static constexpr std::array kTable{EnumName{StartMode::kGroup, "group"},
                                     EnumName{StartMode::kJoin, "join"}};
};

/// control.tick_rule
template <>
struct EnumNames<TickRule> {
  static constexpr std::array kTable{EnumName{TickRule::kNotice, "notice"},
                                     EnumName{TickRule::kProgress, "progress"}};
};

/// profiling.mode
template <>
struct EnumNames<ProfilingMode> {
  static constexpr std::array kTable{
      EnumName{ProfilingMode::kNone, "none"}, EnumName{ProfilingMode::kEpoch, "epoch"},
      EnumName{ProfilingMode::kMinute, "minute"}, EnumName{ProfilingMode::kPredictor, "predictor"}};
};

}  // namespace corun::inline runner
