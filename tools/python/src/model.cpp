#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/cells/models/model_file.h"
#include "lagtape/core/json/normalization_json.h"
#include "lagtape/tools/exchange/import/import_model.h"
#include "lagtape/tools/python/src/arrays.h"
#include "lagtape/tools/python/src/bindings.h"
#include "lagtape/tools/train/provenance.h"
#include "lagtape/tools/train/source.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

template <class T>
nb::object predict(const Model& model, const InputArray<T>& x, const std::vector<std::int64_t>& lengths,
                   int threads) {
  Tensor y;
  {
    const nb::gil_scoped_release release;
    y = model.predict(tensor_of(x), lengths, threads);
  }
  return array_of(y);
}

/// The parameters by name, as read-only arrays: a model never changes.
nb::dict parameters_of(const Model& model) {
  nb::dict parameters;
  for (const Parameter& parameter : model.parameters())
    parameters[parameter.name.c_str()] = array_of(parameter.value, false);
  return parameters;
}

/// The model for one series, for a model that scales each series separately.
Model model_of_series(const Model& model, const std::string& name) {
  Model one = Model::parse(serialize_safetensors(content_of(model)), "the model");
  one.use_series(name);
  return one;
}

std::vector<std::string> series_of(const Model& model) {
  std::vector<std::string> names;
  for (const auto& [name, normalization] : model.series()) names.push_back(name);
  return names;
}

nb::list layers_of(const Model& model) {
  nb::list layers;
  for (const LayerSummary& layer : model.layers()) {
    nb::dict entry;
    entry["name"] = layer.name;
    entry["params"] = layer.params;
    entry["largest_lag"] = layer.largest_lag();
    nb::list programs;
    for (const StepProgram& step : layer.steps) programs.append(to_string(step));
    entry["programs"] = programs;
    layers.append(entry);
  }
  return layers;
}

}  // namespace

void add_models(nb::module_& module) {
  const auto release = nb::call_guard<nb::gil_scoped_release>();
  module.def(
      "import_model",
      [](const std::filesystem::path& file, const std::string& format, const std::vector<std::string>& order,
         const std::string& nonlinearity, const std::string& precision, std::optional<double> rest,
         const std::string& between) {
        std::optional<Precision> wanted;
        if (!precision.empty()) wanted = precision_named(precision);
        return import_model(file, {format, order, nonlinearity, wanted, rest, between}).model;
      },
      nb::arg("file"), nb::arg("format"), nb::arg("order"), nb::arg("nonlinearity"), nb::arg("precision"),
      nb::arg("rest").none(), nb::arg("between"), release);
  nb::class_<Model>(module, "Model")
      .def_static(
          "load", [](const std::filesystem::path& path) { return load_model(path.string()); }, release)
      .def_static("parse",
                  [](const nb::bytes& bytes, const std::string& where) {
                    return Model::parse({bytes.c_str(), bytes.size()}, where);
                  })
      .def("pack",
           [](const Model& model) {
             const std::string bytes = serialize_safetensors(content_of(model));
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def(
          "save", [](const Model& model, const std::filesystem::path& file) { model.save(file); }, release)
      .def("predict", predict<float>, nb::arg("x"), nb::arg("lengths"), nb::arg("threads"))
      .def("predict", predict<double>, nb::arg("x"), nb::arg("lengths"), nb::arg("threads"))
      .def("use_series", model_of_series, nb::arg("name"), release)
      .def_prop_ro("series", series_of)
      .def_prop_ro("dtype", [](const Model& model) { return std::string(name_of(model.dtype())); })
      .def_prop_ro("input_width", &Model::input_width)
      .def_prop_ro("output_width", &Model::output_width)
      .def_prop_ro("classes", &Model::classes)
      .def_prop_ro("tokens", &Model::tokens)
      .def_prop_ro("reads_every_step", [](const Model& model) { return reads_every_step(model.at()); })
      .def_prop_ro("experiment", [](const Model& model) { return document_of(model).dump(2); })
      .def_prop_ro("normalization", [](const Model& model) { return json_of(model.normalization()); })
      .def_prop_ro("layers", layers_of)
      .def_prop_ro("parameters", parameters_of);
}

}  // namespace lagtape::python
