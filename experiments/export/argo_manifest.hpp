#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/export/container_csv.hpp"

/// The hand-off of the Job Recommendation Service (JRS paper, sections II and III): groups of jobs
/// that should share a GPU become one Argo Workflow in which every group is one pod and every job
/// one container of it. `kubectl create -f` or `argo submit` takes it from there.
///
/// **What makes the containers of a pod share one physical GPU.** Not the pod: the kubelet asks the
/// device plugin for each container apart, so two containers that request `nvidia.com/gpu: 1` get
/// two GPUs. A time-sliced resource (`nvidia.com/gpu.shared` with the NVIDIA plugin's
/// `renameByDefault`) is no cure by itself either: the plugin hands out the slice of the GPU that
/// has given away fewest, so on a node with several GPUs the second container gets another one. Two
/// arrangements do work, and the manifest asks for one of them:
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
/// A job that is to run alone gets a pod with one container, under the same rules, so nobody joins
/// it. Jobs take one GPU each; gangs have no place here.
///
/// **Order.** The entry template is a DAG without edges. Argo starts such tasks in the order of
/// their names, at most `gpus` at a time, so tasks are numbered with leading zeros. One failed pod
/// does not stop the others.
///
/// **Names.** Kubernetes wants RFC 1123 labels, jobs are called anything. Containers get names that
/// depend on nothing but the job's (argo_names); what the jobs are called stands in the pod's
/// annotation `corun/jobs`, a JSON object {container: job} in which '{' is written \u007b, since
/// Argo would take "{{" for one of its variables. Reason and expectations are annotations too.
///
/// Fields as of Argo Workflows 3.5 and 3.6. Claims in containers need an Argo that is built with
/// the libraries of Kubernetes 1.26 or later: an older one drops them silently.
namespace corun {

struct ArgoGroup {
  std::vector<std::string> jobs;           ///< one or more
  std::string reason;                      ///< why they share; empty: not said
  std::vector<double> expected_isd;        ///< one fraction per job, NaN unknown; empty: not said
  std::optional<double> expected_ps = {};  ///< fraction; NaN counts as not said
};

/// Pods in the order in which they are to start: the groups, then the jobs that run alone. No job
/// occurs twice.
struct ArgoPlan {
  std::vector<ArgoGroup> groups;
  std::vector<std::string> alone;
};

struct ArgoOptions {
  std::string name = "corun";  ///< of the workflow; Argo appends a unique ending
  int gpus = 1;                ///< most pods at a time
  std::string gpu_resource = "nvidia.com/gpu.shared";
  /// Labels of the nodes to use; for a shared resource they must leave nodes with one GPU only.
  std::map<std::string, std::string> node_selector = {{"nvidia.com/gpu.count", "1"}};
  /// Name of a ResourceClaimTemplate: share by claim; gpu_resource and node_selector go unused.
  std::string claim_template;
};

/// The manifest as YAML; the same bytes for the same input. Without `containers` every image is a
/// workflow parameter without value, `image-CONTAINER`, which Argo demands at submission.
/// InputError: an option that Kubernetes would refuse, a job that `containers` lacks (rows of other
/// jobs are ignored). std::logic_error: a plan that is none.
std::string argo_manifest(const ArgoPlan& plan, const ArgoOptions& options,
                          const ContainerTable* containers = nullptr);

/// A unique RFC 1123 label for each of these distinct names: the name itself where it is one, else
/// what is left of it and a hash of the whole. Never `init`, `wait` or `main`, which Argo uses.
std::vector<std::string> argo_names(std::span<const std::string> jobs);

}  // namespace corun
