#include "traces/workload_names.hpp"

#include <stdexcept>

namespace corun::inline traces {

std::string workload_text(std::string_view model, int batch_size, int epochs) {
  return std::string(model) + "/bs=" + std::to_string(batch_size) +
         "/epochs=" + std::to_string(epochs);
}

WorkloadKey WorkloadKeys::of(std::string_view text) {
  if (text.empty()) return kUnknownWorkload;
  if (const auto it = by_text_.find(text); it != by_text_.end()) return it->second;
  const auto key = static_cast<WorkloadKey>(texts_.size());
  if (key == kUnknownWorkload) throw std::length_error("more workloads than keys");
  by_text_.emplace(texts_.emplace_back(text), key);
  return key;
}

WorkloadKey WorkloadKeys::of(std::string_view model, int batch_size, int epochs) {
  return of(workload_text(model, batch_size, epochs));
}

std::optional<WorkloadKey> WorkloadKeys::find(std::string_view text) const {
  const auto it = by_text_.find(text);
  if (it == by_text_.end()) return std::nullopt;
  return it->second;
}

const std::string& WorkloadKeys::text(WorkloadKey key) const {
  static const std::string kNone;
  if (key == kUnknownWorkload) return kNone;
  if (key >= texts_.size()) throw std::logic_error("a workload key of another WorkloadKeys");
  return texts_[key];
}

}  // namespace corun::inline traces
