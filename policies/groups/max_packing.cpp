#include "policies/catalog.hpp"
#include "policies/groups/recommender_parameters.hpp"
#include "policies/parameters_of.hpp"

/// max-packing: JRS "emphasizing Pac_Sav". It first fills one bin, by GPU utilisation or by memory
/// allocated, up to a GPU's capacity, then chooses pairs by mean PS. See recommender.hpp for the algorithm.
/// The bin's memory is what a framework reserved, not the demand.
namespace corun::inline policies {

namespace {

std::string bin_is_filled(const ParameterContext& c) {
  const auto* const bin = std::get_if<std::vector<std::string>>(&c.parameters.value("bin"));
  return bin != nullptr && !bin->empty() ? "bin is given" : jobs_share(c);
}

const ParametersOf<RecommenderOptions>& max_packing_parameters() {
  static const auto all = [] {
    using Chosen = RecommenderOptions;
    ParametersOf<Chosen> parameters({.objective = Objective::kMaxPacking, .pack_bin = true});
    parameters
        .choice("by", &Chosen::bin_by_memory, {{"utilisation", false}, {"memory", true}},
                "what the bin is filled by: utilisation or memory (allocated)")
        .only_where(bin_is_filled)
        .number("bin_max", &Chosen::bin_max,
                {1, 1e6, "most jobs in the bin, beside the cluster's own limit; null: no other"})
        .only_where(bin_is_filled)
        .jobs("bin", &Chosen::given_bin, "the bin itself, a list of jobs, instead of filling one");
    add_pairing(parameters);
    return parameters;
  }();
  return all;
}

}  // namespace

PolicyEntry max_packing_entry() {
  return {.name = "max-packing",
          .description = "JRS max-packing: fill a bin, then maximise mean PS of cluster pairs",
          .needs = PolicyNeeds::kBelief,
          .parameters = max_packing_parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            RecommenderOptions options = max_packing_parameters().read(c.parameters);
            return std::make_unique<Recommender>(std::move(options), std::move(c));
          },
          .traits_with =
              [](const Parameters& p) { return pairing_traits(max_packing_parameters().read(p)); }};
}

}  // namespace corun::inline policies
