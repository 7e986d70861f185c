#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/cli.hpp"

/// The words of `corun model` beside eval on the papers' tables, each in a file of its own.
namespace corun {

int model_fit(const std::vector<std::string>& arguments);
int model_predict(const std::vector<std::string>& arguments);

/// `corun model eval --split ...`: cross-validation over tables of pairs.
int model_cross_validate(const std::vector<std::string>& tables, const std::string& split,
                         std::size_t queues, std::uint64_t seed, const CommonOptions& common);

}  // namespace corun
