#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "experiments/experiment/recommendation.hpp"
#include "experiments/export/argo_manifest.hpp"

/// Recommended groups as `corun recommend` shows and hands them on.
namespace corun {

/// A line per group, then one per job that runs alone.
std::string recommendation_table(const RecommendedQueue& queue);
/// `groups` and `alone`; fractions, null where nothing is known.
nlohmann::ordered_json recommendation_json(const RecommendedQueue& queue);
/// group,job,cluster,uncertainty,isd,isd_lo,isd_hi,ps,ps_lo,ps_hi,reason: a row per job
std::string recommendation_csv(const RecommendedQueue& queue);
/// The same groups in the same order, for argo_manifest().
ArgoPlan argo_plan(const RecommendedQueue& queue);

}  // namespace corun
