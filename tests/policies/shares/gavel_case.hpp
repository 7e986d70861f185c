#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "policies/shares/share_problem.hpp"
#include "tests/helpers/public_data.hpp"

/// Runs of Gavel's own simulator (peers3/gavel of the public data sets): inputs, allocations and results.
namespace corun {

struct GavelCase {
  struct Job {
    double arrival_s = 0;
    std::string type;
    std::int64_t steps = 0;
    int gpus = 1;
    double weight = 1;
    std::vector<double> rates;  ///< by type of the cluster [steps/s]
    double v100 = 0;            ///< [steps/s]
    double finish_s = 0;
  };
  struct Allocation {
    double at_s = 0;
    std::vector<std::uint32_t> jobs;
    std::map<std::uint32_t, double> steps_left;
    std::map<std::uint32_t, double> age_s;
    std::vector<double> objectives;     ///< NaN where there was no solution
    std::vector<std::string> statuses;  ///< "optimal", ..., of each program
    struct Share {
      std::uint32_t a = 0, b = 0;  ///< equal: a job by itself
      std::vector<double> x;
    };
    std::vector<Share> shares;
  };

  std::string name, policy;
  std::vector<std::string> types;  ///< present ones: v100, p100, k80
  std::vector<int> gpus;
  std::vector<Job> jobs;
  std::map<std::tuple<int, std::string, std::string, std::string>, std::pair<double, double>> pairs;
  std::vector<Allocation> allocations;
  double mean_jct_s = 0;

  bool has(std::string_view word) const { return policy.find(word) != std::string::npos; }

  /// Rates beside each other on a type; 0 and 0 if there are none.
  std::pair<double, double> beside(std::uint32_t a, std::uint32_t b, std::size_t type) const {
    if (jobs[a].gpus != jobs[b].gpus) return {0, 0};
    if (const auto at = pairs.find({jobs[a].gpus, jobs[a].type, jobs[b].type, types[type]});
        at != pairs.end()) {
      return at->second;
    }
    const auto at = pairs.find({jobs[a].gpus, jobs[b].type, jobs[a].type, types[type]});
    if (at == pairs.end()) return {0, 0};
    return {at->second.second, at->second.first};
  }

  /// The program of an allocation. Rates are 1 (`blind`), those of the first GPU type (`flat`), or the jobs' own.
  enum class Rates : std::uint8_t { kOwn, kFlat, kOne };
  ShareProblem problem(const Allocation& at, bool packed, Rates rates) const {
    ShareProblem p;
    p.gpus = gpus;
    const auto rounded = [&](double r) {
      return packed ? static_cast<double>(static_cast<float>(r)) : r;
    };
    for (const std::uint32_t j : at.jobs) {
      p.jobs.push_back({.id = j,
                        .gpus = jobs[j].gpus,
                        .weight = jobs[j].weight,
                        .steps_left = at.steps_left.at(j),
                        .age_s = at.age_s.at(j)});
      p.units.push_back({static_cast<std::uint32_t>(p.units.size()), std::nullopt});
      for (std::size_t t = 0; t < types.size(); ++t) {
        p.rates.push_back({rates == Rates::kOne    ? 1.0
                           : rates == Rates::kFlat ? jobs[j].v100
                                                   : rounded(jobs[j].rates[t])});
      }
    }
    for (std::uint32_t b = 0; packed && b < at.jobs.size(); ++b) {
      for (std::uint32_t a = 0; a < b; ++a) {
        if (p.jobs[a].gpus != p.jobs[b].gpus) continue;
        p.units.push_back({a, b});
        for (std::size_t t = 0; t < types.size(); ++t) {
          const auto [ra, rb] = beside(at.jobs[a], at.jobs[b], t);
          p.rates.push_back({rounded(ra), rounded(rb)});
        }
      }
    }
    return p;
  }
};

inline std::vector<std::string> split_fields(const std::string& line, char by) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, by);) fields.push_back(field);
  return fields;
}

inline GavelCase read_gavel_case(const std::filesystem::path& folder) {
  GavelCase c;
  c.name = folder.filename();
  const auto summary = nlohmann::json::parse(std::ifstream(folder / "summary.json"));
  c.policy = summary["policy"];
  c.mean_jct_s = summary["avg_jct_s"];
  const auto counts = split_fields(summary["cluster"].get<std::string>(), ':');
  const std::vector<std::string> all{"v100", "p100", "k80"};
  std::vector<std::size_t> present;
  for (std::size_t t = 0; t < all.size(); ++t) {
    if (std::stoi(counts[t]) == 0) continue;
    present.push_back(t);
    c.types.push_back(all[t]);
    c.gpus.push_back(std::stoi(counts[t]));
  }
  std::string line;
  std::ifstream in(folder / "jobs_in.csv");
  std::getline(in, line);
  while (std::getline(in, line)) {
    const auto f = split_fields(line, ',');
    GavelCase::Job job;
    job.arrival_s = std::stod(f[1]);
    job.type = f[2];
    job.steps = std::stoll(f[3]);
    job.gpus = std::stoi(f[4]);
    job.weight = std::stod(f[5]);
    for (const std::size_t t : present) job.rates.push_back(std::stod(f[6 + t]));
    job.v100 = std::stod(f[6]);
    c.jobs.push_back(job);
  }
  std::ifstream pairs(folder / "pair_rates.csv");
  std::getline(pairs, line);
  while (std::getline(pairs, line)) {
    const auto f = split_fields(line, ',');
    c.pairs[{std::stoi(f[0]), f[1], f[2], f[3]}] = {std::stod(f[4]), std::stod(f[5])};
  }
  std::ifstream out(folder / "jobs_out.csv");
  std::getline(out, line);
  while (std::getline(out, line)) {
    const auto f = split_fields(line, ',');
    c.jobs[std::stoul(f[0])].finish_s = std::stod(f[2]);
  }
  std::ifstream allocations(folder / "allocations.jsonl");
  while (std::getline(allocations, line)) {
    const auto json = nlohmann::json::parse(line);
    GavelCase::Allocation a;
    a.at_s = json["t"];
    a.jobs = json["jobs"].get<std::vector<std::uint32_t>>();
    for (const auto& [job, steps] : json["steps_left"].items())
      a.steps_left[static_cast<std::uint32_t>(std::stoul(job))] = steps;
    for (const auto& [job, age] : json["age_s"].items())
      a.age_s[static_cast<std::uint32_t>(std::stoul(job))] = age;
    for (const auto& program : json["solver"]) {
      const auto objective = [](const nlohmann::json& value) {
        return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
      };
      if (program.contains("objectives")) {
        for (const auto& o : program["objectives"]) a.objectives.push_back(objective(o));
        for (const char s : program["statuses"].get<std::string>()) {
          a.statuses.push_back(s == 'o' ? "optimal" : s == 'i' ? "infeasible" : std::string(1, s));
        }
      } else {
        a.objectives.push_back(objective(program["objective"]));
        a.statuses.push_back(program["status"]);
      }
    }
    if (!json["allocation"].is_null()) {
      for (const auto& row : json["allocation"]) {
        GavelCase::Allocation::Share share;
        if (row[0].is_array()) {
          share.a = row[0][0];
          share.b = row[0][1];
        } else {
          share.a = share.b = row[0];
        }
        for (std::size_t t = 1; t < row.size(); ++t) share.x.push_back(row[t]);
        a.shares.push_back(std::move(share));
      }
    }
    c.allocations.push_back(std::move(a));
  }
  return c;
}

/// All cases; empty without the public data sets.
inline std::vector<GavelCase> gavel_cases() {
  std::vector<GavelCase> cases;
  const char* set = std::getenv("CORUN_DATA");
  if (set == nullptr) return cases;
  const auto folder = std::filesystem::path(set) / "peers3" / "gavel";
  if (!std::filesystem::exists(folder)) return cases;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  for (const auto& path : found) cases.push_back(read_gavel_case(path));
  return cases;
}

}  // namespace corun
