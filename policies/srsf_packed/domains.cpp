#include "policies/srsf_packed/domains.hpp"

#include <algorithm>

namespace corun::inline policies::srsf {

bool is_wide(const ClusterView& view, const JobView& job) {
  return std::ranges::none_of(view.cluster().nodes, [&](const NodeSpec& node) {
    return node.gpus >= job.gpus && may_run_on(job, node.gpu);
  });
}

}  // namespace corun::inline policies::srsf
