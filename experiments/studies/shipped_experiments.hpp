#pragma once

#include <string>
#include <vector>

/// The configurations that come with corun, as `corun list experiments` lists them.
namespace corun {

struct ShippedExperiment {
  std::string
      path;  ///< to give to `corun replay`, or to `corun live run` where the description says so
  std::string description;  ///< the first sentence of the comment that opens the file
};

/// Those under experiments/ in the working directory, else those of the checkout that the program was
/// built in; by path. InputError where there are none.
std::vector<ShippedExperiment> shipped_experiments();

}  // namespace corun
