#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/json/normalization_json.h"
#include "lagtape/tools/exchange/import/built_model.h"
#include "lagtape/tools/exchange/import/live_modules.h"
#include "lagtape/tools/exchange/import/lowering.h"
#include "lagtape/tools/python/src/arrays.h"
#include "lagtape/tools/python/src/bindings.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

/// f64 arrays by name.
std::vector<NamedTensor> named_tensors(const nb::dict& arrays) {
  std::vector<NamedTensor> tensors;
  for (const auto& [name, array] : arrays)
    tensors.push_back({nb::cast<std::string>(name), tensor_of(nb::cast<InputArray<double>>(array))});
  return tensors;
}

/// The model of an experiment without data, with the values of all its parameters.
Model build_model(const std::string& experiment, std::int64_t input, const nb::dict& values,
                  const std::string& normalization, const std::string& where) {
  ModelContent content{.experiment = parse_json(experiment, where), .input = input};
  for (NamedTensor& value : named_tensors(values)) content.values[value.name] = value.tensor;
  if (!normalization.empty()) content.normalization = normalization_from(normalization, where);
  return built_model(content, where);
}

/// A model made from PyTorch modules, each (kind, name, function). `experiment` has its "name", "at", "loss"
/// and "precision".
Model build_from_modules(const std::string& experiment,
                         const std::vector<std::tuple<std::string, std::string, std::string>>& modules,
                         const nb::dict& tensors, const std::string& normalization,
                         const std::string& where) {
  using Kind = foreign::LiveModule::Kind;
  std::vector<foreign::LiveModule> live;
  for (const auto& [kind, name, function] : modules)
    live.push_back({kind == "function"    ? Kind::function
                    : kind == "embedding" ? Kind::embedding
                                          : Kind::weights,
                    name, function});
  const Json json = parse_json(experiment, where);
  foreign::ForeignModel model = foreign::read_modules(named_tensors(tensors), live, where);
  model.at = read_at_named(json.at("at").get<std::string>());
  model.loss = json.at("loss");
  model.precision = precision_named(json.at("precision").get<std::string>());
  if (!normalization.empty()) model.normalization = normalization_from(normalization, where);
  return foreign::lowered(model, json.at("name").get<std::string>(), where);
}

}  // namespace

void add_built_models(nb::module_& module) {
  module.def("build_model", build_model);
  module.def("build_from_modules", build_from_modules);
}

}  // namespace lagtape::python
