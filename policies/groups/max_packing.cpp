#include "policies/catalog.hpp"
#include "policies/groups/recommender_parameters.hpp"

/// max-packing: JRS "emphasizing Pac_Sav". It first fills one bin, by GPU utilisation or by memory
/// allocated, up to a GPU's capacity, then chooses pairs by mean PS. See recommender.hpp for the algorithm.
/// The bin's memory is what a framework reserved, not the demand.
namespace corun::inline policies {

PolicyEntry max_packing_entry() {
  static const std::vector<ParameterSpec> parameters = {
      {.name = "by",
       .description = "what the bin is filled by: utilisation or memory (allocated)",
       .kind = ParameterKind::kChoice,
       .fallback = std::string("utilisation"),
       .choices = {"utilisation", "memory"}},
      {.name = "bin_max",
       .description = "most jobs in the bin, beside the cluster's own limit; null: no other",
       .kind = ParameterKind::kInteger,
       .fallback = {},
       .min = 1,
       .max = 1e6,
       .choices = {}},
      {.name = "bin",
       .description = "the bin itself, a list of jobs, instead of filling one",
       .kind = ParameterKind::kJobs,
       .fallback = {},
       .choices = {}},
      pairing_parameter(),
      order_parameter(),
      epsilon_parameter(),
      explore_parameter(),
      risk_parameter(),
      window_parameter(),
  };
  return {.name = "max-packing",
          .description = "JRS max-packing: fill a bin, then maximise mean PS of cluster pairs",
          .needs = PolicyNeeds::kBelief,
          .parameters = parameters,
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            RecommenderOptions options = recommender_options(Objective::kMaxPacking, c.parameters);
            options.pack_bin = true;
            options.bin_by_memory = c.parameters.choice("by") == "memory";
            options.bin_max = c.parameters.integer("bin_max");
            options.given_bin = c.parameters.jobs("bin");
            return std::make_unique<Recommender>(std::move(options), std::move(c));
          },
          .traits_with = pairing_traits};
}

}  // namespace corun::inline policies
