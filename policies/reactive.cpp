#include <memory>

#include "policies/catalog.hpp"
#include "policies/utilisation_packing.hpp"

/// reactive: each job first runs alone (`profiling.mode: minute`); then first-fit-decreasing on the GPU utilisation
/// that was measured. The online profiling of Yeung et al.'s comparison; utilisation_packing.hpp has the rules.
namespace corun::inline policies {

namespace {

constexpr PolicyTraits kReactiveTraits = [] {
  PolicyTraits traits = kUtilisationPackingTraits;
  traits.measures_profiles = true;
  return traits;
}();

}  // namespace

PolicyEntry reactive_entry() {
  return {.name = "reactive",
          .description =
              "each job alone for a minute, then first-fit-decreasing on its measured utilisation "
              "(Yeung et al., HotCloud 2020)",
          .needs = PolicyNeeds::kNothing,
          .parameters = UtilisationPacking::parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<UtilisationPacking>(
                UtilisationPacking::parameters().read(c.parameters));
          },
          .traits = kReactiveTraits};
}

}  // namespace corun::inline policies
