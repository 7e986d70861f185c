#pragma once

#include <string>
#include <vector>

/// The configurations that come with corun, as `corun list experiments` lists them.
namespace corun::inline evaluation {

struct ShippedExperiment {
  std::string path;  ///< for `corun replay`, or for `corun live run` if the description says so
  std::string description;  ///< the first sentence of the comment that opens the file
};

/// The configurations under experiments/ in the working directory, else in the checkout of the program's
/// build; sorted by path. Throws InputError if there are none.
std::vector<ShippedExperiment> shipped_experiments();

}  // namespace corun::inline evaluation
