#include <memory>

#include "policies/catalog.hpp"
#include "policies/utilisation_packing.hpp"

/// proactive: first-fit-decreasing on the GPU utilisation that is predicted before a job has run
/// (`estimates.utilisation`); utilisation_packing.hpp has the rules and their source.
namespace corun::inline policies {

PolicyEntry proactive_entry() {
  return {.name = "proactive",
          .description =
              "first-fit-decreasing on predicted GPU utilisation (Yeung et al., HotCloud 2020)",
          .needs = PolicyNeeds::kNothing,
          .parameters = UtilisationPacking::parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<UtilisationPacking>(
                UtilisationPacking::parameters().read(c.parameters));
          },
          .traits = kUtilisationPackingTraits};
}

}  // namespace corun::inline policies
