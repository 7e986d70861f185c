#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "results/export/argo_manifest.hpp"
#include "runner/recommendation/recommendation.hpp"

/// Recommended groups in the output formats of `corun recommend`.
namespace corun::inline runner {

/// One line per group, then one per job that runs alone; ISD and PS in %.
std::string recommendation_table(const RecommendedQueue& queue);
/// An object with `groups` and `alone`; ISD and PS as fractions, null if unknown.
nlohmann::ordered_json recommendation_json(const RecommendedQueue& queue);
/// Columns group,job,cluster,uncertainty,isd,isd_lo,isd_hi,ps,ps_lo,ps_hi,reason; one row per job.
std::string recommendation_csv(const RecommendedQueue& queue);
/// The same groups in the same order, for argo_manifest().
ArgoPlan argo_plan(const RecommendedQueue& queue);

}  // namespace corun::inline runner
