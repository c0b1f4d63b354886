#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <exception>
#include <string>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json.h"
#include "lagtape/tools/python/src/bindings.h"
#include "lagtape/tools/python/src/given_experiment.h"
#include "lagtape/tools/train/training_run.h"
#include "lagtape/tools/train/warnings.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

/// Calls the methods of a Python object while a training runs without the GIL. What they raise, and signals such as Ctrl-C,
/// stop the training, which then saves its state.
class Listener {
 public:
  explicit Listener(nb::handle object) : object_(object) {}

  template <class... Arguments>
  void call(const char* method, const Arguments&... arguments) {
    if (raised_) return;
    const nb::gil_scoped_acquire acquire;
    try {
      object_.attr(method)(arguments...);
    } catch (...) {
      raised_ = std::current_exception();
    }
  }

  /// Whether it is time for a call that is too slow to be made at every step.
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

  bool stop_requested() {
    if (!raised_ && is_due(asked_)) {
      const nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) raised_ = std::make_exception_ptr(nb::python_error());
    }
    return raised_ != nullptr;
  }

  /// Raises in Python what stopped the training. `message` says where it was saved.
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
  std::chrono::steady_clock::time_point stepped_, asked_;
};

RunOptions options_of(Listener& listener) {
  RunOptions options;
  options.hooks.stepped = [&](const StepReport& report) { listener.stepped(report); };
  options.hooks.evaluated = [&](const EvaluationReport& report) {
    listener.call("evaluated", json_of(report).dump(), report.kept);
  };
  options.hooks.stop_requested = [&] { return listener.stop_requested(); };
  options.built = [&](const Trainer& trainer, const TrainingSetup& setup) {
    for (const std::string& warning : training_warnings(trainer, setup.model, setup.task))
      listener.call("warned", warning);
  };
  return options;
}

/// Trains into a run folder, runs/NAME-SEED when `out` is empty. Returns the folder.
std::string train(const GivenExperiment& given, const std::string& out, bool resume, int threads,
                  nb::handle object) {
  Listener listener(object);
  std::string folder = out, message;
  {
    const nb::gil_scoped_release release;
    const GivenScope given_files = given.give();
    const Experiment experiment = given.read();
    if (folder.empty()) folder = text_of("runs/", experiment.name, "-", experiment.seed);
    RunOptions options = options_of(listener);
    options.folder = folder;
    options.resume = resume;
    options.threads = threads;
    try {
      train_run(experiment, options);
    } catch (const Interrupted& error) {
      message = error.what();
    }
  }
  listener.raise(message);
  return folder;
}

}  // namespace

void add_training(nb::module_& module) {
  module.def("train", train, nb::arg("experiment"), nb::arg("out"), nb::arg("resume"), nb::arg("threads"),
             nb::arg("listener"));
}

}  // namespace lagtape::python
