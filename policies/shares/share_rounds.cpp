#include "policies/shares/share_rounds.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace corun::inline policies {

namespace {

std::uint64_t key_of(const ShareRounds::Unit& unit) {
  return std::uint64_t{unit.a} << 32U | unit.b;
}

}  // namespace

void ShareRounds::remove(std::uint32_t job) {
  std::size_t kept = 0;
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (entries_[e].unit.a == job || entries_[e].unit.b == job) continue;
    if (kept != e) {
      entries_[kept] = entries_[e];
      std::copy_n(cells_.begin() + static_cast<std::ptrdiff_t>(e * types_), types_,
                  cells_.begin() + static_cast<std::ptrdiff_t>(kept * types_));
    }
    ++kept;
  }
  entries_.resize(kept);
  cells_.resize(kept * types_);
  std::erase_if(jobs_, [job](const Job& j) { return j.number == job; });
  changed_ = true;
}

void ShareRounds::reset(double now_s, std::span<const Given> shares) {
  std::unordered_map<std::uint64_t, const Given*> given;
  for (const Given& g : shares) given.emplace(key_of(g.unit), &g);
  totals_.assign(types_, 0.0);
  const double half = options_.round_s / 2;
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    Entry& entry = entries_[e];
    const auto at = given.find(key_of(entry.unit));
    entry.has_shares = at != given.end();
    entry.known = true;
    for (std::size_t t = 0; t < types_; ++t) {
      OnType& cell = cells_[e * types_ + t];
      cell.deficit_s += cell.x * (now_s - last_reset_s_) - (cell.received_s - half);
      cell.received_s = half;
      cell.x = entry.has_shares ? at->second->x[t] : 0;
      totals_[t] += half;
    }
  }
  last_reset_s_ = now_s;
  changed_ = false;
}

double ShareRounds::priority(const Entry& entry, const OnType& cell, std::size_t type) const {
  constexpr double kNotYetReceived = 1e9;
  if (!entry.has_shares || cell.x == 0 || !cell.runs) return 0;
  if (cell.received_s == 0) return cell.x * kNotYetReceived;
  return cell.x / (cell.received_s / totals_[type]);
}

std::vector<ShareRounds::Placed> ShareRounds::choose(std::span<const int> free,
                                                     std::span<const std::uint32_t> order) const {
  struct Candidate {
    double priority, deficit_s, x;
    std::size_t place;  ///< in the order of creation
  };
  const auto later = [](const Candidate& a, const Candidate& b) {
    return std::tie(a.priority, a.deficit_s, a.x, b.place) <
           std::tie(b.priority, b.deficit_s, b.x, a.place);
  };
  std::vector<Placed> placed;
  std::unordered_set<std::uint32_t> taken;
  std::vector<Candidate> heap;
  for (const std::uint32_t t : order) {
    int left = free[t];
    heap.clear();
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      const OnType& cell = cells_[e * types_ + t];
      if (!cell.runs || entries_[e].gpus > free[t]) continue;
      const double p = priority(entries_[e], cell, t);
      if (p == 0 && !options_.fill) continue;
      heap.push_back({p, cell.deficit_s, cell.x, e});
    }
    std::ranges::make_heap(heap, later);
    while (left > 0 && !heap.empty()) {
      std::ranges::pop_heap(heap, later);
      const Entry& entry = entries_[heap.back().place];
      heap.pop_back();
      if (entry.gpus > left) continue;
      if (taken.contains(entry.unit.a) || taken.contains(entry.unit.b)) continue;
      left -= entry.gpus;
      taken.insert(entry.unit.a);
      taken.insert(entry.unit.b);
      if (entry.known) placed.push_back({entry.unit, t});
    }
  }
  return placed;
}

std::size_t ShareRounds::find(const Unit& unit) const {
  const auto at = std::ranges::find(entries_, unit, &Entry::unit);
  if (at == entries_.end()) throw std::logic_error("a unit that is not there has run");
  return static_cast<std::size_t>(at - entries_.begin());
}

void ShareRounds::ran(const Unit& unit, std::uint32_t type, double seconds) {
  cells_[find(unit) * types_ + type].received_s += seconds;
  totals_[type] += seconds;
}

}  // namespace corun::inline policies
