#include "python/bindings/replay.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <pybind11/stl.h>

#include "models/scoring/device.hpp"
#include "policies/catalog.hpp"
#include "python/bindings/policy_host.hpp"
#include "results/results_writer.hpp"
#include "results/run_info.hpp"
#include "runner/config/config_reader.hpp"
#include "runner/experiment/experiment.hpp"
#include "runner/experiment/experiment_header.hpp"
#include "runner/experiment/trace_experiment.hpp"
#include "runner/inputs/file_kind.hpp"
#include "runner/inputs/input_cache.hpp"
#include "runner/replay/replay.hpp"
#include "runner/replay/replay_files.hpp"
#include "sim/error.hpp"
#include "support/output_file.hpp"

namespace corun::python {

namespace {

/// What the user asked for, without objects of Python.
struct Asked {
  std::optional<std::string> path;  ///< a configuration or a trace
  std::optional<YamlNode> config;
  std::vector<Override> overrides;
  std::string out;
  bool force = false;
  unsigned threads = 1;
  std::string device = "auto";
  std::string data;
};

struct Answer {
  std::string written;  ///< path of the results
  std::vector<std::string> notes;
  bool interrupted = false;
};

Config config_of(const Asked& asked, std::span<const PolicyEntry> catalog) {
  std::vector<Override> overrides = asked.overrides;
  std::optional<std::string> path = asked.path;
  if (path && is_job_trace(*path)) {
    const std::vector<Override> trace = trace_overrides(*path, false, "config");
    overrides.insert(overrides.begin(), trace.begin(), trace.end());
    path.reset();
  }
  if (path) {
    check_kind(*path, {FileKind::kConfiguration}, "a configuration");
    return read_config(*path, overrides, catalog);
  }
  if (asked.config) return config_from_tree(*asked.config, overrides, catalog);
  return default_config_with(overrides, catalog);
}

/// As replay_command.cpp does it.
Answer run(Asked& asked, std::span<const PolicyEntry> catalog, const std::atomic<bool>& stop) {
  const auto started = std::chrono::steady_clock::now();
  Answer answer;
  const std::shared_ptr<Device> device = choose_device(asked.device);
  const Config config = config_of(asked, catalog);
  const Experiment experiment(config, asked.data, {}, device,
                              std::make_shared<InputCache>(asked.threads));
  answer.notes = texts_of(experiment.resolutions());
  for (const Note& note : experiment.notes()) answer.notes.push_back(note.text);
  ReplayFiles files;
  files.output = asked.out;
  files.existing = asked.force ? Existing::kReplace : Existing::kKeepOthers;
  const MadeDirectory none = check_replay_files(experiment, asked.path, files);
  const ResultsHeader header = results_header(experiment);
  ResultsWriter writer(asked.out, header);
  if (!writer.notice().empty()) answer.notes.push_back(writer.notice());
  ReplayOptions options;
  options.threads = asked.threads;
  options.stop = &stop;
  options.on_finished = [&](const Replication& replication, std::size_t, std::size_t) {
    writer.add(replication);
  };
  const ReplayResult result = replay(experiment, options);
  answer.interrupted = result.interrupted;
  if (result.replications.empty()) return answer;
  if (!device->note().empty()) answer.notes.push_back(device->note());
  answer.written = finish_results(writer, asked.out, result);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started;
  write_run_json(answer.written, {wall.count(), asked.threads, device->record(), ""}, header,
                 result);
  if (const std::vector<FailedRun> failed = failed_runs(result); !failed.empty()) {
    throw InputError(experiment.policies()[failed.front().policy].place, failed.front().reason);
  }
  return answer;
}

/// Runs work() on a thread of its own while this one waits for it without the GIL, and looks for Ctrl-C. `stop` is
/// then set, and the policies in Python are interrupted until they have ended: code of theirs may catch one interrupt.
/// Rethrows what work() throws; KeyboardInterrupt goes first.
template <typename Work>
void run_interruptibly(std::atomic<bool>& stop, PolicyHost& host, const Work& work) {
  std::mutex guard;
  std::condition_variable ended;
  bool over = false;
  std::exception_ptr failure;
  std::optional<py::error_already_set> signal;
  {
    std::optional<py::gil_scoped_release> release(std::in_place);
    std::jthread worker([&] {
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(guard);
      over = true;
      ended.notify_all();
    });
    std::unique_lock lock(guard);
    while (!ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return over; })) {
      lock.unlock();
      release.reset();
      if (PyErr_CheckSignals() != 0) {
        signal.emplace();
        stop = true;
      }
      if (signal) host.interrupt();
      release.emplace();
      lock.lock();
    }
  }
  if (signal) throw std::move(*signal);
  if (failure) std::rethrow_exception(failure);
}

/// A value of Python as that of a key; `place` is where it was given.
YamlNode node_of(const py::handle& value, const std::string& key, const std::string& place,
                 int depth = 0) {
  const auto refuse = [&](const std::string& found, const std::string& expected) {
    throw InputError(place, key + ": found " + found + ", expected " + expected);
  };
  const auto text_of = [](const py::handle& any) { return std::string(py::str(any)); };
  const auto is = [&](const char* module, const char* name) {
    return py::isinstance(value, py::module_::import(module).attr(name));
  };
  if (depth > kYamlDepthMax) refuse("lists in lists", "at most " + std::to_string(kYamlDepthMax));
  if (py::isinstance<py::bool_>(value)) {
    return typed_scalar(value.cast<bool>() ? "true" : "false", false, place);
  }
  if (is("numbers", "Integral")) {
    return typed_scalar(text_of(py::int_(py::reinterpret_borrow<py::object>(value))), false, place);
  }
  if (is("numbers", "Real")) {
    const py::float_ number(py::reinterpret_borrow<py::object>(value));
    if (!std::isfinite(number.cast<double>())) refuse(text_of(number), "a finite number");
    return typed_scalar(text_of(number), false, place);
  }
  if (py::isinstance<py::str>(value) || is("os", "PathLike")) {
    const py::object text = py::module_::import("os").attr("fspath")(value);
    return typed_scalar(text.cast<std::string>(), true, place);
  }
  if (py::hasattr(value, "tolist")) {  // numpy
    return node_of(value.attr("tolist")(), key, place, depth + 1);
  }
  YamlNode node = typed_scalar("", false, place);
  node.kind = YamlNode::Kind::kNull;
  if (value.is_none()) return node;
  if (py::isinstance<py::dict>(value)) {
    node.kind = YamlNode::Kind::kMap;
    for (const auto& [name, item] : py::reinterpret_borrow<py::dict>(value)) {
      const YamlNode word = typed_scalar(text_of(name), false, place);
      if (node.find(word.text) != nullptr) refuse("'" + word.text + "' twice", "each key once");
      node.children.push_back(
          node_of(item, key.empty() ? word.text : key + "." + word.text, place, depth + 1));
      node.children.back().key = word.text;
    }
    return node;
  }
  if (!py::isinstance<py::list>(value) && !py::isinstance<py::tuple>(value)) {
    refuse(text_of(py::type::of(value).attr("__name__")), "text, a number, a list or a dictionary");
  }
  node.kind = YamlNode::Kind::kSequence;
  for (const auto& item : py::reinterpret_borrow<py::sequence>(value)) {
    node.children.push_back(node_of(item, key, place, depth + 1));
  }
  return node;
}

[[noreturn]] void throw_input_error(const std::string& what, const PolicyHost& host) {
  const py::object type = py::module_::import("corun.errors").attr("InputError");
  const py::object raised = type(what);
  raised.attr("__cause__") = host.cause_of(what);
  PyErr_SetObject(type.ptr(), raised.ptr());
  throw py::error_already_set();
}

std::string default_data() {
  const char* set = std::getenv("CORUN_DATA");
  return set != nullptr ? set : "";
}

using GivenValue = std::tuple<std::string, py::object, std::string>;  // key, value, argument

py::tuple replay_from_python(std::optional<std::string> path, const py::object& config,
                             const std::vector<GivenValue>& overrides, const py::dict& factories,
                             const py::object& find, std::string out, bool force, int threads,
                             std::string device, std::optional<std::string> data) {
  Asked asked{std::move(path),
              std::nullopt,
              {},
              std::move(out),
              force,
              1,
              std::move(device),
              data ? *data : default_data()};
  asked.threads = threads > 0 ? static_cast<unsigned>(threads)
                              : std::max(1U, std::thread::hardware_concurrency());
  PolicyHost host(factories, find);
  const std::span<const PolicyEntry> built_in = policy_catalog();
  std::vector<PolicyEntry> catalog(built_in.begin(), built_in.end());
  catalog.push_back(host.entry());
  catalog.push_back(host.shares_entry());
  std::atomic<bool> stop{false};
  Answer answer;
  try {
    if (!config.is_none()) asked.config = node_of(config, "", "config");
    for (const auto& [key, value, argument] : overrides) {
      const std::string place = "corun.replay(" + argument + ")";
      asked.overrides.push_back({key, node_of(value, key, place), place});
    }
    run_interruptibly(stop, host, [&] { answer = run(asked, catalog, stop); });
  } catch (const InputError& error) {
    throw_input_error(error.what(), host);
  } catch (const PolicyError& error) {  // one that could not be made
    throw_input_error(error.what(), host);
  } catch (const DeviceError& error) {
    PyErr_SetString(py::module_::import("corun.errors").attr("DeviceError").ptr(), error.what());
    throw py::error_already_set();
  }
  return py::make_tuple(answer.written, answer.notes);
}

}  // namespace

void bind_replay(py::module_& module) {
  module.def("replay", &replay_from_python, py::arg("path"), py::arg("config"),
             py::arg("overrides"), py::arg("factories"), py::arg("find"), py::arg("out"),
             py::arg("force"), py::arg("threads"), py::arg("device"), py::arg("data"),
             "(path of the results, notes); corun.replay() calls it");
}

}  // namespace corun::python
