#include "python/bindings/python_policy.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "policies/external/external_process.hpp"
#include "policies/external/external_wakes.hpp"
#include "policies/groups/least_certain_pairs.hpp"
#include "policies/parameters_of.hpp"
#include "policies/users_policy_parameters.hpp"
#include "python/bindings/policy_belief.hpp"
#include "python/bindings/policy_errors.hpp"
#include "python/bindings/policy_view.hpp"
#include "python/bindings/turn.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::python {

namespace {

/// Jobs among which pairs to probe are chosen, as by the recommender.
constexpr std::size_t kProbedJobs = 256;

constexpr std::string_view kExpected =
    "expected a list of corun.Start(jobs, gpus), corun.Preempt(jobs) and corun.Wake(time_ns), or "
    "None";

std::string_view word_of(LogKind kind) {
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

/// The types of decisions, and of what events tell: named tuples of corun/policy.py.
struct Types {
  py::object start, preempt, resize, wake, co_run, member, probe;

  Types() {
    const py::object module = py::module_::import("corun.policy");
    start = module.attr("Start");
    preempt = module.attr("Preempt");
    resize = module.attr("Resize");
    wake = module.attr("Wake");
    co_run = module.attr("CoRun");
    member = module.attr("Member");
    probe = module.attr("Probe");
  }
};

struct PythonOptions : UsersPolicyOptions {
  std::vector<std::string> words;
};

const ParametersOf<PythonOptions>& python_parameters() {
  static const auto all =
      ParametersOf<PythonOptions>()
          .texts(
              "class", &PythonOptions::words,
              "module and name of a class with a method decide(view), e.g. [my_policies, Greedy]")
          .with(users_policy_parameters());
  return all;
}

class PythonPolicy final : public Policy {
 public:
  PythonPolicy(PolicyContext context, PolicyHost& host)
      : host_(host), belief_(std::move(context.belief)) {
    PythonOptions options = python_parameters().read(context.parameters);
    words_ = std::move(options.words);
    check_class("python", words_);
    turn_ = std::make_shared<Turn>();
    turn_->believes = belief_ != nullptr;
    turn_->joins = options.joins;
    turn_->seed = context.seed;
    if (belief_ && belief_->learns_from_probes()) probe_planner_.emplace(*belief_, kProbedJobs);
    call([&] {
      object_ = host_.factory(words_)();
      types_.emplace();
      view_ = make_view(turn_);
      const auto method = [&](const char* name) -> py::object {
        return py::getattr(object_, name, py::none());
      };
      decide_ = method("decide");
      arrived_ = method("arrived");
      departed_ = method("departed");
      changed_ = method("changed");
      corun_ended_ = method("corun_ended");
      probe_ended_ = method("probe_ended");
    });
    if (decide_.is_none()) {
      refuse("decide",
             "found " + shown(object_) + ", expected an object with a method decide(view)");
    }
  }

  ~PythonPolicy() override {
    py::gil_scoped_acquire gil;
    object_ = decide_ = arrived_ = departed_ = changed_ = corun_ended_ = probe_ended_ = view_ =
        py::object();
    types_.reset();
    turn_->belief = nullptr;
    gil.dec_ref();  // the one of make_python_policy()
  }
  PythonPolicy(const PythonPolicy&) = delete;
  PythonPolicy& operator=(const PythonPolicy&) = delete;

  const Belief* belief() const override { return belief_.get(); }
  ProbePlanner* probe_planner() override { return probe_planner_ ? &*probe_planner_ : nullptr; }

  void arrived(const JobView& job, Time now) override {
    news_ = true;
    if (index(job.id) >= turn_->in_system.size()) turn_->in_system.resize(index(job.id) + 1);
    turn_->in_system[index(job.id)] = 1;
    if (arrived_.is_none()) return;
    const py::gil_scoped_acquire gil;
    call([&] { arrived_(make_job(job, now), now.count()); });
  }

  void changed(const JobView& job, Time now) override {
    news_ = true;
    if (changed_.is_none()) return;
    const py::gil_scoped_acquire gil;
    call([&] { changed_(make_job(job, now), now.count()); });
  }

  void departed(JobId job, LogKind how, Time) override {
    news_ = true;
    if (how == LogKind::kFinish || how == LogKind::kFail) turn_->in_system[index(job)] = 0;
    if (departed_.is_none()) return;
    const py::gil_scoped_acquire gil;
    call([&] { departed_(index(job), word_of(how)); });
  }

  void corun_ended(const EpisodeOutcome& outcome) override {
    news_ = true;
    if (belief_) belief_->learn(outcome);
    if (corun_ended_.is_none()) return;
    const py::gil_scoped_acquire gil;
    call([&] {
      py::list members;
      for (const MemberOutcome& m : outcome.members) {
        members.append(types_->member(index(m.job), m.solo.count(), m.corun.count(), m.isd));
      }
      corun_ended_(types_->co_run(members, outcome.length.count(), outcome.ps, outcome.together,
                                  outcome.end.count(), outcome.unfinished));
    });
  }

  void probe_ended(const ProbeOutcome& outcome) override {
    if (belief_) belief_->learn_probe(outcome);
    if (probe_ended_.is_none()) return;
    const py::gil_scoped_acquire gil;
    call([&] {
      probe_ended_(types_->probe(index(outcome.a), index(outcome.b), outcome.speed_a,
                                 outcome.speed_b, outcome.end.count()));
    });
  }

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    obey_wakes([&] { wakes_.new_question(view.now(), std::exchange(news_, false)); });
    const py::gil_scoped_acquire gil;
    turn_->view = &view;
    py::object answer;
    call([&] { answer = decide_(view_); });
    read(answer, out);
  }

 private:
  /// Runs Python code, of which every exception becomes a PolicyError. Afterwards view and belief are out of reach.
  template <typename Work>
  void call(const Work& work) {
    struct Inside {
      PythonPolicy& policy;
      explicit Inside(PythonPolicy& p) : policy(p) {
        p.turn_->belief = p.belief_.get();
        p.turn_->thread = PyThread_get_thread_ident();
        p.host_.enter(PyThread_get_thread_ident());
      }
      ~Inside() {
        policy.host_.leave(PyThread_get_thread_ident());
        policy.turn_->view = nullptr;
        policy.turn_->belief = nullptr;
      }
    };
    try {
      const Inside inside(*this);
      work();
    } catch (py::error_already_set& error) {
      refuse_exception(host_, printable(words_.back()), error);
    }
  }

  template <typename Work>
  void obey_wakes(const Work& work) {
    try {
      work();
    } catch (const ExternalError& e) {
      refuse("wake-ups", std::string("it ") + e.what());
    }
  }

  [[noreturn]] void refuse(const char* rule, const std::string& found) const {
    throw PolicyError(printable(words_.back()), rule, found);
  }

  [[noreturn]] void refuse_answer(const py::object& answer, const std::string& expected) const {
    refuse("answer", "found " + shown(answer) + ", " + expected);
  }

  void read(const py::object& answer, std::vector<Decision>& out) {
    if (answer.is_none()) return;
    PyObject* const list = answer.ptr();
    // Only lists and plain tuples: a single decision is a tuple, too.
    const bool many = PyList_Check(list) || PyTuple_CheckExact(list);
    if (!many) refuse_answer(answer, std::string(kExpected));
    for (py::ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
      const py::handle d = PySequence_Fast_GET_ITEM(list, i);
      const py::handle type(reinterpret_cast<PyObject*>(Py_TYPE(d.ptr())));
      if (type.is(types_->start)) {
        wakes_.act();
        out.emplace_back(StartGroup{ids<JobId>(answer, d, 0), ids<GpuId>(answer, d, 1)});
      } else if (type.is(types_->preempt)) {
        wakes_.act();
        out.emplace_back(Preempt{ids<JobId>(answer, d, 0)});
      } else if (type.is(types_->resize)) {
        wakes_.act();
        const auto job = as_whole(PyTuple_GET_ITEM(d.ptr(), 0));
        if (!job || *job < 0 || *job >= static_cast<std::int64_t>(index(kNoJob))) {
          refuse_answer(answer, "expected the number of a job in corun.Resize");
        }
        out.emplace_back(Resize{static_cast<JobId>(*job), ids<GpuId>(answer, d, 1)});
      } else if (type.is(types_->wake)) {
        const auto at = as_whole(PyTuple_GET_ITEM(d.ptr(), 0));
        if (!at) refuse_answer(answer, "expected a whole number of nanoseconds in corun.Wake");
        obey_wakes([&] { wakes_.add(Time{*at}); });
        out.emplace_back(WakeAt{Time{*at}});
      } else {
        refuse_answer(answer, std::string(kExpected));
      }
    }
  }

  template <typename Id>
  std::vector<Id> ids(const py::object& answer, const py::handle& decision,
                      py::ssize_t field) const {
    const py::handle given = PyTuple_GET_ITEM(decision.ptr(), field);
    const char* const what = std::is_same_v<Id, JobId> ? "jobs" : "GPUs";
    const auto expected = [&] {
      return std::string("expected a list of whole numbers of ") + what + ", at least one";
    };
    std::vector<Id> list;
    // Text is a sequence, and a dictionary can be counted: neither is meant.
    const bool sequence =
        PyList_Check(given.ptr()) || PyTuple_Check(given.ptr()) || py::isinstance<py::array>(given);
    const py::object items =
        sequence ? py::reinterpret_steal<py::object>(PySequence_Fast(given.ptr(), "a list"))
                 : py::object();
    if (!items) {
      PyErr_Clear();
      refuse_answer(answer, expected());
    }
    const py::ssize_t count = PySequence_Fast_GET_SIZE(items.ptr());
    list.reserve(static_cast<std::size_t>(count));
    for (py::ssize_t i = 0; i < count; ++i) {
      const auto number = as_whole(PySequence_Fast_GET_ITEM(items.ptr(), i));
      if (!number || *number < 0 || *number >= static_cast<std::int64_t>(index(kNoJob))) {
        refuse_answer(answer, expected());
      }
      list.push_back(Id{static_cast<std::uint32_t>(*number)});
    }
    if (list.empty()) refuse_answer(answer, expected());
    return list;
  }

  PolicyHost& host_;
  std::vector<std::string> words_;  ///< module and class
  std::unique_ptr<Belief> belief_;  ///< nullptr without `belief: configured`
  std::optional<LeastCertainPairs> probe_planner_;
  std::shared_ptr<Turn> turn_;
  ExternalWakes wakes_;
  bool news_ = false;  ///< an event since the last decide()
  std::optional<Types> types_;
  py::object object_, decide_, arrived_, departed_, changed_, corun_ended_, probe_ended_, view_;
};

}  // namespace

std::unique_ptr<Policy> make_python_policy(PolicyContext context, PolicyHost& host) {
  auto policy = std::make_unique<PythonPolicy>(std::move(context), host);
  // Keeps this thread known to Python as long as the policy lives: to make it known takes longer than a call.
  py::gil_scoped_acquire().inc_ref();
  return policy;
}

PolicyEntry PolicyHost::entry() {
  PolicyEntry entry;
  entry.name = "python";
  entry.description = "a class of your own decides (only from Python: corun.replay)";
  entry.parameters = python_parameters().specs();
  entry.make = [this](PolicyContext context) {
    const py::gil_scoped_acquire gil;
    return make_python_policy(std::move(context), *this);
  };
  entry.needs_with = users_policy_needs;
  entry.traits_with = users_policy_traits;
  return entry;
}

py::object PolicyHost::factory(const std::vector<std::string>& words) const {
  const py::tuple key = py::make_tuple(words[0], words[1]);
  if (factories_.contains(key)) return factories_[key];
  return find_(words[0], words[1]);
}

void PolicyHost::remember(std::string text, py::object exception) {
  raised_.push_back({std::move(text), std::move(exception)});
}

py::object PolicyHost::cause_of(const std::string& error) const {
  for (const Raised& raised : raised_) {
    if (error.find(raised.text) != std::string::npos) return raised.exception;
  }
  return py::none();
}

void PolicyHost::enter(unsigned long thread) {
  inside_.insert(thread);
  if (interrupted_) PyThreadState_SetAsyncExc(thread, PyExc_KeyboardInterrupt);
}

void PolicyHost::interrupt() {
  interrupted_ = true;
  for (const unsigned long thread : inside_)
    PyThreadState_SetAsyncExc(thread, PyExc_KeyboardInterrupt);
}

}  // namespace corun::python
