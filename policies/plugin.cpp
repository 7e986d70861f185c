#include "policies/plugin.hpp"

#include <algorithm>
#include <utility>

#include <dlfcn.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline policies {
namespace {

constexpr const char* kVariable = "CORUN_POLICIES";

template <typename T>
T* symbol(void* library, const char* name) {
  return reinterpret_cast<T*>(::dlsym(library, name));  // NOLINT: the interface of dlsym
}

std::vector<PolicyEntry> policies_of(const std::string& path) {
  const auto refuse = [&](const std::string& text) {
    throw InputError(kVariable, "'" + printable(path) + "' " + text);
  };
  // A name without a slash would be looked up where libraries of the system are.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    refuse("cannot be loaded, expected a shared library of policies (docs/install.md): " +
           printable(why == nullptr ? "" : why, 300));
  }
  const auto* const abi = symbol<const PluginAbi>(library, "corun_plugin_abi");
  auto* const policies = symbol<void(std::vector<PolicyEntry>&)>(library, "corun_plugin_policies");
  if (abi == nullptr || policies == nullptr) {
    refuse("has no policies, expected a library with CORUN_POLICY_LIBRARY(...); add it");
  }
  if (*abi != kPluginAbi) {
    refuse("was built for another corun or by another compiler; build it again");
  }
  std::vector<PolicyEntry> found;
  policies(found);
  return found;
}

/// The first of these policies that answers to the name; null: none.
const PolicyEntry* called(std::span<const PolicyEntry> policies, std::string_view name) {
  const auto found = std::ranges::find_if(
      policies, [&](const PolicyEntry& entry) { return !name.empty() && entry.is_called(name); });
  return found == policies.end() ? nullptr : &*found;
}

}  // namespace

std::vector<PolicyLibrary> load_policies(std::string_view list,
                                         std::span<const PolicyEntry> taken) {
  std::vector<PolicyLibrary> libraries;
  std::vector<PolicyEntry> all(taken.begin(), taken.end());
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    const std::string path(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (path.empty()) continue;
    PolicyLibrary library{path, policies_of(path)};
    for (const PolicyEntry& entry : library.policies) {
      const bool complete = !entry.name.empty() && entry.make != nullptr;
      if (!complete || called(all, entry.name) != nullptr || called(all, entry.alias) != nullptr) {
        throw InputError(kVariable, "'" + printable(path) + "' has a policy '" +
                                        printable(std::string(entry.name)) + "', " +
                                        (complete ? "expected a name that no other policy has"
                                                  : "expected one with a name and a factory"));
      }
      all.push_back(entry);
    }
    libraries.push_back(std::move(library));
  }
  return libraries;
}

}  // namespace corun::inline policies
