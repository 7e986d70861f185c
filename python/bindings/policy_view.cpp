#include "python/bindings/policy_view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "policies/placement.hpp"
#include "python/bindings/policy_belief.hpp"

namespace corun::python {

namespace {

struct PyJob {
  JobView view;
  Time now;
  std::vector<ViewOnType> types;  ///< JobView::on_types, which may end before this
  std::optional<ServiceView> service = std::nullopt;  ///< JobView::service, likewise
};

struct PyView {
  std::shared_ptr<Turn> turn;

  const ClusterView& get() const {
    if (turn->view == nullptr) {
      throw py::value_error(
          "this view was that of a decide() that is over; copy from it what you need later");
    }
    turn->check_thread();
    return *turn->view;
  }
};

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

template <typename T>
py::array_t<T> array_of(std::size_t count) {
  return py::array_t<T>(static_cast<py::ssize_t>(count));
}

/// One value of each job, as an array.
template <typename T, typename Value>
py::array_t<T> column(const std::vector<const JobView*>& jobs, Value value) {
  py::array_t<T> out = array_of<T>(jobs.size());
  T* at = out.mutable_data();
  for (const JobView* job : jobs) *at++ = static_cast<T>(value(*job));
  return out;
}

const JobView& job_of(const ClusterView& view, std::int64_t number) {
  if (number >= 0 && number < static_cast<std::int64_t>(index(kNoJob))) {
    try {
      return view.job(JobId{static_cast<std::uint32_t>(number)});
    } catch (const std::logic_error&) {  // below
    }
  }
  throw py::key_error("job " + std::to_string(number) + " neither waits nor runs");
}

GpuId gpu_of(const ClusterView& view, const py::object& given) {
  const std::int64_t number = whole_number(given, "gpu");
  if (number < 0 || static_cast<std::size_t>(number) >= view.gpus().size()) {
    throw py::key_error("GPU " + std::to_string(number) + " does not exist");
  }
  return GpuId{static_cast<std::uint32_t>(number)};
}

/// Of jobs that are no replicas: service -1, the others NaN.
void add_service_columns(const std::vector<const JobView*>& jobs, py::dict& table) {
  const bool any =
      std::ranges::any_of(jobs, [](const JobView* j) { return j->service != nullptr; });
  const auto numbers = [&](auto value, auto none) {
    using Number = decltype(none);
    py::array_t<Number> out = array_of<Number>(jobs.size());
    Number* at = out.mutable_data();
    std::fill(at, at + jobs.size(), none);
    for (std::size_t i = 0; any && i < jobs.size(); ++i) {
      if (jobs[i]->service != nullptr) at[i] = static_cast<Number>(value(*jobs[i]->service));
    }
    return out;
  };
  table["service"] = numbers([](const ServiceView& s) { return s.service; }, std::int64_t{-1});
  table["goal_s"] = numbers([](const ServiceView& s) { return s.goal_s; }, kUnknown);
  table["share"] = numbers([](const ServiceView& s) { return s.share; }, kUnknown);
  // Before an interval is over nothing was observed.
  const auto observed = [&](auto value) {
    return numbers([&](const ServiceView& s) { return s.intervals == 0 ? kUnknown : value(s); },
                   kUnknown);
  };
  table["load_per_s"] = observed([](const ServiceView& s) { return s.load_per_s; });
  table["latency_s"] = observed([](const ServiceView& s) { return s.latency_s; });
  table["within"] = observed([](const ServiceView& s) { return s.within; });
  table["busy"] = observed([](const ServiceView& s) { return s.busy; });
  table["replicas"] = observed([](const ServiceView& s) { return s.replicas; });
}

py::dict jobs_table(const PyView& self, const py::object& given) {
  const ClusterView& view = self.get();
  const Numbers ids = whole_numbers(given, "jobs");
  std::vector<const JobView*> jobs;
  jobs.reserve(static_cast<std::size_t>(ids.size()));
  for (py::ssize_t i = 0; i < ids.size(); ++i) jobs.push_back(&job_of(view, ids.data()[i]));
  const auto real = [&](auto value) {
    return column<double>(jobs, [&](const JobView& j) {
      const auto found = value(j);
      return found ? static_cast<double>(*found) : kUnknown;
    });
  };
  const auto whole = [&](auto value) { return column<std::int64_t>(jobs, value); };
  py::dict table;
  table["job"] = whole([](const JobView& j) { return index(j.id); });
  table["submit_ns"] = whole([](const JobView& j) { return j.submit.count(); });
  table["gpus"] = whole([](const JobView& j) { return j.gpus; });
  table["gpus_min"] = whole([](const JobView& j) { return j.gpus_min; });
  table["gpus_max"] = whole([](const JobView& j) { return j.gpus_max; });
  table["gpu_milli"] = whole([](const JobView& j) { return j.gpu_milli; });
  table["gpu_models"] = whole([](const JobView& j) { return j.gpu_models; });
  table["priority"] = whole([](const JobView& j) { return j.priority; });
  table["cpu_milli"] = whole([](const JobView& j) { return j.request.cpu_milli; });
  table["memory_mib"] = whole([](const JobView& j) { return j.request.memory_mib; });
  table["estimate_ns"] = column<double>(jobs, [](const JobView& j) {
    return j.estimate ? static_cast<double>(j.estimate->count()) : kUnknown;
  });
  table["gpu_util_pct"] = real([](const JobView& j) { return j.profile.gpu_util_pct; });
  table["mem_alloc_pct"] = real([](const JobView& j) { return j.profile.mem_alloc_pct; });
  table["mem_time_pct"] = real([](const JobView& j) { return j.profile.mem_time_pct; });
  table["mem_used_mib"] = real([](const JobView& j) { return j.profile.mem_used_mib; });
  table["packing_label"] = real([](const JobView& j) { return j.profile.packing_label; });
  table["imputed"] = column<bool>(jobs, [](const JobView& j) { return j.profile.imputed; });
  table["resubmissions"] = whole([](const JobView& j) { return j.resubmissions; });
  table["preemptions"] = whole([](const JobView& j) { return j.preemptions; });
  table["resizes"] = whole([](const JobView& j) { return j.resizes; });
  table["phase"] = whole([](const JobView& j) { return j.phase; });
  table["served_ns"] = whole([&](const JobView& j) { return j.attained(view.now()).count(); });
  table["started_ns"] = column<double>(jobs, [](const JobView& j) {
    return j.started ? static_cast<double>(j.started->count()) : kUnknown;
  });
  add_service_columns(jobs, table);
  return table;
}

py::array_t<std::int64_t> waiting(const PyView& self, std::optional<std::size_t> most) {
  const auto queue = self.get().waiting();
  auto out = array_of<std::int64_t>(most ? std::min(*most, queue.size()) : queue.size());
  std::int64_t* at = out.mutable_data();
  for (py::ssize_t i = 0; i < out.size(); ++i) {
    at[i] = static_cast<std::int64_t>(index(queue[static_cast<std::size_t>(i)]));
  }
  return out;
}

py::array_t<std::int64_t> consolidated_gpus(const PyView& self, const py::object& gang,
                                            const py::object& without, const py::object& job) {
  const ClusterView& view = self.get();
  const std::int64_t gpus = whole_number(gang, "gang");
  std::uint32_t types = 0;
  if (!job.is_none()) types = job_of(view, whole_number(job, "job")).gpu_models;
  std::vector<GpuId> found;
  if (gpus > 0 && gpus <= static_cast<std::int64_t>(view.gpus().size())) {
    FreeGpus free = view.state().empty();
    const Numbers ids = whole_numbers(without, "without");
    std::set<JobId> leaving;
    for (py::ssize_t i = 0; i < ids.size(); ++i) leaving.insert(job_of(view, ids.data()[i]).id);
    for (std::size_t g = 0; g < view.gpus().size() && !leaving.empty(); ++g) {
      const GpuState& gpu = view.gpus()[g];
      const auto leaves = [&](JobId resident) { return leaving.contains(resident); };
      if (gpu.residents.empty() || !std::ranges::all_of(gpu.residents, leaves)) continue;
      free.insert(GpuId{static_cast<std::uint32_t>(g)}, gpu.node);
    }
    if (types != 0) free = of_types(view.state(), free, types);
    found = consolidated(view.state(), free, static_cast<int>(gpus));
  }
  auto out = array_of<std::int64_t>(found.size());
  std::ranges::transform(found, out.mutable_data(),
                         [](GpuId g) { return static_cast<std::int64_t>(index(g)); });
  return out;
}

py::array_t<std::int64_t> free_gpus(const PyView& self) {
  const GpuSet& empty = self.get().empty_gpus();
  auto out = array_of<std::int64_t>(static_cast<std::size_t>(empty.size()));
  std::int64_t* at = out.mutable_data();
  empty.each([&](GpuId g) {
    *at++ = static_cast<std::int64_t>(index(g));
    return true;
  });
  return out;
}

/// (GPU, job) of every resident, by rising numbers.
py::tuple running(const PyView& self) {
  const auto& gpus = self.get().gpus();
  std::size_t count = 0;
  for (const GpuState& gpu : gpus) count += gpu.residents.size();
  auto on = array_of<std::int64_t>(count);
  auto jobs = array_of<std::int64_t>(count);
  std::int64_t* gpu_at = on.mutable_data();
  std::int64_t* job_at = jobs.mutable_data();
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    for (const JobId job : gpus[g].residents) {
      *gpu_at++ = static_cast<std::int64_t>(g);
      *job_at++ = static_cast<std::int64_t>(index(job));
    }
  }
  return py::make_tuple(on, jobs);
}

/// As in the handshake of an external policy.
py::list nodes(const PyView& self) {
  py::list list;
  for (const NodeSpec& node : self.get().cluster().nodes) {
    py::dict d;
    d["gpus"] = node.gpus;
    d["gpu_type"] = node.gpu.name;
    d["gpu_type_id"] = node.gpu.id;
    d["switch"] = node.switch_id;
    d["gpu_speed"] = node.gpu.speed;
    d["gpu_memory_mib"] = node.gpu.memory_mib;
    d["cpu_milli"] = node.cpu_milli;
    d["memory_mib"] = node.memory_mib;
    list.append(d);
  }
  return list;
}

py::object speeds(const PyJob& job) {
  if (job.types.empty()) return py::none();
  py::list list;
  for (const ViewOnType& type : job.types) list.append(type.speed);
  return list;
}

py::object service_of(const PyJob& job) {
  if (!job.service) return py::none();
  const ServiceView& service = *job.service;
  py::dict seen;
  seen["service"] = service.service;
  seen["goal_s"] = service.goal_s;
  seen["share"] = service.share;
  seen["least_replicas"] = service.least_replicas;
  seen["most_replicas"] = service.most_replicas;
  seen["over"] = service.over;
  seen["intervals"] = service.intervals;
  seen["load_per_s"] = service.load_per_s;
  seen["latency_s"] = service.latency_s;
  seen["within"] = service.within;
  seen["busy"] = service.busy;
  seen["replicas"] = service.replicas;
  return seen;
}

py::object memory_on_types(const PyJob& job) {
  if (job.types.empty()) return py::none();
  py::list list;
  for (const ViewOnType& type : job.types) list.append(type.memory_mib);
  return list;
}

void bind_job(py::module_& module) {
  const auto of = [](auto member) {
    return [member](const PyJob& job) { return member(job.view); };
  };
  py::class_<PyJob>(module, "Job",
                    "All that a policy may see of a job; None: not known. Times are nanoseconds.")
      .def_property_readonly("job", of([](const JobView& j) { return index(j.id); }), "its number")
      .def_property_readonly("submit_ns", of([](const JobView& j) { return j.submit.count(); }))
      .def_property_readonly("gpus", of([](const JobView& j) { return j.gpus; }))
      .def_property_readonly("gpu_milli", of([](const JobView& j) { return j.gpu_milli; }),
                             "share of each of its GPUs [1/1000]")
      .def_property_readonly("gpu_models", of([](const JobView& j) { return j.gpu_models; }),
                             "bits gpu_type_id of the types on which it may run; 0: any")
      .def_property_readonly("priority", of([](const JobView& j) { return j.priority; }))
      .def_property_readonly("cpu_milli", of([](const JobView& j) { return j.request.cpu_milli; }))
      .def_property_readonly("memory_mib",
                             of([](const JobView& j) { return j.request.memory_mib; }))
      .def_property_readonly("estimate_ns", of([](const JobView& j) {
                               return j.estimate ? std::optional(j.estimate->count())
                                                 : std::nullopt;
                             }),
                             "solo time, only where estimates.duration grants it")
      .def_property_readonly("speeds", &speeds, "alone, by gpu_type_id")
      .def_property_readonly("memory_on_types", &memory_on_types, "demand [MiB], by gpu_type_id")
      .def_property_readonly("gpu_util_pct",
                             of([](const JobView& j) { return j.profile.gpu_util_pct; }))
      .def_property_readonly("mem_alloc_pct",
                             of([](const JobView& j) { return j.profile.mem_alloc_pct; }))
      .def_property_readonly("mem_time_pct",
                             of([](const JobView& j) { return j.profile.mem_time_pct; }))
      .def_property_readonly("mem_used_mib",
                             of([](const JobView& j) { return j.profile.mem_used_mib; }))
      .def_property_readonly("packing_label",
                             of([](const JobView& j) { return j.profile.packing_label; }))
      .def_property_readonly("imputed", of([](const JobView& j) { return j.profile.imputed; }),
                             "the profile stands in for an unpublished one")
      .def_property_readonly("resubmissions", of([](const JobView& j) { return j.resubmissions; }),
                             "returns to the queue after it ran out of memory")
      .def_property_readonly("preemptions", of([](const JobView& j) { return j.preemptions; }))
      .def_property_readonly("resizes", of([](const JobView& j) { return j.resizes; }),
                             "how often it went on on other GPUs")
      .def_property_readonly("phase", of([](const JobView& j) { return j.phase; }),
                             "of a job that changes: its profile is that of this phase, from 0")
      .def_property_readonly(
          "gpus_min", of([](const JobView& j) { return j.gpus_min; }),
          "an elastic job may run on so many GPUs, up to gpus_max; 0: it is not elastic")
      .def_property_readonly("gpus_max", of([](const JobView& j) { return j.gpus_max; }))
      .def_property_readonly(
          "served_ns", [](const PyJob& job) { return job.view.attained(job.now).count(); },
          "time on its GPUs up to now, in its present run and those that were preempted")
      .def_property_readonly("started_ns", of([](const JobView& j) {
                               return j.started ? std::optional(j.started->count()) : std::nullopt;
                             }),
                             "start of its present run; None: it waits")
      .def_property_readonly(
          "service", [](const PyJob& job) { return service_of(job); },
          "of a replica: what was observed of its service in the last interval; None: a job")
      .def("__repr__", [](const PyJob& job) {
        return "<corun.Job " + std::to_string(index(job.view.id)) + ">";
      });
}

}  // namespace

py::object make_view(std::shared_ptr<Turn> turn) { return py::cast(PyView{std::move(turn)}); }

py::object make_job(const JobView& job, Time now) {
  PyJob copy{job, now, {job.on_types.begin(), job.on_types.end()}};
  copy.view.on_types = {};
  if (job.service != nullptr) copy.service = *job.service;
  copy.view.service = nullptr;
  return py::cast(std::move(copy));
}

void bind_policy_view(py::module_& module) {
  bind_job(module);
  const auto of = [](auto member) {
    return [member](const PyView& self) { return member(self.get()); };
  };
  py::class_<PyView>(module, "View",
                     "What a policy sees, during decide(). Jobs and GPUs are numbers, times are "
                     "nanoseconds from the start of the trace.")
      .def_property_readonly("now_ns", of([](const ClusterView& v) { return v.now().count(); }))
      .def_property_readonly(
          "waiting", [](const PyView& v) { return waiting(v, std::nullopt); },
          "array: the queue, oldest first")
      .def(
          "oldest",
          [](const PyView& v, const py::object& most) {
            return waiting(v, count_of(most, "most"));
          },
          py::arg("most"), "the first of `waiting`")
      .def_property_readonly("free", &free_gpus, "array: GPUs without jobs")
      .def(
          "job",
          [](const PyView& v, const py::object& job) {
            return make_job(job_of(v.get(), whole_number(job, "job")), v.get().now());
          },
          py::arg("job"), "a Job that waits or runs; KeyError for any other")
      .def("jobs", &jobs_table, py::arg("jobs"),
           "dictionary of arrays, one per attribute of Job; NaN: not known")
      .def_property_readonly("running", &running, "arrays (gpu, job) of all jobs on GPUs")
      .def(
          "residents",
          [](const PyView& v, const py::object& gpu) {
            py::list list;
            for (const JobId j : v.get().gpu(gpu_of(v.get(), gpu)).residents) list.append(index(j));
            return list;
          },
          py::arg("gpu"), "the jobs on a GPU")
      .def(
          "profiling",
          [](const PyView& v, const py::object& gpu) {
            return v.get().gpu(gpu_of(v.get(), gpu)).profiling;
          },
          py::arg("gpu"), "its only job is being profiled: no job may join it")
      .def(
          "node",
          [](const PyView& v, const py::object& gpu) {
            return index(v.get().gpu(gpu_of(v.get(), gpu)).node);
          },
          py::arg("gpu"), "position in `nodes`")
      .def(
          "may_run_on",
          [](const PyView& v, const py::object& job, const py::object& gpu) {
            return may_run_on(job_of(v.get(), whole_number(job, "job")),
                              v.get().gpu_type(gpu_of(v.get(), gpu)));
          },
          py::arg("job"), py::arg("gpu"), "whether the job may run on the type of this GPU")
      .def("consolidated", &consolidated_gpus, py::arg("gang"), py::arg("without") = py::list(),
           py::arg("job") = py::none(),
           "array: that many free GPUs on as few nodes as can be, as the built-in fifo places a "
           "gang; empty: no room. GPUs of the jobs in `without`, and of no others, count as free. "
           "With `job`: GPUs on whose types it may run")
      .def_property_readonly("gpu_count", of([](const ClusterView& v) { return v.gpus().size(); }))
      .def_property_readonly("nodes", &nodes,
                             "list of dictionaries; a node's GPUs have consecutive numbers")
      .def_property_readonly(
          "start",
          [](const PyView& v) {
            return v.turn->joins || v.get().start_mode() == StartMode::kJoin ? "join" : "group";
          },
          "join: a job may be placed beside a running one")
      .def_property_readonly("max_jobs_per_gpu",
                             of([](const ClusterView& v) { return v.cluster().max_jobs_per_gpu; }))
      .def_property_readonly("departures", of([](const ClusterView& v) { return v.departures(); }),
                             "departures of jobs from their GPUs since the start")
      .def_property_readonly("pass_number", of([](const ClusterView& v) { return v.pass(); }))
      .def_property_readonly(
          "next_wake_ns", of([](const ClusterView& v) {
            return v.next_wake() == kNever ? std::nullopt : std::optional(v.next_wake().count());
          }))
      .def_property_readonly("largest_gang",
                             of([](const ClusterView& v) { return v.largest_gang(); }))
      .def_property_readonly("restricted", of([](const ClusterView& v) { return v.restricted(); }),
                             "a job of the workload may not run on every GPU type")
      .def_property_readonly(
          "seed", [](const PyView& v) { return v.turn->seed; }, "of the replication")
      .def_property_readonly(
          "belief", [](const PyView& v) { return make_belief(v.turn); },
          "a Belief; None without `belief = \"configured\"`");
}

}  // namespace corun::python
