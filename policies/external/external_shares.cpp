#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/external/external_program.hpp"
#include "policies/parameters_of.hpp"
#include "policies/shares/share_policy.hpp"

/// external-shares: a program of the user says which share of its time each job spends on each GPU type; the rounds of
/// all such policies (share_policy.hpp) decide who runs. The program is started once per replication, and asked
/// whenever new shares are due. docs/external-policy.md has the protocol, and examples/shares.py a program.
///
/// The run ends with a PolicyError if an answer is none, or breaks a constraint of share_problem.hpp.
namespace corun::inline policies {

namespace {

struct ExternalSharesOptions : SharePolicyOptions, ExternalProgramOptions {};

const ParametersOf<ExternalSharesOptions>& external_shares_parameters() {
  static const auto all = ParametersOf<ExternalSharesOptions>()
                              .with(external_program_parameters())
                              .with(share_parameters());
  return all;
}

class ExternalShareRule final : public ShareRule {
  using Json = ExternalProgram::Json;

 public:
  ExternalShareRule(ExternalProgramOptions options, std::uint64_t seed,
                    const std::atomic<bool>* stop)
      : seed_(seed), program_("external-shares", std::move(options), stop) {}

  void begin(std::span<const GpuType> types, double round_s, double reset_s) override {
    Json names = Json::array();
    for (const GpuType& type : types) names.push_back(type.name);
    program_.greet({{"protocol", "corun-shares"},
                    {"version", 1},
                    {"seed", seed_},
                    {"gpu_types", std::move(names)},
                    {"round_s", round_s},
                    {"reset_s", reset_s}});
  }

  Shares shares(const ShareProblem& problem) override {
    Shares shares;
    shares.x = read(program_.ask(question(problem).dump()), problem);
    const std::string fault = share_fault(problem, shares.x);
    if (!fault.empty()) program_.refuse("answer", program_.name() + "gives shares: " + fault);
    return shares;
  }

 private:
  static Json question(const ShareProblem& problem) {
    Json jobs = Json::array();
    for (const ShareJob& job : problem.jobs) {
      jobs.push_back({{"job", job.id},
                      {"gpus", job.gpus},
                      {"weight", job.weight},
                      {"steps_left", job.steps_left},  // null: not known
                      {"age_s", job.age_s},
                      {"isolated_s", job.isolated_s}});
    }
    Json units = Json::array();
    for (std::size_t u = 0; u < problem.units.size(); ++u) {
      const ShareUnit& unit = problem.units[u];
      Json of_unit = Json::array({problem.jobs[unit.a].id});
      if (unit.b) of_unit.push_back(problem.jobs[*unit.b].id);
      Json rates = Json::array();
      for (std::size_t t = 0; t < problem.types(); ++t) {
        Json on_type = Json::array({problem.rate(u, t).a});
        if (unit.b) on_type.push_back(problem.rate(u, t).b);
        rates.push_back(std::move(on_type));
      }
      units.push_back({{"jobs", std::move(of_unit)}, {"rates", std::move(rates)}});
    }
    return {{"gpus", problem.gpus}, {"jobs", std::move(jobs)}, {"units", std::move(units)}};
  }

  std::vector<double> read(const Json& answer, const ShareProblem& problem) const {
    const auto refuse = [&](const std::string& expected) {
      program_.refuse("answer", "found " + program_.answered() + ", expected " + expected);
    };
    if (!answer.is_object() || answer.size() != 1 || !answer.contains("shares") ||
        !answer["shares"].is_array()) {
      refuse("{\"shares\": [[...], ...]}");
    }
    const Json& rows = answer["shares"];
    if (rows.size() != problem.units.size()) {
      refuse("a row of shares for each of the " + std::to_string(problem.units.size()) + " units");
    }
    std::vector<double> x;
    for (const Json& row : rows) {
      const bool fits = row.is_array() && row.size() == problem.types() &&
                        std::ranges::all_of(row, [](const Json& v) { return v.is_number(); });
      if (!fits) {
        refuse("rows of " + std::to_string(problem.types()) + " numbers, one for each GPU type");
      }
      for (const Json& value : row) x.push_back(value.get<double>());
    }
    return x;
  }

  std::uint64_t seed_;
  ExternalProgram program_;
};

}  // namespace

PolicyEntry external_shares_entry() {
  return {.name = "external-shares",
          .description =
              "a program of your own gives shares of time by GPU type: JSON lines, in rounds",
          .needs = PolicyNeeds::kNothing,
          .parameters = external_shares_parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            ExternalSharesOptions options = external_shares_parameters().read(c.parameters);
            const SharePolicyOptions rounds = options;
            const auto seed = rounds.seed.value_or(static_cast<std::uint32_t>(c.seed));
            return std::make_unique<SharePolicy>(
                std::make_unique<ExternalShareRule>(std::move(options), seed, c.stop),
                std::move(c.belief), rounds, c.round, seed);
          },
          .needs_with = share_policy_needs,
          .traits = share_policy_traits(false)};
}

}  // namespace corun::inline policies
