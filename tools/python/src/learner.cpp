#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/cells/models/model_file.h"
#include "lagtape/core/error.h"
#include "lagtape/tools/python/src/arrays.h"
#include "lagtape/tools/python/src/bindings.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

/// A learner in its model's precision. Python's lock keeps it to one call at a time.
struct OwnedLearner {
  std::variant<Learner<float>, Learner<double>> learner;
  std::string model;  ///< the model's bytes; a model made from the learner differs only in the weights

  OwnedLearner(const Model& of, const LearnerOptions& options)
      : learner(
            with_scalar(of.dtype(), [&]<class T>() -> decltype(learner) { return of.learner<T>(options); })),
        model(serialize_safetensors(content_of(of))) {}
};

void make_learner(OwnedLearner* self, const Model& model, const std::string& method, const std::string& rule,
                  double lr, std::int64_t every, std::int64_t window) {
  new (self) OwnedLearner(model, {.method = learning_method_named(method),
                                  .rule = learning_rule_named(rule),
                                  .lr = lr,
                                  .every = every,
                                  .window = window});
}

/// The numbers of x as a dense array [width] of T.
template <class T>
InputArray<T> vector_of(nb::handle x, std::int64_t width, const char* what) {
  const nb::object convert = nb::module_::import_("lagtape._arrays").attr("numbers_of");
  const auto array = nb::cast<InputArray<T>>(convert(x, name_of(dtype_of<T>).data(), "learner.step"), false);
  if (static_cast<std::int64_t>(array.size()) != width || array.ndim() > 1)
    throw InputError({.op = "learner.step"}, Rule::shape, text_of(what, " is [", width, "]"),
                     text_of(array.size(), " numbers"));
  return array;
}

nb::tuple learner_step(OwnedLearner& self, nb::handle x, nb::handle target) {
  return std::visit(
      [&]<class T>(Learner<T>& learner) {
        const InputArray<T> input = vector_of<T>(x, learner.input_width(), "x");
        InputArray<T> wanted;
        if (!target.is_none()) wanted = vector_of<T>(target, learner.target_width(), "a target");
        T* output = nullptr;
        nb::object y = empty_array<T>({learner.output_width()}, output);
        const double loss = learner.step(input.data(), target.is_none() ? nullptr : wanted.data(), output);
        return nb::make_tuple(y, loss);
      },
      self.learner);
}

Model learned_model(const OwnedLearner& self) {
  Model model = Model::parse(self.model, "the model");
  std::visit([&](const auto& learner) { model.take(learner); }, self.learner);
  return model;
}

nb::dict learner_gradients(const OwnedLearner& self) {
  const Model model = Model::parse(self.model, "the model");
  const std::vector<Tensor> all =
      std::visit([](const auto& learner) { return learner.gradients(); }, self.learner);
  nb::dict named;
  std::size_t i = 0;
  for (const Parameter& parameter : model.parameters()) named[parameter.name.c_str()] = array_of(all[i++]);
  return named;
}

nb::bytes learner_state(const OwnedLearner& self) {
  return std::visit(
      [](const auto& learner) {
        std::vector<std::byte> bytes(learner.state_size());
        learner.save(bytes);
        return nb::bytes(bytes.data(), bytes.size());
      },
      self.learner);
}

void restore_learner(OwnedLearner& self, const nb::bytes& state) {
  const auto* from = static_cast<const std::byte*>(state.data());
  std::visit([&](auto& learner) { learner.restore({from, state.size()}); }, self.learner);
}

}  // namespace

void add_learners(nb::module_& module) {
  nb::class_<OwnedLearner>(module, "Learner")
      .def("__init__", make_learner, nb::arg("model"), nb::arg("method"), nb::arg("rule"), nb::arg("lr"),
           nb::arg("every"), nb::arg("window"))
      .def("_step", learner_step, nb::arg("x"), nb::arg("target").none())
      .def("_model", learned_model)
      .def("_gradients", learner_gradients)
      .def("_save", learner_state)
      .def("_restore", restore_learner, nb::arg("state"))
      .def(
          "reset",
          [](OwnedLearner& self) { std::visit([](auto& learner) { learner.reset(); }, self.learner); },
          "reset()\n\nReturns to the states before the first step; keeps the weights.")
      .def(
          "is_finite",
          [](const OwnedLearner& self) {
            return std::visit([](const auto& learner) { return learner.is_finite(); }, self.learner);
          },
          "is_finite()\n\nWhether all weights and states are finite.")
      .def_prop_ro(
          "steps",
          [](const OwnedLearner& self) {
            return std::visit([](const auto& learner) { return learner.steps(); }, self.learner);
          },
          "Steps fed so far.")
      .def_prop_ro(
          "inexact",
          [](const OwnedLearner& self) {
            return std::visit([](const auto& learner) { return learner.inexact(); }, self.learner);
          },
          "Why the gradient is not the whole one; empty where it is.");
}

}  // namespace lagtape::python
