#pragma once

#include <span>
#include <string>

#include "runner/recommendation/service_recommendation.hpp"
#include "support/json.hpp"

/// Jobs that may run beside services in the output formats of `corun recommend --service`.
namespace corun::inline runner {

/// For each service its goal and load, then one line per job; ISD, shares and probabilities in %.
std::string services_recommendation_table(std::span<const ServiceRecommendation> services);
/// An object with `services`; fractions, null if unknown.
Json services_recommendation_json(std::span<const ServiceRecommendation> services);
/// Columns service,job,isd,isd_lo,isd_hi,within_goal,probability,job_isd,may_share,reason; one row per service and job.
std::string services_recommendation_csv(std::span<const ServiceRecommendation> services);

}  // namespace corun::inline runner
