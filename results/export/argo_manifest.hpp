#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/export/container_csv.hpp"

/// The output of the Job Recommendation Service (JRS paper, sections II and III) for Kubernetes:
/// groups of jobs that should share a GPU become one Argo Workflow. Each group is a pod, each job a
/// container of it. `kubectl create -f` or `argo submit` starts the workflow.
///
/// **How the containers of a pod share one physical GPU.** Being in one pod does not suffice: the
/// kubelet asks the device plugin for each container separately, so two containers that request
/// `nvidia.com/gpu: 1` get two GPUs. A time-sliced resource (`nvidia.com/gpu.shared` with the
/// NVIDIA plugin's `renameByDefault`) does not suffice either: the plugin picks the GPU with the
/// fewest allocated slices, so on a node with several GPUs the second container gets another GPU.
/// Two arrangements work, and the manifest uses one of them:
///
///   shared resource  every container requests one slice, and the pod may only run where there is
///                    no other GPU to be given (ArgoOptions::node_selector, by default the label by
///                    which GPU Feature Discovery counts the GPUs of a node). A required
///                    anti-affinity keeps pods of all such workflows on different nodes, so that no
///                    two groups mix on a GPU that has slices left. The node must offer as many
///                    slices as the largest group has jobs. Pods that no node suits stay pending.
///   claim            with ArgoOptions::claim_template: the pod has one claim of Dynamic Resource
///                    Allocation (Kubernetes 1.34, the driver of the GPU's maker) and all its
///                    containers refer to it, which is sharing by definition, on nodes of any size.
///                    The ResourceClaimTemplate must exist in the namespace and ask for one GPU.
///                    The claim goes in by podSpecPatch: Argo's templates have no field for it.
///
/// A job that runs alone gets a pod with one container under the same rules, so no job joins it.
/// Every job uses one GPU; gangs are not supported.
///
/// **Order.** The entry template is a DAG without edges. Argo starts such tasks in the order of
/// their names, at most `gpus` at a time, so tasks are numbered with leading zeros. One failed pod
/// does not stop the others.
///
/// **Names.** Kubernetes requires RFC 1123 labels, but jobs may have any name. argo_names() derives
/// the names of the containers. The pod's annotation `corun/jobs` has the names of the jobs, a JSON
/// object {container: job} in which '{' is written \u007b, because Argo reads "{{" as the start of
/// a variable. Reason and expectations are annotations, too.
///
/// Fields follow Argo Workflows 3.5 and 3.6. Claims in containers need an Argo built with the
/// libraries of Kubernetes 1.26 or later; older ones drop them silently.
namespace corun::inline results {

struct ArgoGroup {
  std::vector<std::string> jobs;     ///< one or more
  std::string reason;                ///< why they share; empty: no annotation
  std::vector<double> expected_isd;  ///< one fraction per job, NaN: unknown; empty: no annotation
  std::optional<double> expected_ps = {};  ///< fraction; NaN: no annotation
};

/// Pods in order of their start: the groups, then the jobs that run alone. No job may occur twice.
struct ArgoPlan {
  std::vector<ArgoGroup> groups;
  std::vector<std::string> alone;
};

struct ArgoOptions {
  std::string name = "corun";  ///< of the workflow; Kubernetes appends a unique ending
  int gpus = 1;                ///< most pods at a time
  std::string gpu_resource = "nvidia.com/gpu.shared";
  /// Labels of the nodes to use; for a shared resource they must select nodes with one GPU.
  std::map<std::string, std::string> node_selector = {{"nvidia.com/gpu.count", "1"}};
  /// Name of a ResourceClaimTemplate for sharing by claim, without gpu_resource and node_selector.
  std::string claim_template;
};

/// The manifest as YAML; the same input gives the same bytes. Without `containers` every image is a
/// workflow parameter without a value, `image-CONTAINER`, which Argo requires at submission. Throws
/// InputError for an option that Kubernetes would refuse and for a job that `containers` lacks
/// (rows of other jobs are ignored), std::logic_error for a plan without jobs, an empty group, a
/// repeated job, or a number of expected_isd other than none or one per job.
std::string argo_manifest(const ArgoPlan& plan, const ArgoOptions& options,
                          const ContainerTable* containers = nullptr);

/// A unique RFC 1123 label for each of these distinct names: the name itself if it is such a label,
/// else its valid characters and a hash of the name. Never `init`, `wait` or `main`, which Argo
/// uses.
std::vector<std::string> argo_names(std::span<const std::string> jobs);

}  // namespace corun::inline results
