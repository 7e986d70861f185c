#include <cstdio>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "policies/shares/max_min.hpp"
#include "policies/shares/max_throughput.hpp"
#include "tests/policies/shares/random_problems.hpp"

/// usage: programs_dump COUNT
///
/// Prints COUNT random problems, each a line of JSON with the problem and every program's shares and objective, for
/// programs_test.py to check.
int main(int argc, char** argv) {
  using namespace corun;
  const int count = argc > 1 ? std::stoi(argv[1]) : 1;
  for (int n = 0; n < count; ++n) {
    const bool packed = n % 3 == 2;
    const ShareProblem p = test::random_problem(static_cast<std::uint64_t>(n) + 1,
                                                {.jobs = packed ? 30U : 60U, .packed = packed});
    nlohmann::json line;
    line["gpus"] = p.gpus;
    for (const ShareJob& job : p.jobs) {
      line["jobs"].push_back({{"gpus", job.gpus},
                              {"weight", job.weight},
                              {"left", job.steps_left},
                              {"age", job.age_s},
                              {"isolated", job.isolated_s},
                              {"time_left", job.time_left_s.value_or(0)}});
    }
    for (const ShareUnit& unit : p.units)
      line["units"].push_back({unit.a, unit.b.value_or(unit.a)});
    for (const UnitRates& rates : p.rates) line["rates"].push_back({rates.a, rates.b});
    const auto add = [&](const std::string& name, const Shares& shares) {
      line["programs"][name] = {{"x", shares.x}, {"objective", shares.objective}};
    };
    std::vector<double> prices;
    for (std::size_t t = 0; t < p.types(); ++t)
      prices.push_back(0.1 + 0.3 * static_cast<double>(t));
    add("max-min", max_min(p));
    const WaterFilling filled = water_filling(p);
    add("water-filling", filled.shares);
    line["programs"]["water-filling"]["objectives"] = filled.objectives;
    const Makespan makespan = min_makespan(p);
    add("makespan", makespan.shares);
    line["programs"]["makespan"]["found"] = makespan.found;
    add("finish-time-fairness", finish_time_fairness(p));
    add("max-throughput", max_throughput(p));
    ShareProblem without = p;
    for (ShareJob& job : without.jobs) job.time_left_s.reset();
    add("max-throughput-per-price", max_throughput(without, prices));
    add("isolated", equal_shares(p));
    std::cout << line.dump() << '\n';
  }
}
