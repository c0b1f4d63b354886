#include "lagtape/cells/models/recurrence.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/cells/models/model_json.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/optim/onednn_product.h"
#include "lagtape/tools/python/src/arrays.h"
#include "lagtape/tools/python/src/bindings.h"
#include "lagtape/tools/train/train_options.h"

namespace nb = nanobind;

namespace lagtape::python {

ReadAt read_at_named(const std::string& name) {
  for (const ReadAt at : {ReadAt::every_step, ReadAt::last_step, ReadAt::mean})
    if (name == name_of(at)) return at;
  throw InputError(
      unknown_name("at", name, {"every_step", "last_step", "mean"}).within({.op = "recurrence"}));
}

namespace {

/// A recurrence with the threads that it runs on. The lock serializes calls from several threads; it is
/// acquired without holding Python's lock.
struct LockedRecurrence {
  LockedRecurrence(Recurrence made, int threads) : recurrence(std::move(made)), pool(threads) {}

  Recurrence recurrence;
  ThreadPool pool;
  std::mutex mutex = {};
  std::shared_ptr<LockedRecurrence> tangent = {};  // made on first use
};

struct LockedOutputs {
  std::shared_ptr<LockedRecurrence> owner;  // its pool and lock outlive the outputs
  Recurrence::Outputs outputs;
};

/// Reads {"model": {"layers": ...}, "cells": ..., "train": {"memory": ..., "precision": ...}}.
std::shared_ptr<LockedRecurrence> read_recurrence(const std::string& text, std::int64_t input,
                                                  const std::string& at, int threads) {
  const Json json = parse_json(text, "recurrence");
  JsonErrors errors;
  ModelDefinition definition = read_model(json.at("model"), json.at("cells"), errors);
  JsonReader reader(json.at("train"), "/train", errors);
  const TrainOptions options = read_train_options(reader, false);
  errors.raise("recurrence");
  definition.precision = options.precision;
  return std::make_shared<LockedRecurrence>(Recurrence(definition, input, read_at_named(at),
                                                       {.plan = options.memory.plan,
                                                        .budget = options.memory.budget,
                                                        .large_product = fastest_large_product()}),
                                            threads);
}

std::shared_ptr<LockedRecurrence> tangent_of(LockedRecurrence& self) {
  const nb::gil_scoped_release release;
  const std::lock_guard lock(self.mutex);
  if (!self.tangent)
    self.tangent = std::make_shared<LockedRecurrence>(self.recurrence.tangent(), self.pool.threads());
  return self.tangent;
}

Tensor tensor_from(nb::handle array, Dtype dtype) {
  return with_scalar(dtype, [&]<class T>() { return tensor_of(nb::cast<InputArray<T>>(array)); });
}

/// One tensor per array; an empty tensor if there is none.
std::vector<Tensor> tensors_from(const nb::list& arrays, Dtype dtype) {
  std::vector<Tensor> tensors;
  for (const nb::handle array : arrays)
    tensors.push_back(array.is_none() ? Tensor() : tensor_from(array, dtype));
  return tensors;
}

/// The tensors of a window; for states on the grid, in f64.
std::vector<Tensor> window_from(const nb::list& arrays, const Recurrence& recurrence) {
  const Window like = zero_window(recurrence.stack().layers, 1, recurrence.dtype());
  if (arrays.size() > 0 && arrays.size() != like.states.size())
    throw InputError({.op = "recurrence"}, Rule::shape,
                     text_of("a window has ", like.states.size(), " states"), text_of(arrays.size()));
  std::vector<Tensor> window;
  for (std::size_t s = 0; s < arrays.size(); ++s) {
    const nb::handle array = arrays[s];
    window.push_back(array.is_none() ? Tensor() : tensor_from(array, like.states[s].dtype()));
  }
  return window;
}

nb::list arrays_of(const std::vector<Tensor>& tensors) {
  nb::list arrays;
  for (const Tensor& tensor : tensors) arrays.append(tensor.empty() ? nb::none() : array_of(tensor));
  return arrays;
}

/// The arguments other than parameter arrays.
struct Inputs {
  SequenceBatch batch;
  std::vector<std::uint8_t> resets;
  std::vector<Tensor> initial;
};

Inputs inputs_of(const Recurrence& recurrence, nb::handle x, std::vector<std::int64_t> lengths,
                 const nb::list& initial, std::optional<std::uint64_t> seed, const nb::object& reset) {
  Inputs inputs;
  inputs.batch.x = tensor_from(x, recurrence.dtype());
  inputs.batch.lengths = std::move(lengths);
  inputs.batch.training = seed.has_value();
  inputs.batch.draws.seed = seed.value_or(0);
  inputs.initial = window_from(initial, recurrence);
  if (!reset.is_none()) {
    const auto mask = nb::cast<InputArray<std::uint8_t>>(reset);
    inputs.resets.assign(mask.data(), mask.data() + mask.size());
  }
  return inputs;
}

nb::tuple forward(const std::shared_ptr<LockedRecurrence>& self, const nb::list& parameters, nb::handle x,
                  std::vector<std::int64_t> lengths, const nb::list& initial,
                  std::optional<std::uint64_t> seed, const nb::object& reset, bool want_parameters,
                  bool want_x, bool want_initial) {
  const Recurrence& recurrence = self->recurrence;
  const std::vector<Tensor> values = tensors_from(parameters, recurrence.dtype());
  Inputs inputs = inputs_of(recurrence, x, std::move(lengths), initial, seed, reset);
  auto held = [&] {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(self->mutex);
    return LockedOutputs{
        self, recurrence.forward(values, std::move(inputs.batch), self->pool, std::move(inputs.initial),
                                 {want_parameters, want_x, want_initial}, std::move(inputs.resets))};
  }();
  const nb::object y = array_of(held.outputs.outputs());
  const nb::list window = arrays_of(held.outputs.final_window().states);
  return nb::make_tuple(std::move(held), y, window);
}

nb::tuple evaluate(const std::shared_ptr<LockedRecurrence>& self, const nb::list& parameters, nb::handle x,
                   std::vector<std::int64_t> lengths, const nb::list& initial,
                   std::optional<std::uint64_t> seed, const nb::object& reset) {
  const std::vector<Tensor> values = tensors_from(parameters, self->recurrence.dtype());
  const Inputs inputs = inputs_of(self->recurrence, x, std::move(lengths), initial, seed, reset);
  Tensor y;
  Window after;
  {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(self->mutex);
    y = self->recurrence.evaluate(values, inputs.batch, self->pool, inputs.initial, after, inputs.resets);
  }
  return nb::make_tuple(array_of(y), arrays_of(after.states));
}

nb::tuple backward(LockedOutputs& self, nb::handle y, const nb::list& window) {
  const Recurrence& recurrence = self.owner->recurrence;
  const Tensor output_gradient = y.is_none() ? Tensor() : tensor_from(y, recurrence.dtype());
  const std::vector<Tensor> final_gradient = window_from(window, recurrence);
  Recurrence::Outputs::Gradients gradients;
  {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(self.owner->mutex);
    gradients = self.outputs.backward(output_gradient, final_gradient);
  }
  return nb::make_tuple(arrays_of(gradients.parameters),
                        gradients.x.empty() ? nb::none() : array_of(gradients.x),
                        arrays_of(gradients.initial));
}

/// (name, shape, whether it is trained, minimum, maximum) for each parameter.
nb::list parameters_of(const LockedRecurrence& self) {
  nb::list all;
  for (const ParameterDefinition& p : self.recurrence.parameters())
    all.append(
        nb::make_tuple(p.name, nb::tuple(nb::cast(p.shape)), p.trainable, p.bounds.low, p.bounds.high));
  return all;
}

/// (name, shape [steps, 1, width], precision) of each state's window, for a batch of one row.
nb::list states_of(const LockedRecurrence& self) {
  const StackDefinition& stack = self.recurrence.stack();
  nb::list all;
  for (const StepProgram& layer : stack.layers)
    for (std::size_t s = 0; s < layer.states.size(); ++s) {
      const auto [shape, dtype] = state_window(layer, static_cast<int>(s), 1, self.recurrence.dtype());
      all.append(
          nb::make_tuple(layer.states[s].name, nb::tuple(nb::cast(shape)), std::string(name_of(dtype))));
    }
  return all;
}

}  // namespace

void add_recurrences(nb::module_& module) {
  nb::class_<LockedOutputs>(module, "RecurrenceOutputs")
      .def("backward", backward, nb::arg("y").none(), nb::arg("window"));
  nb::class_<LockedRecurrence>(module, "Recurrence")
      .def_prop_ro("parameters", parameters_of)
      .def_prop_ro("states", states_of)
      .def_prop_ro("has_draws", [](const LockedRecurrence& self) { return self.recurrence.has_draws(); })
      .def_prop_ro("output_width",
                   [](const LockedRecurrence& self) { return self.recurrence.stack().output_width(); })
      .def("tangent", tangent_of)
      .def("first_values", [](const LockedRecurrence& self,
                              std::uint64_t seed) { return arrays_of(self.recurrence.first_values(seed)); })
      .def("forward", forward, nb::arg("parameters"), nb::arg("x"), nb::arg("lengths"), nb::arg("window"),
           nb::arg("seed").none(), nb::arg("reset").none(), nb::arg("want_parameters"), nb::arg("want_x"),
           nb::arg("want_window"))
      .def("evaluate", evaluate, nb::arg("parameters"), nb::arg("x"), nb::arg("lengths"), nb::arg("window"),
           nb::arg("seed").none(), nb::arg("reset").none());
  module.def("read_recurrence", read_recurrence);
}

}  // namespace lagtape::python
