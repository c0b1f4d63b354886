#include <nanobind/nanobind.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "lagtape/cells/build/layer_content.h"
#include "lagtape/cells/equation_cell.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/ops/kernels/element_functions.h"
#include "lagtape/ops/recurrence/equations/equations.h"
#include "lagtape/tools/python/src/bindings.h"

namespace nb = nanobind;

namespace lagtape::python {

namespace {

/// The step programs of a layer, as text. `cells` is the "cells" of an experiment, `layer` an entry of its layers.
std::string program(const std::string& cells, const std::string& layer, std::int64_t input) {
  JsonErrors errors;
  const ModelDefinition model = read_model({{"layers", Json::array({parse_json(layer, "the layer")})}},
                                           parse_json(cells, "the cells"), errors);
  errors.raise("the layer");
  const LayerContent& content = model.layers.front().content();
  try {
    std::string text;
    for (const Layer& built : content.build(input).layers) text += to_string(built.program);
    return text;
  } catch (const InputError& error) {
    if (!error.problems().front().place.item.empty()) throw;
    throw error.within({.item = text_of("cell '", content.name, "'")});
  }
}

/// The element-wise functions in equations: names, formulas and numbers of operands.
std::vector<std::tuple<std::string, std::string, int>> element_functions() {
  std::vector<std::tuple<std::string, std::string, int>> rows;
  for (const ElementFunction& f : kElementFunctions)
    if (f.notation == ElementNotation::function) rows.emplace_back(f.name, f.formula, f.arrays);
  return rows;
}

}  // namespace

void add_cells(nb::module_& module) {
  module.def("program", program, nb::arg("cells"), nb::arg("layer"), nb::arg("input"));
  module.def("element_functions", element_functions);
  module.def("equation_functions", equation_function_names);
}

}  // namespace lagtape::python
