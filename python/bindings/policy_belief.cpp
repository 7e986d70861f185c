#include "python/bindings/policy_belief.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "sim/pair_objective.hpp"

namespace corun::python {

/// A row of Belief.pairs(): the expected cost of two jobs together.
struct PairRow {
  double isd_a, isd_b, ps;
  double speed_a, speed_b;
  double sd_a, sd_b, sd_ps;
  double co_runs;
  bool observed;
};

namespace {

/// Batches of this size or more let other threads run Python meanwhile.
constexpr py::ssize_t kLongBatch = 256;

struct PyBelief {
  std::shared_ptr<Turn> turn;

  const Belief& get() const {
    if (turn->belief == nullptr) {
      throw py::value_error("a belief answers while corun calls its policy, and not later");
    }
    turn->check_thread();
    return *turn->belief;
  }
};

/// Calls work() without the GIL if there is much to do. It must not touch Python.
template <typename Work>
void compute(py::ssize_t count, const Work& work) {
  if (count < kLongBatch) return work();
  const py::gil_scoped_release release;
  work();
}

JobId known(const Turn& turn, std::int64_t job) {
  if (!turn.knows(job)) {
    throw py::key_error("job " + std::to_string(job) + " neither waits nor runs");
  }
  return JobId{static_cast<std::uint32_t>(job)};
}

std::vector<JobId> jobs_of(const Turn& turn, const py::object& given, const char* what) {
  const Numbers numbers = whole_numbers(given, what);
  std::vector<JobId> jobs;
  jobs.reserve(static_cast<std::size_t>(numbers.size()));
  for (py::ssize_t i = 0; i < numbers.size(); ++i) jobs.push_back(known(turn, numbers.data()[i]));
  return jobs;
}

struct Pairs {
  std::vector<JobId> a;
  std::vector<JobId> b;
};

/// Two lists of one length, or a single job with each of the other list.
Pairs pairs_of(const Turn& turn, const py::object& a, const py::object& b) {
  Pairs pairs{jobs_of(turn, a, "a"), jobs_of(turn, b, "b")};
  if (pairs.a.size() == 1 && pairs.b.size() > 1) pairs.a.resize(pairs.b.size(), pairs.a.front());
  if (pairs.b.size() == 1 && pairs.a.size() > 1) pairs.b.resize(pairs.a.size(), pairs.b.front());
  if (pairs.a.size() != pairs.b.size()) {
    throw py::value_error("found " + std::to_string(pairs.a.size()) + " jobs in a and " +
                          std::to_string(pairs.b.size()) + " in b, expected as many, or one");
  }
  for (std::size_t i = 0; i < pairs.a.size(); ++i) {
    if (pairs.a[i] != pairs.b[i]) continue;
    throw py::value_error("found job " + std::to_string(index(pairs.a[i])) +
                          " beside itself, expected two different jobs");
  }
  return pairs;
}

py::array_t<PairRow> pair_rows(const PyBelief& self, const py::object& a, const py::object& b,
                               std::optional<std::uint64_t> draw) {
  const Belief& belief = self.get();
  const Pairs pairs = pairs_of(*self.turn, a, b);
  py::array_t<PairRow> out(static_cast<py::ssize_t>(pairs.a.size()));
  PairRow* const rows = out.mutable_data();
  compute(out.size(), [&] {
    for (std::size_t i = 0; i < pairs.a.size(); ++i) {
      const PairBelief cost = draw ? belief.sampled_pair(pairs.a[i], pairs.b[i], *draw)
                                   : belief.pair(pairs.a[i], pairs.b[i]);
      const PairSpeeds speed = belief.pair_speeds(pairs.a[i], pairs.b[i]);
      rows[i] = {cost.isd_a, cost.isd_b, cost.ps,    speed.a,      speed.b,
                 cost.sd_a,  cost.sd_b,  cost.sd_ps, cost.co_runs, cost.observed};
    }
  });
  return out;
}

CostRule rule_of(const py::object& named, const py::object& risk_given) {
  double risk = PyFloat_AsDouble(risk_given.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    risk = -1;
  }
  const std::string objective = py::isinstance<py::str>(named) ? std::string(py::str(named)) : "";
  if (!(risk >= 0 && risk <= 1e6)) throw py::value_error("risk: expected 0 to 1000000");
  if (objective == "min-slowdown") return {Objective::kMinSlowdown, risk};
  if (objective == "balance") return {Objective::kBalance, risk};
  if (objective == "max-packing") return {Objective::kMaxPacking, risk};
  throw py::value_error("objective: expected min-slowdown, balance or max-packing");
}

py::tuple best_co_runners(const PyBelief& self, const py::object& given,
                          const py::object& most_given, const py::object& objective,
                          const py::object& risk) {
  const Belief& belief = self.get();
  const CostRule rule = rule_of(objective, risk);
  const std::size_t most = count_of(most_given, "most");
  const std::vector<JobId> jobs = jobs_of(*self.turn, given, "jobs");
  if (std::unordered_set<JobId>(jobs.begin(), jobs.end()).size() != jobs.size()) {
    throw py::value_error("jobs: expected each job once");
  }
  const std::size_t k = jobs.empty() ? 0 : std::min(most, jobs.size() - 1);
  const auto shape = {static_cast<py::ssize_t>(jobs.size()), static_cast<py::ssize_t>(k)};
  py::array_t<std::int64_t> co_runners(shape);
  py::array_t<double> costs(shape);
  if (k == 0) return py::make_tuple(co_runners, costs);
  std::int64_t* job_at = co_runners.mutable_data();
  double* cost_at = costs.mutable_data();
  compute(co_runners.size(), [&] {
    for (const CoRunner& found : belief.top_co_runners({jobs, k}, rule)) {
      *job_at++ = static_cast<std::int64_t>(index(jobs[found.position]));
      *cost_at++ = found.cost;
    }
  });
  return py::make_tuple(co_runners, costs);
}

const ClusterBelief& by_clusters(const PyBelief& self) {
  const ClusterBelief* clusters = self.get().as_clusters();
  if (clusters == nullptr) throw py::value_error("this belief is about jobs, not about clusters");
  return *clusters;
}

template <typename T, typename Value>
py::array_t<T> each_job(const PyBelief& self, const py::object& given, Value value) {
  const ClusterBelief& clusters = by_clusters(self);
  const std::vector<JobId> jobs = jobs_of(*self.turn, given, "jobs");
  py::array_t<T> out(static_cast<py::ssize_t>(jobs.size()));
  std::transform(jobs.begin(), jobs.end(), out.mutable_data(),
                 [&](JobId job) { return static_cast<T>(value(clusters, job)); });
  return out;
}

}  // namespace

py::object make_belief(std::shared_ptr<Turn> turn) {
  if (!turn->believes) return py::none();
  return py::cast(PyBelief{std::move(turn)});
}

void bind_policy_belief(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(PairRow, isd_a, isd_b, ps, speed_a, speed_b, sd_a, sd_b, sd_ps, co_runs,
                       observed);
  py::class_<PyBelief>(module, "Belief",
                       "The scheduler's estimate of what co-runs cost. `a`, `b` and `jobs` are "
                       "numbers of jobs that wait or run, in lists or arrays.")
      .def(
          "pairs",
          [](const PyBelief& self, const py::object& a, const py::object& b) {
            return pair_rows(self, a, b, std::nullopt);
          },
          py::arg("a"), py::arg("b"),
          "expected costs of a[i] beside b[i]: an array with the fields isd_a, isd_b, ps "
          "(fractions), speed_a, speed_b, the deviations of one co-run sd_a, sd_b, sd_ps, co_runs, "
          "observed")
      .def(
          "sampled_pairs",
          [](const PyBelief& self, const py::object& a, const py::object& b,
             const py::object& draw) { return pair_rows(self, a, b, count_of(draw, "draw")); },
          py::arg("a"), py::arg("b"), py::arg("draw"),
          "the same as one draw (Thompson sampling); the same `draw` gives the same costs")
      .def("best_co_runners", &best_co_runners, py::arg("jobs"), py::arg("most") = 1,
           py::arg("objective") = "min-slowdown", py::arg("risk") = 0.0,
           "arrays (co-runners, costs) with a row for each of the jobs: its cheapest co-runners "
           "among the others")
      .def_property_readonly(
          "clusters",
          [](const PyBelief& self) {
            const ClusterBelief* clusters = self.get().as_clusters();
            return clusters == nullptr ? std::nullopt : std::optional(clusters->clusters());
          },
          "number of profile clusters; None: this belief is about jobs")
      .def(
          "cluster",
          [](const PyBelief& self, const py::object& jobs) {
            return each_job<std::int64_t>(
                self, jobs, [](const ClusterBelief& c, JobId j) { return c.cluster(j); });
          },
          py::arg("jobs"), "array: the profile cluster of each job")
      .def(
          "uncertainty",
          [](const PyBelief& self, const py::object& jobs) {
            return each_job<double>(
                self, jobs, [](const ClusterBelief& c, JobId j) { return c.uncertainty(j); });
          },
          py::arg("jobs"), "array: distances of each job's profile to all centres");
}

}  // namespace corun::python
