#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "policies/parameters_of.hpp"
#include "policies/shares/share_policy.hpp"
#include "python/bindings/policy_errors.hpp"
#include "python/bindings/policy_host.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

/// python-shares: a class of Python says which share of its time each job spends on each GPU type: as `external-shares`
/// (policies/external/external_shares.cpp), but in the same process. As of `python`, each run has its own object, and
/// holds the GIL for each call.
namespace corun::python {

namespace {

struct PythonSharesOptions : SharePolicyOptions {
  std::vector<std::string> words;
};

const ParametersOf<PythonSharesOptions>& python_shares_parameters() {
  static const auto all =
      ParametersOf<PythonSharesOptions>()
          .texts("class", &PythonSharesOptions::words,
                 "module and name of a class with a method shares(problem), e.g. [my_policies, "
                 "Even]")
          .with(share_parameters());
  return all;
}

/// An array of a field of each job.
template <typename Of>
auto column(const ShareProblem& problem, Of&& of) {
  using Value = decltype(of(problem.jobs.front()));
  py::array_t<Value> array(static_cast<py::ssize_t>(problem.jobs.size()));
  Value* const data = array.mutable_data();
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) data[j] = of(problem.jobs[j]);
  return array;
}

class PythonShareRule final : public ShareRule {
 public:
  /// Needs the GIL.
  PythonShareRule(std::vector<std::string> words, std::uint32_t seed, PolicyHost& host)
      : words_(std::move(words)), seed_(seed), host_(host) {
    check_class("python-shares", words_);
    call([&] {
      const py::object object = host_.factory(words_)();
      shares_ = py::getattr(object, "shares", py::none());
      if (shares_.is_none()) {
        refuse("shares",
               "found " + shown(object) + ", expected an object with a method shares(problem)");
      }
      problem_ = py::module_::import("corun.policy").attr("Problem");
    });
    py::gil_scoped_acquire().inc_ref();  // as in make_python_policy()
  }
  ~PythonShareRule() override {
    py::gil_scoped_acquire gil;
    shares_ = problem_ = py::object();
    gil.dec_ref();
  }
  PythonShareRule(const PythonShareRule&) = delete;
  PythonShareRule& operator=(const PythonShareRule&) = delete;

  void begin(std::span<const GpuType> types, double, double) override {
    for (const GpuType& type : types) types_.emplace_back(type.name);
  }

  Shares shares(const ShareProblem& problem) override {
    const py::gil_scoped_acquire gil;
    Shares shares;
    call([&] { shares.x = numbers_of(shares_(told_problem(problem)), problem); });
    const std::string fault = share_fault(problem, shares.x);
    if (!fault.empty()) refuse("shares", fault);
    return shares;
  }

 private:
  py::object told_problem(const ShareProblem& problem) const {
    const auto units = static_cast<py::ssize_t>(problem.units.size());
    const auto types = static_cast<py::ssize_t>(problem.types());
    py::array_t<std::int64_t> members({units, py::ssize_t{2}});
    py::array_t<double> rates({units, types, py::ssize_t{2}});
    std::int64_t* member = members.mutable_data();
    double* rate = rates.mutable_data();
    for (std::size_t u = 0; u < problem.units.size(); ++u) {
      const ShareUnit& unit = problem.units[u];
      *member++ = unit.a;
      *member++ = unit.b ? std::int64_t{*unit.b} : -1;
      for (std::size_t t = 0; t < problem.types(); ++t) {
        *rate++ = problem.rate(u, t).a;
        *rate++ = problem.rate(u, t).b;
      }
    }
    const auto of = [&](auto&& value) { return column(problem, value); };
    return problem_(seed_, types_, py::array_t<int>(types, problem.gpus.data()),
                    of([](const ShareJob& j) { return static_cast<std::int64_t>(j.id); }),
                    of([](const ShareJob& j) { return j.gpus; }),
                    of([](const ShareJob& j) { return j.weight; }),
                    of([](const ShareJob& j) { return j.steps_left; }),
                    of([](const ShareJob& j) { return j.age_s; }),
                    of([](const ShareJob& j) { return j.isolated_s; }), members, rates);
  }

  std::vector<double> numbers_of(const py::object& answer, const ShareProblem& problem) const {
    const auto found =
        py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(answer);
    if (!found) PyErr_Clear();
    const auto units = static_cast<py::ssize_t>(problem.units.size());
    const auto types = static_cast<py::ssize_t>(problem.types());
    if (!found || found.ndim() != 2 || found.shape(0) != units || found.shape(1) != types) {
      refuse("shares", "found " + shown(answer) + ", expected an array of " +
                           std::to_string(units) + " x " + std::to_string(types) +
                           " numbers: units x GPU types");
    }
    return {found.data(), found.data() + found.size()};
  }

  /// Runs Python code, of which every exception becomes a PolicyError.
  template <typename Work>
  void call(const Work& work) {
    struct Inside {
      PolicyHost& host;
      explicit Inside(PolicyHost& h) : host(h) { host.enter(PyThread_get_thread_ident()); }
      ~Inside() { host.leave(PyThread_get_thread_ident()); }
    };
    try {
      const Inside inside(host_);
      work();
    } catch (py::error_already_set& error) {
      refuse_exception(host_, printable(words_.back()), error);
    }
  }

  [[noreturn]] void refuse(const char* rule, const std::string& found) const {
    throw PolicyError(printable(words_.back()), rule, found);
  }

  std::vector<std::string> words_;  ///< module and class
  std::vector<std::string> types_;
  std::uint32_t seed_;
  PolicyHost& host_;
  py::object shares_, problem_;
};

}  // namespace

PolicyEntry PolicyHost::shares_entry() {
  PolicyEntry entry;
  entry.name = "python-shares";
  entry.description = "a class of your own gives shares of time (only from Python: corun.replay)";
  entry.parameters = python_shares_parameters().specs();
  entry.make = [this](PolicyContext c) -> std::unique_ptr<Policy> {
    PythonSharesOptions options = python_shares_parameters().read(c.parameters);
    const SharePolicyOptions rounds = options;
    const auto seed = rounds.seed.value_or(static_cast<std::uint32_t>(c.seed));
    std::unique_ptr<ShareRule> rule;
    {
      const py::gil_scoped_acquire gil;
      rule = std::make_unique<PythonShareRule>(std::move(options.words), seed, *this);
    }
    return std::make_unique<SharePolicy>(std::move(rule), std::move(c.belief), rounds, c.round,
                                         seed);
  };
  entry.needs_with = share_policy_needs;
  entry.traits = share_policy_traits(false);
  return entry;
}

}  // namespace corun::python
