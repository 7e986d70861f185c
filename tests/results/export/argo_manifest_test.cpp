#include "results/export/argo_manifest.hpp"

#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include "sim/error.hpp"
#include "sim/rng.hpp"

namespace corun::argo_manifest_test {
namespace {

/// Fields of an object by name, each with the type of its value.
using Fields = std::map<std::string, std::string>;

/// The published field references, as far as Argo Workflows 3.5 and 3.6 agree (Workflow to
/// ContainerNode) and of Kubernetes 1.31 (the rest). Types: text, number, flag; [T] a list, {} a
/// map from text to text; `any` for fields that our manifests do not use.
const std::map<std::string, Fields> kTypes = {
    {"Workflow",
     {{"apiVersion", "text"},
      {"kind", "text"},
      {"metadata", "ObjectMeta"},
      {"spec", "WorkflowSpec"},
      {"status", "any"}}},
    {"ObjectMeta",
     {{"annotations", "{}"},
      {"finalizers", "any"},
      {"generateName", "text"},
      {"labels", "{}"},
      {"name", "text"},
      {"namespace", "text"}}},
    {"WorkflowSpec",
     {{"activeDeadlineSeconds", "number"},
      {"affinity", "Affinity"},
      {"archiveLogs", "flag"},
      {"arguments", "Arguments"},
      {"artifactGC", "any"},
      {"artifactRepositoryRef", "any"},
      {"automountServiceAccountToken", "flag"},
      {"dnsConfig", "any"},
      {"dnsPolicy", "text"},
      {"entrypoint", "text"},
      {"executor", "any"},
      {"hooks", "any"},
      {"hostAliases", "any"},
      {"hostNetwork", "flag"},
      {"imagePullSecrets", "any"},
      {"metrics", "any"},
      {"nodeSelector", "{}"},
      {"onExit", "text"},
      {"parallelism", "number"},
      {"podDisruptionBudget", "any"},
      {"podGC", "any"},
      {"podMetadata", "Metadata"},
      {"podPriorityClassName", "text"},
      {"podSpecPatch", "text"},
      {"priority", "number"},
      {"retryStrategy", "any"},
      {"schedulerName", "text"},
      {"securityContext", "any"},
      {"serviceAccountName", "text"},
      {"shutdown", "text"},
      {"suspend", "flag"},
      {"synchronization", "any"},
      {"templateDefaults", "any"},
      {"templates", "[Template]"},
      {"tolerations", "any"},
      {"ttlStrategy", "any"},
      {"volumeClaimGC", "any"},
      {"volumeClaimTemplates", "any"},
      {"volumes", "any"},
      {"workflowMetadata", "any"},
      {"workflowTemplateRef", "any"}}},
    {"Metadata", {{"annotations", "{}"}, {"labels", "{}"}}},
    {"Arguments", {{"artifacts", "any"}, {"parameters", "[Parameter]"}}},
    {"Parameter",
     {{"default", "text"},
      {"description", "text"},
      {"enum", "any"},
      {"globalName", "text"},
      {"name", "text"},
      {"value", "text"},
      {"valueFrom", "any"}}},
    {"Template",
     {{"activeDeadlineSeconds", "any"},
      {"affinity", "Affinity"},
      {"annotations", "{}"},
      {"archiveLocation", "any"},
      {"automountServiceAccountToken", "flag"},
      {"container", "any"},
      {"containerSet", "ContainerSetTemplate"},
      {"daemon", "flag"},
      {"dag", "DAGTemplate"},
      {"data", "any"},
      {"executor", "any"},
      {"failFast", "flag"},
      {"hostAliases", "any"},
      {"http", "any"},
      {"initContainers", "any"},
      {"inputs", "any"},
      {"memoize", "any"},
      {"metadata", "Metadata"},
      {"metrics", "any"},
      {"name", "text"},
      {"nodeSelector", "{}"},
      {"outputs", "any"},
      {"parallelism", "number"},
      {"plugin", "any"},
      {"podSpecPatch", "text"},
      {"priorityClassName", "text"},
      {"resource", "any"},
      {"retryStrategy", "any"},
      {"schedulerName", "text"},
      {"script", "any"},
      {"securityContext", "any"},
      {"serviceAccountName", "text"},
      {"sidecars", "any"},
      {"steps", "any"},
      {"suspend", "any"},
      {"synchronization", "any"},
      {"timeout", "text"},
      {"tolerations", "any"},
      {"volumes", "any"}}},
    {"DAGTemplate", {{"failFast", "flag"}, {"target", "text"}, {"tasks", "[DAGTask]"}}},
    {"DAGTask",
     {{"arguments", "Arguments"},
      {"continueOn", "any"},
      {"dependencies", "[text]"},
      {"depends", "text"},
      {"hooks", "any"},
      {"inline", "any"},
      {"name", "text"},
      {"onExit", "text"},
      {"template", "text"},
      {"templateRef", "any"},
      {"when", "text"},
      {"withItems", "any"},
      {"withParam", "text"},
      {"withSequence", "any"}}},
    {"ContainerSetTemplate",
     {{"containers", "[ContainerNode]"}, {"retryStrategy", "any"}, {"volumeMounts", "any"}}},
    {"ContainerNode",
     {{"args", "[text]"},
      {"command", "[text]"},
      {"dependencies", "[text]"},
      {"env", "any"},
      {"envFrom", "any"},
      {"image", "text"},
      {"imagePullPolicy", "text"},
      {"lifecycle", "any"},
      {"livenessProbe", "any"},
      {"name", "text"},
      {"ports", "any"},
      {"readinessProbe", "any"},
      {"resizePolicy", "any"},
      {"resources", "ResourceRequirements"},
      {"restartPolicy", "text"},
      {"securityContext", "any"},
      {"startupProbe", "any"},
      {"stdin", "flag"},
      {"stdinOnce", "flag"},
      {"terminationMessagePath", "text"},
      {"terminationMessagePolicy", "text"},
      {"tty", "flag"},
      {"volumeDevices", "any"},
      {"volumeMounts", "any"},
      {"workingDir", "text"}}},
    {"ResourceRequirements", {{"claims", "[ResourceClaim]"}, {"limits", "{}"}, {"requests", "{}"}}},
    {"ResourceClaim", {{"name", "text"}, {"request", "text"}}},
    {"Affinity",
     {{"nodeAffinity", "any"}, {"podAffinity", "any"}, {"podAntiAffinity", "PodAntiAffinity"}}},
    {"PodAntiAffinity",
     {{"preferredDuringSchedulingIgnoredDuringExecution", "any"},
      {"requiredDuringSchedulingIgnoredDuringExecution", "[PodAffinityTerm]"}}},
    {"PodAffinityTerm",
     {{"labelSelector", "LabelSelector"},
      {"matchLabelKeys", "[text]"},
      {"mismatchLabelKeys", "[text]"},
      {"namespaceSelector", "any"},
      {"namespaces", "[text]"},
      {"topologyKey", "text"}}},
    {"LabelSelector", {{"matchExpressions", "any"}, {"matchLabels", "{}"}}},
};

const std::map<std::string, std::vector<std::string>> kRequired = {
    {"Workflow", {"apiVersion", "kind", "metadata", "spec"}},
    {"WorkflowSpec", {"entrypoint", "templates"}},
    {"Template", {"name"}},
    {"Parameter", {"name"}},
    {"DAGTemplate", {"tasks"}},
    {"DAGTask", {"name", "template"}},
    {"ContainerSetTemplate", {"containers"}},
    {"ContainerNode", {"name", "image"}},
    {"ResourceClaim", {"name"}},
    {"PodAffinityTerm", {"topologyKey"}},
};

void check_type(const YAML::Node& node, const std::string& type, const std::string& path) {
  SCOPED_TRACE(path);
  if (type == "any") {
    ADD_FAILURE() << "not a field that a manifest of ours has";
  } else if (type == "text") {
    ASSERT_TRUE(node.IsScalar());
    // An unquoted text must not be read as something else.
    bool flag = false;
    double number = 0;
    EXPECT_TRUE(node.Tag() == "!" || (!YAML::convert<bool>::decode(node, flag) &&
                                      !YAML::convert<double>::decode(node, number) &&
                                      node.Scalar() != "null" && node.Scalar() != "~"));
  } else if (type == "number") {
    EXPECT_NO_THROW(node.as<int>());
  } else if (type == "flag") {
    EXPECT_NO_THROW(node.as<bool>());
  } else if (type == "{}") {
    ASSERT_TRUE(node.IsMap());
    for (const auto& entry : node) EXPECT_TRUE(entry.second.IsScalar());
  } else if (type.front() == '[') {
    ASSERT_TRUE(node.IsSequence());
    EXPECT_GT(node.size(), 0U);
    for (std::size_t i = 0; i < node.size(); ++i) {
      check_type(node[i], type.substr(1, type.size() - 2), path + "[" + std::to_string(i) + "]");
    }
  } else {
    ASSERT_TRUE(node.IsMap());
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const auto key = entry.first.as<std::string>();
      EXPECT_TRUE(seen.insert(key).second) << "twice: " << key;
      const auto field = kTypes.at(type).find(key);
      if (field == kTypes.at(type).end()) {
        ADD_FAILURE() << type << " has no field " << key;
        continue;
      }
      std::string below = path;
      below.append(".").append(key);
      check_type(entry.second, field->second, below);
    }
    if (kRequired.count(type) == 0) return;
    for (const std::string& key : kRequired.at(type)) {
      EXPECT_EQ(seen.count(key), 1U) << type << " lacks " << key;
    }
  }
}

bool is_rfc1123(const std::string& name) {
  if (name.empty() || name.size() > 63 || name.front() == '-' || name.back() == '-') return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

std::string text_of(const YAML::Node& node) { return node.as<std::string>(); }

/// Checks the invariants of any plan and returns the document.
YAML::Node checked(const ArgoPlan& plan, const ArgoOptions& options,
                   const ContainerTable* containers = nullptr) {
  const std::string text = argo_manifest(plan, options, containers);
  EXPECT_EQ(text, argo_manifest(plan, options, containers));
  const std::vector<YAML::Node> documents = YAML::LoadAll(text);
  EXPECT_EQ(documents.size(), 1U);
  YAML::Node workflow = documents.front();
  check_type(workflow, "Workflow", "Workflow");
  EXPECT_EQ(text_of(workflow["apiVersion"]), "argoproj.io/v1alpha1");
  EXPECT_EQ(text_of(workflow["kind"]), "Workflow");
  EXPECT_EQ(text_of(workflow["metadata"]["generateName"]), options.name + "-");

  std::vector<std::vector<std::string>> expected;
  for (const ArgoGroup& group : plan.groups) expected.push_back(group.jobs);
  for (const std::string& job : plan.alone) expected.push_back({job});

  const YAML::Node spec = workflow["spec"];
  EXPECT_EQ(spec["parallelism"].as<int>(), options.gpus);
  std::map<std::string, YAML::Node> templates;
  for (const auto& t : spec["templates"]) {
    const int kinds = (t["dag"] ? 1 : 0) + (t["containerSet"] ? 1 : 0);
    EXPECT_EQ(kinds, 1) << "a template is of exactly one kind";
    EXPECT_TRUE(is_rfc1123(text_of(t["name"])));
    EXPECT_TRUE(templates.emplace(text_of(t["name"]), t).second) << "twice: " << t["name"];
  }
  EXPECT_EQ(templates.size(), expected.size() + 1);
  std::set<std::string> parameters;
  if (spec["arguments"]) {
    for (const auto& p : spec["arguments"]["parameters"]) {
      EXPECT_TRUE(parameters.insert(text_of(p["name"])).second);
      EXPECT_FALSE(p["value"]);
    }
  }
  const auto entry = templates.find(text_of(spec["entrypoint"]));
  if (entry == templates.end() || !entry->second["dag"]) {
    ADD_FAILURE() << "no entry template";
    return workflow;
  }
  const YAML::Node tasks = entry->second["dag"]["tasks"];
  EXPECT_FALSE(entry->second["dag"]["failFast"].as<bool>());
  EXPECT_EQ(tasks.size(), expected.size());
  std::set<std::string> containers_seen;
  std::set<std::string> used;
  std::string previous;
  for (std::size_t p = 0; p < tasks.size(); ++p) {
    const std::string name = text_of(tasks[p]["name"]);
    EXPECT_LT(previous, name) << "the order of names is the order of the queue";
    previous = name;
    const auto pod = templates.find(text_of(tasks[p]["template"]));
    if (pod == templates.end() || !pod->second["containerSet"]) {
      ADD_FAILURE() << "no template for " << name;
      continue;
    }
    EXPECT_TRUE(used.insert(pod->first).second) << "one pod per group";
    const YAML::Node notes = pod->second["metadata"]["annotations"];
    for (const auto& note : notes) {
      EXPECT_EQ(text_of(note.second).find("{{"), std::string::npos) << "Argo would expand it";
    }
    const auto jobs = nlohmann::json::parse(text_of(notes["corun/jobs"]));
    const YAML::Node list = pod->second["containerSet"]["containers"];
    EXPECT_EQ(list.size(), expected[p].size());
    EXPECT_EQ(jobs.size(), expected[p].size());
    for (std::size_t c = 0; c < std::min<std::size_t>(list.size(), expected[p].size()); ++c) {
      const std::string container = text_of(list[c]["name"]);
      EXPECT_TRUE(is_rfc1123(container)) << container;
      EXPECT_TRUE(container != "init" && container != "wait" && container != "main");
      EXPECT_TRUE(containers_seen.insert(container).second) << "twice: " << container;
      EXPECT_EQ(jobs.at(container).get<std::string>(), expected[p][c]);
      const YAML::Node resources = list[c]["resources"];
      if (options.claim_template.empty()) {
        EXPECT_EQ(resources["limits"].size(), 1U);
        EXPECT_EQ(resources["limits"][options.gpu_resource].as<int>(), 1);
        EXPECT_FALSE(resources["claims"]);
      } else {
        EXPECT_EQ(text_of(resources["claims"][0]["name"]), "gpu");
        EXPECT_FALSE(resources["limits"]);
      }
      if (containers == nullptr) {
        EXPECT_EQ(text_of(list[c]["image"]), "{{workflow.parameters.image-" + container + "}}");
        EXPECT_EQ(parameters.erase("image-" + container), 1U);
      } else {
        EXPECT_EQ(text_of(list[c]["image"]), containers->jobs.at(expected[p][c]).image);
      }
    }
    if (!options.claim_template.empty()) {
      const YAML::Node patch = YAML::Load(text_of(pod->second["podSpecPatch"]));
      EXPECT_EQ(patch.size(), 1U);
      EXPECT_EQ(text_of(patch["resourceClaims"][0]["name"]), "gpu");
      EXPECT_EQ(text_of(patch["resourceClaims"][0]["resourceClaimTemplateName"]),
                options.claim_template);
    }
  }
  EXPECT_TRUE(parameters.empty()) << "declared, used by nobody";
  return workflow;
}

ArgoPlan small_plan() {
  return {{{{"vgg16-a", "ResNet50_B"}, "cluster pair 0-2", {0.123, 0.08}, 0.31},
           {{"x", "y", "z"}, "bin of 3", {}, {}}},
          {"lonely"}};
}

std::string refusal(const ArgoOptions& options, const ContainerTable* containers = nullptr) {
  try {
    argo_manifest(small_plan(), options, containers);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(ArgoManifest, OnePodPerGroupWithReasonsAndExpectations) {
  ArgoOptions options;
  options.gpus = 4;
  const YAML::Node spec = checked(small_plan(), options)["spec"];
  const YAML::Node notes = spec["templates"][1]["metadata"]["annotations"];
  EXPECT_EQ(text_of(notes["corun/reason"]), "cluster pair 0-2");
  EXPECT_EQ(text_of(notes["corun/expected-isd-percent"]), "12.3, 8.0");
  EXPECT_EQ(text_of(notes["corun/expected-ps-percent"]), "31.0");
  EXPECT_EQ(text_of(spec["templates"][3]["metadata"]["annotations"]["corun/reason"]), "alone");
}

// The nodes on which a pod may run determine whether its containers share one GPU.
TEST(ArgoManifest, SharedResourceRunsOnNodesWithOneGpuAndOnePod) {
  const YAML::Node spec = checked(small_plan(), {})["spec"];
  EXPECT_EQ(text_of(spec["nodeSelector"]["nvidia.com/gpu.count"]), "1");
  const YAML::Node term =
      spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0];
  EXPECT_EQ(text_of(term["topologyKey"]), "kubernetes.io/hostname");
  for (const auto& label : term["labelSelector"]["matchLabels"]) {
    EXPECT_EQ(text_of(spec["podMetadata"]["labels"][text_of(label.first)]), text_of(label.second));
  }
}

TEST(ArgoManifest, ClaimIsSharedByAllContainersOfAPodOnAnyNode) {
  ArgoOptions options;
  options.claim_template = "one-gpu";
  const YAML::Node spec = checked(small_plan(), options)["spec"];
  EXPECT_FALSE(spec["nodeSelector"]);
  EXPECT_FALSE(spec["affinity"]);
}

TEST(ArgoManifest, ContainersComeFromTheTable) {
  std::istringstream in(
      "job,image,command,args\n"
      "vgg16-a,repo/vgg:1,python train.py,\"--lr 0.1 --name 'a b' \"\"c \\\"\" d\"\" e\\ f ''\"\n"
      "ResNet50_B,repo/res@sha256:0,,\nx,i,,\ny,i,,{{workflow.name}}\nz,i,true,\nlonely,i,,\n"
      "stranger,i,,\n");
  const ContainerTable table = read_container_csv(in, "c.csv");
  const YAML::Node spec = checked(small_plan(), {}, &table)["spec"];
  EXPECT_FALSE(spec["arguments"]);
  const YAML::Node list = spec["templates"][1]["containerSet"]["containers"];
  EXPECT_EQ(list[0]["command"].as<std::vector<std::string>>(),
            (std::vector<std::string>{"python", "train.py"}));
  EXPECT_EQ(list[0]["args"].as<std::vector<std::string>>(),
            (std::vector<std::string>{"--lr", "0.1", "--name", "a b", "c \" d", "e f", ""}));
  EXPECT_FALSE(list[1]["command"]);
  EXPECT_FALSE(list[1]["args"]);
}

TEST(ArgoManifest, RefusesATableThatLacksAJob) {
  std::istringstream in("job,image\nx,i\n");
  const ContainerTable table = read_container_csv(in, "c.csv");
  EXPECT_EQ(refusal({}, &table),
            "c.csv: no row for job 'vgg16-a', expected one for every job of the plan; add it");
}

TEST(ArgoManifest, RefusesOptionsThatKubernetesWouldRefuse) {
  ArgoOptions options;
  options.name = "Night run";
  EXPECT_EQ(refusal(options).rfind("workflow name: found 'Night run', expected", 0), 0U);
  options.name = std::string(58, 'a');
  EXPECT_EQ(refusal(options).rfind("workflow name: found", 0), 0U);
  options = {};
  options.gpus = 0;
  EXPECT_EQ(refusal(options), "number of GPUs: found '0', expected 1 or more");
  options = {};
  for (const char* bad : {"gpu", "nvidia.com/", "/gpu", "a b/c", "nvidia..com/gpu", "n.com/g:u"}) {
    options.gpu_resource = bad;
    EXPECT_EQ(refusal(options).rfind("--gpu-resource: found", 0), 0U) << bad;
  }
  options = {};
  options.node_selector = {};
  EXPECT_EQ(refusal(options).rfind("node selector: found none", 0), 0U);
  options.node_selector = {{"a b", "1"}};
  EXPECT_EQ(refusal(options).rfind("node selector: found 'a b'", 0), 0U);
  options = {};
  options.claim_template = "One GPU";
  EXPECT_EQ(refusal(options).rfind("--claim-template: found 'One GPU'", 0), 0U);
}

TEST(ArgoManifest, PlansThatAreNoneAreMistakesOfTheCaller) {
  EXPECT_THROW(argo_manifest({}, {}), std::logic_error);
  EXPECT_THROW(argo_manifest({{{{}, "", {}, {}}}, {}}, {}), std::logic_error);
  EXPECT_THROW(argo_manifest({{{{"a", "a"}, "", {}, {}}}, {}}, {}), std::logic_error);
  EXPECT_THROW(argo_manifest({{{{"a", "b"}, "", {0.1}, {}}}, {}}, {}), std::logic_error);
}

TEST(ArgoManifest, NamesDependOnTheJobAlone) {
  const std::vector<std::string> one = {"a", "Vgg 16", "main"};
  const std::vector<std::string> two = {"main", "VGG_16", "Vgg 16", "b", "a"};
  const auto first = argo_names(one);
  const auto second = argo_names(two);
  EXPECT_EQ(first[0], "a");
  EXPECT_EQ(first[1], second[2]);
  EXPECT_EQ(first[2], second[0]);
  EXPECT_NE(second[1], second[2]);
  EXPECT_EQ(first[1].rfind("vgg-16-", 0), 0U);
  // A name that equals the generated label of another job keeps it; the other job gets a new label.
  const std::vector<std::string> clash = {"Vgg 16", first[1]};
  EXPECT_EQ(argo_names(clash)[1], first[1]);
  EXPECT_EQ(argo_names(clash)[0], first[1] + "-2");
}

TEST(ArgoManifest, TheThousandthPodStillComesLast) {
  ArgoPlan plan;
  for (int j = 0; j < 1001; ++j) plan.alone.push_back("j" + std::to_string(j));
  checked(plan, {});
}

// Names of characters that YAML, JSON, Argo and Kubernetes treat specially.
TEST(ArgoManifest, AnyPlanOfAnyNamesIsAValidWorkflow) {
  const std::vector<std::string> pieces = {
      "a",   "B",  "7",          "-",      "_",    ".",    "/",    " ",   "'", "\"",
      "\\",  "{",  "{{",         "}}",     "#",    ": ",   "- ",   "&",   "*", "!",
      "|",   ">",  "%",          "@",      "`",    "null", "true", "1e3", "~", "\t",
      "é",   "漢", "\U0001F600", "\u2028", "\\n",  "[",    "]",    ",",   "?", "---",
      "...", "<<", "{{=1}}",     "\x7f",   "init", "wait"};
  for (std::uint64_t run = 0; run < 300; ++run) {
    SCOPED_TRACE(run);
    Rng rng(run, Stream::kTest);
    const auto below = [&](std::size_t n) {
      return std::min(static_cast<std::size_t>(rng.uniform() * static_cast<double>(n)), n - 1);
    };
    std::set<std::string> names;
    const auto fresh = [&] {
      for (;;) {
        std::string name;
        const std::size_t length = 1 + below(run % 10 == 0 ? 200 : 6);
        for (std::size_t i = 0; i < length; ++i) name += pieces[below(pieces.size())];
        if (names.insert(name).second) return name;
      }
    };
    ArgoPlan plan;
    ContainerTable table{"c.csv", {}};
    for (std::size_t g = below(5); g > 0; --g) {
      ArgoGroup group;
      for (std::size_t j = 1 + below(5); j > 0; --j) group.jobs.push_back(fresh());
      group.reason = fresh();
      if (below(2) == 0) group.expected_ps = std::numeric_limits<double>::quiet_NaN();
      plan.groups.push_back(std::move(group));
    }
    for (std::size_t j = below(4); j > 0 || (plan.groups.empty() && plan.alone.empty()); --j) {
      plan.alone.push_back(fresh());
      if (j == 0) break;
    }
    for (const std::string& name : names) table.jobs[name] = {fresh(), {fresh()}, {fresh(), ""}};
    ArgoOptions options;
    options.gpus = static_cast<int>(1 + below(8));
    if (run % 3 == 0) options.claim_template = "gpu.team-a";
    checked(plan, options, run % 2 == 0 ? &table : nullptr);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace corun::argo_manifest_test
