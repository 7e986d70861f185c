#pragma once

#include "results/results_header.hpp"
#include "support/json.hpp"

/// What a results file says of its experiment.
namespace corun::inline runner {

class Experiment;
struct PolicyInstance;

/// The header of the results file of an experiment.
ResultsHeader results_header(const Experiment& experiment);

/// The parameters of a policy as JSON: the values given, and the defaults of the others.
Json parameters_json(const PolicyInstance& policy);

}  // namespace corun::inline runner
