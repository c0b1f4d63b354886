#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json.h"
#include "lagtape/tools/python/src/bindings.h"
#include "lagtape/tools/python/src/given_experiment.h"
#include "lagtape/tools/train/training_run.h"
#include "lagtape/tools/train/warnings.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

/// Calls a Python object's methods while training runs without the GIL. Their exceptions, and signals such as
/// Ctrl-C, stop training, which then saves its state.
class Listener {
 public:
  explicit Listener(nb::handle object) : object_(object) {}

  /// Whether the method returned True.
  template <class... Arguments>
  bool call(const char* method, const Arguments&... arguments) {
    if (raised_) return false;
    const nb::gil_scoped_acquire acquire;
    try {
      return object_.attr(method)(arguments...).ptr() == Py_True;
    } catch (...) {
      raised_ = std::current_exception();
      return false;
    }
  }

  /// Whether it is time for a call that would be too slow at every step.
  bool is_due(std::chrono::steady_clock::time_point& last) const {
    constexpr std::chrono::milliseconds kInterval(50);
    const auto now = std::chrono::steady_clock::now();
    if (now - last < kInterval) return false;
    last = now;
    return true;
  }

  void stepped(const StepReport& report) {
    if (is_due(stepped_))
      call("stepped", report.position.epoch, report.position.step, report.steps, report.loss);
  }

  void evaluated(const EvaluationReport& report) {
    is_enough_ = call("evaluated", json_of(report).dump(), report.kept);
  }
  bool is_enough() const { return is_enough_; }

  bool stop_requested() {
    if (!raised_ && is_due(asked_)) {
      const nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) raised_ = std::make_exception_ptr(nb::python_error());
    }
    return raised_ != nullptr;
  }

  /// Raises in Python whatever stopped training. `message` says where the state was saved.
  void raise(const std::string& message) {
    if (!raised_) return;
    try {
      std::rethrow_exception(raised_);
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_KeyboardInterrupt) || message.empty()) throw;
      PyErr_SetString(PyExc_KeyboardInterrupt, message.c_str());
    }
    nb::raise_python_error();
  }

 private:
  nb::handle object_;
  std::exception_ptr raised_;
  bool is_enough_ = false;
  std::chrono::steady_clock::time_point stepped_, asked_;
};

RunOptions options_of(Listener& listener) {
  RunOptions options;
  options.hooks.stepped = [&](const StepReport& report) { listener.stepped(report); };
  options.hooks.evaluated = [&](const EvaluationReport& report) { listener.evaluated(report); };
  options.hooks.is_enough = [&] { return listener.is_enough(); };
  options.hooks.stop_requested = [&] { return listener.stop_requested(); };
  options.built = [&](const Trainer& trainer, const TrainingSetup& setup) {
    for (const std::string& warning : training_warnings(trainer, setup.model, setup.task))
      listener.call("warned", warning);
  };
  return options;
}

/// Trains without the GIL. `prepare` completes the options. Raises in Python whatever stopped it.
template <class Prepare>
RunSummary train(const GivenExperiment& given, int threads, nb::handle object, Prepare prepare) {
  Listener listener(object);
  RunSummary summary;
  std::string message;
  {
    const nb::gil_scoped_release release;
    const GivenScope given_files = given.give();
    const Experiment experiment = given.read();
    RunOptions options = options_of(listener);
    options.threads = threads;
    prepare(experiment, options);
    try {
      summary = train_run(experiment, options);
    } catch (const Interrupted& error) {
      message = error.what();
    }
  }
  listener.raise(message);
  return summary;
}

/// Trains into a run folder, runs/NAME-SEED if `out` is empty. Returns the folder.
std::string train_into(const GivenExperiment& given, const std::string& out, bool resume, int threads,
                       nb::handle listener) {
  std::string folder = out;
  train(given, threads, listener, [&](const Experiment& experiment, RunOptions& options) {
    if (folder.empty()) folder = text_of("runs/", experiment.name, "-", experiment.seed);
    options.folder = folder;
    options.resume = resume;
  });
  return folder;
}

/// Trains without writing anything. Returns the model, and the summary as JSON.
std::pair<std::unique_ptr<Model>, std::string> train_in_memory(const GivenExperiment& given, int threads,
                                                               nb::handle listener) {
  std::unique_ptr<Model> trained;
  const RunSummary summary = train(given, threads, listener, [&](const Experiment&, RunOptions& options) {
    options.trained = [&](Model&& model) { trained = std::make_unique<Model>(std::move(model)); };
  });
  return {std::move(trained), json_of(summary).dump()};
}

}  // namespace

void add_training(nb::module_& module) {
  module.def("train", train_into, nb::arg("experiment"), nb::arg("out"), nb::arg("resume"),
             nb::arg("threads"), nb::arg("listener"));
  module.def("train_in_memory", train_in_memory, nb::arg("experiment"), nb::arg("threads"),
             nb::arg("listener"));
}

}  // namespace lagtape::python
