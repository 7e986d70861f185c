#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <nlohmann/json.hpp>

#include "policies/catalog.hpp"
#include "policies/external/external_pairs.hpp"
#include "policies/external/external_program.hpp"
#include "policies/external/external_wakes.hpp"
#include "policies/groups/least_certain_pairs.hpp"
#include "policies/parameters_of.hpp"
#include "policies/users_policy_parameters.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

/// external: a policy written in any language. `command` is started once per replication (no shell; in the
/// working directory) and answers the questions that the control loop asks a built-in policy: one JSON
/// object per line on its standard input, one per line back on its standard output. Its input has the
/// contents of the view of all policies (sim/cluster_view.hpp), with the names of the event log
/// (sim/records/event_log.hpp). Its decisions are checked by the same rules. docs/external-policy.md has the
/// protocol, and examples/policy.py a policy of 30 lines.
///
/// With `belief: configured` the policy has the configured belief, which learns from co-runs and probes
/// as that of min-slowdown. The program may ask it for the expected costs of pairs (external_pairs.hpp).
///
/// The run ends with a PolicyError if an answer is no JSON, has an unknown key or one twice, or comes too late,
/// if the program asks for too many wake-ups (external_wakes.hpp) or ends, or if PolicyContext::stop is set.
/// The program is always reaped.
namespace corun::inline policies {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
/// Jobs among which pairs to probe are chosen, as by the recommender.
constexpr std::size_t kProbedJobs = 256;

template <typename Ids>
Json numbers(const Ids& ids) {
  Json list = Json::array();
  for (const auto id : ids) list.push_back(index(id));
  return list;
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

struct ExternalOptions : UsersPolicyOptions, ExternalProgramOptions {
  std::optional<std::size_t> window = 1000;
};

const ParametersOf<ExternalOptions>& external_parameters() {
  static const auto all =
      ParametersOf<ExternalOptions>()
          .with(external_program_parameters())
          .number("window", &ExternalOptions::window,
                  {0, 1e9,
                   "how many of the waiting jobs, the oldest, are listed in each question; null: "
                   "all"})
          .only_where(jobs_exceed_window)
          .with(users_policy_parameters());
  return all;
}

class External final : public Policy {
 public:
  External(ExternalOptions options, PolicyContext context)
      : window_(options.window.value_or(INT64_MAX)),
        joins_(options.joins),
        seed_(context.seed),
        belief_(std::move(context.belief)),
        program_("external", std::move(options), context.stop) {
    if (!belief_) return;
    pairs_.emplace(*belief_, in_system_);
    if (belief_->learns_from_probes()) probe_planner_.emplace(*belief_, kProbedJobs);
  }

  const Belief* belief() const override { return belief_.get(); }
  ProbePlanner* probe_planner() override { return probe_planner_ ? &*probe_planner_ : nullptr; }
  void probe_ended(const ProbeOutcome& outcome) override {
    if (belief_) belief_->learn_probe(outcome);
  }

  void arrived(const JobView& job, Time) override {
    if (!in_system_.insert(job.id).second) return;  // it is back
    if (job.service != nullptr) services_[job.service->service] = job.service;
    arrivals_.push_back({{"event", "arrive"}, {"job", index(job.id)}, {"asks", asks(job)}});
  }

  void changed(const JobView& job, Time) override {
    events_.push_back({{"event", "change"}, {"job", index(job.id)}, {"asks", asks(job)}});
  }

  void departed(JobId job, LogKind how, Time) override {
    if (how == LogKind::kFinish || how == LogKind::kFail) in_system_.erase(job);
    events_.push_back({{"event", std::string(log_word(how))}, {"job", index(job)}});
  }

  void corun_ended(const EpisodeOutcome& outcome) override {
    if (belief_) belief_->learn(outcome);
    Json members = Json::array();
    for (const MemberOutcome& m : outcome.members) {
      members.push_back({{"job", index(m.job)},
                         {"solo_ns", m.solo.count()},
                         {"corun_ns", m.corun.count()},
                         {"isd", m.isd}});
    }
    events_.push_back({{"event", "co-run"},
                       {"members", std::move(members)},
                       {"length_ns", outcome.length.count()},
                       {"ps", outcome.ps},
                       {"together", outcome.together},
                       {"unfinished", outcome.unfinished}});
  }

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    if (!program_.started()) start(view);
    const bool news = !arrivals_.empty() || !events_.empty();
    program_.obey("wake-ups", [&] { wakes_.new_question(view.now(), news); });
    const auto waiting = view.waiting();
    for (Json& arrival : arrivals_) events_.push_back(std::move(arrival));
    arrivals_.clear();
    Json question;
    question["time_ns"] = view.now().count();
    question["events"] = std::move(events_);
    question["waiting"] = numbers(waiting.first(std::min(waiting.size(), window_)));
    Json& free = question["free"] = Json::array();
    view.empty_gpus().each([&](GpuId g) {
      free.push_back(index(g));
      return true;
    });
    if (wants_residents_) {
      question["residents"] = residents(view);
      question["served_ns"] = served(view, waiting.first(std::min(waiting.size(), window_)));
    }
    for (const auto& [number, service] : services_) question["services"].push_back(seen(*service));
    events_ = Json::array();
    Json answer = program_.ask(question.dump());
    if (wants_pairs_) {
      pairs_->new_turn();
      while (answer.is_object() && answer.size() == 1 && answer.contains("ask")) {
        answer = program_.ask(costs(answer["ask"]));
      }
    }
    read(answer, out);
  }

 private:
  static std::string_view log_word(LogKind kind) {
    switch (kind) {
      case LogKind::kFinish:
        return "finish";
      case LogKind::kOom:
        return "oom";
      case LogKind::kFail:
        return "fail";
      case LogKind::kPreempt:
        return "preempt";
      case LogKind::kResize:
        return "resize";
      case LogKind::kProfiled:
        return "profiled";
      default:
        return "probed";
    }
  }

  static Json asks(const JobView& job) {
    const Profile& p = job.profile;
    Json speeds = nullptr;
    for (const ViewOnType& type : job.on_types) speeds.push_back(type.speed);
    Json all{{"submit_ns", job.submit.count()},
             {"gpus", job.gpus},
             {"gpus_min", job.gpus_min},
             {"gpus_max", job.gpus_max},
             {"gpu_milli", job.gpu_milli},
             {"gpu_models", job.gpu_models},
             {"priority", job.priority},
             {"cpu_milli", job.request.cpu_milli},
             {"memory_mib", job.request.memory_mib},
             {"estimate_ns", job.estimate ? Json(job.estimate->count()) : Json(nullptr)},
             {"speeds", std::move(speeds)},
             {"gpu_util_pct", or_null(p.gpu_util_pct)},
             {"mem_alloc_pct", or_null(p.mem_alloc_pct)},
             {"mem_time_pct", or_null(p.mem_time_pct)},
             {"mem_used_mib", or_null(p.mem_used_mib)},
             {"packing_label", or_null(p.packing_label)}};
    if (job.service != nullptr) all["service"] = job.service->service;
    return all;
  }

  static Json seen(const ServiceView& service) {
    return {{"service", service.service},
            {"goal_s", service.goal_s},
            {"share", service.share},
            {"least_replicas", service.least_replicas},
            {"most_replicas", service.most_replicas},
            {"over", service.over},
            {"intervals", service.intervals},
            {"load_per_s", service.load_per_s},
            {"latency_s", service.latency_s},
            {"within", service.within},
            {"busy", service.busy},
            {"replicas", service.replicas}};
  }

  static Json residents(const ClusterView& view) {
    Json list = Json::array();
    for (std::size_t g = 0; g < view.gpus().size(); ++g) {
      const GpuState& gpu = view.gpus()[g];
      if (gpu.residents.empty()) continue;
      Json started = Json::array();
      for (const JobId job : gpu.residents) {
        started.push_back(view.job(job).started.value_or(view.now()).count());
      }
      list.push_back({{"gpu", g},
                      {"jobs", numbers(gpu.residents)},
                      {"served_ns", served(view, gpu.residents)},
                      {"started_ns", std::move(started)},
                      {"profiling", gpu.profiling}});
    }
    return list;
  }

  static Json served(const ClusterView& view, std::span<const JobId> jobs) {
    Json list = Json::array();
    for (const JobId job : jobs) list.push_back(view.job(job).attained(view.now()).count());
    return list;
  }

  std::string costs(const Json& asked) {
    return program_.obey("answer", [&] { return pairs_->reply(asked); });
  }

  void start(const ClusterView& view) {
    Json nodes = Json::array();
    for (const NodeSpec& node : view.cluster().nodes) {
      nodes.push_back({{"gpus", node.gpus},
                       {"gpu_type", node.gpu.name},
                       {"gpu_type_id", node.gpu.id},
                       {"switch", node.switch_id},
                       {"gpu_speed", node.gpu.speed},
                       {"gpu_memory_mib", node.gpu.memory_mib},
                       {"cpu_milli", node.cpu_milli},
                       {"memory_mib", node.memory_mib}});
    }
    const Json hello{{"protocol", "corun-policy"},
                     {"version", kVersion},
                     {"seed", seed_},
                     {"start", joins_ || view.start_mode() == StartMode::kJoin ? "join" : "group"},
                     {"max_jobs_per_gpu", or_null(view.cluster().max_jobs_per_gpu)},
                     {"nodes", std::move(nodes)}};
    if (const auto wants = program_.greet(hello, "wants")) read_wants(*wants);
  }

  void read_wants(const Json& wants) {
    static constexpr std::array<std::string_view, 2> kKnown{"residents", "pairs"};
    if (!wants.is_array()) {
      program_.refuse("handshake", "found " + program_.answered() +
                                       ", expected a list such as [\"" + std::string(kKnown[0]) +
                                       "\"] in \"wants\"");
    }
    for (const Json& want : wants) {
      const std::string word = want.is_string() ? want.get<std::string>() : want.dump();
      if (word == kKnown[0]) {
        wants_residents_ = true;
      } else if (word == kKnown[1]) {
        wants_pairs_ = true;
      } else {
        program_.refuse("handshake", program_.name() + "wants the unknown '" + printable(word) +
                                         "': " + did_you_mean(word, kKnown));
      }
    }
    if (wants_pairs_ && !pairs_) {
      program_.refuse("handshake", program_.name() +
                                       "wants pairs, and the policy has no belief; set its "
                                       "parameter belief: configured");
    }
  }

  /// {"decisions": [{"event": "start", "jobs": [1, 2], "gpus": [0]}, {"event": "preempt", "jobs": [3]},
  ///                {"event": "resize", "jobs": [4], "gpus": [0, 1]}, {"event": "wake", "time_ns": 5}]}
  void read(const Json& answer, std::vector<Decision>& out) {
    if (!answer.is_object() || answer.size() != 1 || !answer.contains("decisions") ||
        !answer["decisions"].is_array()) {
      program_.refuse("answer", "found " + program_.answered() +
                                    ", expected {\"decisions\": [...]}" +
                                    (wants_pairs_ ? " or {\"ask\": [[3, 5], ...]}" : ""));
    }
    for (const Json& d : answer["decisions"]) {
      const std::string event = d.is_object() && d.contains("event") && d["event"].is_string()
                                    ? d["event"].get<std::string>()
                                    : "";
      if (event != "wake") wakes_.act();
      if (event == "start" && d.size() == 3) {
        out.emplace_back(StartGroup{ids<JobId>(d, "jobs"), ids<GpuId>(d, "gpus")});
      } else if (event == "preempt" && d.size() == 2) {
        out.emplace_back(Preempt{ids<JobId>(d, "jobs")});
      } else if (event == "resize" && d.size() == 3) {
        const std::vector<JobId> jobs = ids<JobId>(d, "jobs");
        if (jobs.size() != 1)
          program_.refuse("answer",
                          "found " + program_.answered() + ", expected one job to resize");
        out.emplace_back(Resize{jobs.front(), ids<GpuId>(d, "gpus")});
      } else if (event == "wake" && d.size() == 2 && d.contains("time_ns") &&
                 d["time_ns"].is_number_integer()) {
        const Time at{d["time_ns"].get<std::int64_t>()};
        program_.obey("wake-ups", [&] { wakes_.add(at); });
        out.emplace_back(WakeAt{at});
      } else {
        program_.refuse("answer",
                        "found " + program_.answered() +
                            ", expected decisions such as {\"event\": \"start\", \"jobs\": [...], "
                            "\"gpus\": [...]}, "
                            "{\"event\": \"preempt\", \"jobs\": [...]}, {\"event\": \"resize\", "
                            "\"jobs\": [J], \"gpus\": [...]} or {\"event\": \"wake\", "
                            "\"time_ns\": T}");
      }
    }
  }

  template <typename Id>
  std::vector<Id> ids(const Json& decision, const char* key) {
    std::vector<Id> list;
    const bool there = decision.contains(key) && decision[key].is_array();
    if (there) {
      for (const Json& n : decision[key]) {
        if (!n.is_number_unsigned() || n.get<std::uint64_t>() >= index(kNoJob)) break;
        list.push_back(Id{n.get<std::uint32_t>()});
      }
    }
    if (!there || list.empty() || list.size() != decision[key].size()) {
      program_.refuse("answer", "found " + program_.answered() + ", expected numbers in \"" + key +
                                    "\", at least one");
    }
    return list;
  }

  std::size_t window_;
  bool joins_;
  std::uint64_t seed_;
  std::unique_ptr<Belief> belief_;       ///< nullptr without `belief: configured`
  std::unordered_set<JobId> in_system_;  ///< arrived, and neither finished nor failed
  std::map<std::uint32_t, const ServiceView*> services_;  ///< whose replicas have arrived
  std::optional<ExternalPairs> pairs_;                    ///< only with a belief
  std::optional<LeastCertainPairs> probe_planner_;
  bool wants_residents_ = false;
  bool wants_pairs_ = false;
  ExternalWakes wakes_;
  ExternalProgram program_;
  Json events_ = Json::array();  ///< since the last question, without arrivals
  std::vector<Json> arrivals_;   ///< since the last question; sent after the other events
};

}  // namespace

PolicyEntry external_entry() {
  return {
      .name = "external",
      .description = "a program of your own decides: JSON lines on its standard input and output",
      .needs = PolicyNeeds::kNothing,
      .parameters = external_parameters().specs(),
      .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
        ExternalOptions options = external_parameters().read(c.parameters);
        return std::make_unique<External>(std::move(options), std::move(c));
      },
      .needs_with = users_policy_needs,
      .traits_with = users_policy_traits};
}

}  // namespace corun::inline policies
