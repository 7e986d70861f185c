#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "sim/cluster_view.hpp"

/// Policies of one's own in a shared library, which the program corun loads: CORUN_POLICIES=./libmine.so corun replay.
/// The library is built with find_package(corun) and takes what it calls from the program (docs/install.md).
namespace corun::inline policies {

/// The path of every library of CORUN_POLICIES, and the policies that they brought.
struct PolicyLibrary {
  std::string path;
  std::vector<PolicyEntry> policies;
};

/// Loads the libraries of a list "FILE:FILE..."; they stay loaded to the end of the program. Throws InputError, with
/// CORUN_POLICIES as its place, for one that is none, that was built against other headers or by another compiler, and
/// for a policy whose name or alias is in `taken` or in an earlier library.
std::vector<PolicyLibrary> load_policies(std::string_view list, std::span<const PolicyEntry> taken);

/// Those of the environment variable CORUN_POLICIES, loaded at the first call, as policy_catalog() does.
const std::vector<PolicyLibrary>& policy_libraries();

/// The sizes of what crosses the border between program and library, by its version and the compiler's. They are the same in
/// both or the library is refused.
using PluginAbi = std::array<std::uint64_t, 8>;
inline constexpr PluginAbi kPluginAbi{1,
                                      __GXX_ABI_VERSION,
                                      sizeof(std::string),
                                      sizeof(PolicyEntry),
                                      sizeof(PolicyContext),
                                      sizeof(JobView),
                                      sizeof(ClusterView),
                                      sizeof(Decision)};

}  // namespace corun::inline policies

/// In one source of a library, at namespace scope: CORUN_POLICY_LIBRARY(my_entry(), other_entry())
#define CORUN_POLICY_LIBRARY(...)                                                   \
  extern "C" {                                                                      \
  [[gnu::visibility("default")]] extern const corun::PluginAbi corun_plugin_abi;    \
  const corun::PluginAbi corun_plugin_abi = corun::kPluginAbi;                      \
  [[gnu::visibility("default")]] void corun_plugin_policies(                        \
      std::vector<corun::PolicyEntry>& out) {                                       \
    for (corun::PolicyEntry entry : {__VA_ARGS__}) out.push_back(std::move(entry)); \
  }                                                                                 \
  }
