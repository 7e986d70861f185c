#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "policies/shares/share_problem.hpp"

/// From shares of time to who runs in the next round: the round mechanism of Gavel (Narayanan et al., OSDI 2020,
/// section 5), with the ties of the simulator published with it. Plain numbers: callers number jobs and types, and
/// tell the time.
///
/// On a type, a unit (a job, or a pair) has
///
///   priority = x / (T / sum of T),  x its share there, T the time that it has received there
///   deficit += x (t - last reset) - (T - R/2) at each reset, R the length of a round
///
/// T starts at R/2 for a job and at 0 for a pair, and is R/2 after a reset. A job's R/2 enters the sum at the next
/// reset; the time of a unit that is gone stays in it until then. The priority is x * 1e9 if T = 0, and 0 without a
/// share or a rate there.
///
/// Type after type, units start by (priority, deficit, x), greatest first, then in the order of their creation: a job,
/// then its pairs with the jobs that were there, oldest first. Those that do not fit, are placed already or have no rate
/// there are skipped. Units with priority 0 fill GPUs that are left, if `fill`; those created since the last reset
/// hold theirs idle.
namespace corun::inline policies {

class ShareRounds {
 public:
  struct Options {
    double round_s = 360;   ///< R
    double reset_s = 1920;  ///< shares stay at least this long
    bool pairs = false;     ///< jobs of equal gangs may share
    bool fill = true;       ///< units without priority run on GPUs that are left
  };

  /// A unit as callers see it: numbers of jobs as given to add(). b == a: a job by itself.
  struct Unit {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    bool pair() const { return a != b; }
    friend bool operator==(const Unit&, const Unit&) = default;
  };
  struct Placed {
    Unit unit;
    std::uint32_t type = 0;
  };

  ShareRounds(std::size_t types, Options options)
      : options_(options), totals_(types, 0.0), types_(types) {}

  /// A new job. `runs(unit, type)` says whether the job, or its pair with an older one, runs on a type at all.
  template <typename Runs>
  void add(std::uint32_t job, int gpus, Runs&& runs) {
    add_unit({job, job}, gpus, runs);
    if (options_.pairs) {
      const std::size_t others = jobs_.size();
      for (std::size_t i = 0; i < others; ++i) {
        if (jobs_[i].gpus == gpus) add_unit({jobs_[i].number, job}, gpus, runs);
      }
    }
    jobs_.push_back({job, gpus});
    changed_ = true;
  }
  void remove(std::uint32_t job);

  /// Whether new shares are due: a job has come or gone since the last ones, and these are `reset_s` old, or the
  /// clock was set back (restart()).
  bool due(double now_s) const {
    return changed_ && (now_s - last_reset_s_ >= options_.reset_s || last_reset_s_ == 0);
  }
  /// Nothing ran and no job is to come: shares are due at the next change, however young the last ones are.
  void restart() { last_reset_s_ = 0; }

  /// A share of a unit; units without one have no share.
  struct Given {
    Unit unit;
    std::vector<double> x;  ///< by type
  };
  /// New shares; ends the reckoning of the last ones.
  void reset(double now_s, std::span<const Given> shares);

  /// The units of the next round. `free`: GPUs by type; `order`: types in the order in which they are filled.
  std::vector<Placed> choose(std::span<const int> free, std::span<const std::uint32_t> order) const;

  /// A unit has run on a type for that long in the round that ends now.
  void ran(const Unit& unit, std::uint32_t type, double seconds);

  /// The jobs, oldest first.
  struct Job {
    std::uint32_t number = 0;
    int gpus = 1;
  };
  std::span<const Job> jobs() const { return jobs_; }

 private:
  struct OnType {
    double received_s = 0;
    double deficit_s = 0;
    double x = 0;
    bool runs = false;
  };
  struct Entry {
    Unit unit;
    int gpus = 1;
    bool has_shares = false;
    bool known = false;  ///< there was a reset since it was created
  };

  template <typename Runs>
  void add_unit(Unit unit, int gpus, Runs&& runs) {
    entries_.push_back({unit, gpus});
    for (std::uint32_t t = 0; t < types_; ++t) {
      cells_.push_back({.received_s = unit.pair() ? 0 : options_.round_s / 2,
                        .runs = static_cast<bool>(runs(unit, t))});
    }
  }
  double priority(const Entry& entry, const OnType& cell, std::size_t type) const;
  std::size_t find(const Unit& unit) const;

  Options options_;
  std::vector<Job> jobs_;
  std::vector<Entry> entries_;  ///< in the order of their creation
  std::vector<OnType> cells_;   ///< by entry and type, row after row
  std::vector<double> totals_;  ///< by type: sum of received_s, as the rule above has it
  std::size_t types_;
  double last_reset_s_ = 0;
  bool changed_ = false;
};

}  // namespace corun::inline policies
