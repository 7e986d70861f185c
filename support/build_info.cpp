#include "support/build_info.hpp"

#include "support/build_constants.hpp"  // written by cmake/build_info.cmake

namespace corun::inline support {

std::string version() { return kVersion; }
std::string commit() { return kCommit; }

}  // namespace corun::inline support
