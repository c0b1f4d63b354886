#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/cells/build/layer_entry.h"
#include "lagtape/cells/build/param_definition.h"
#include "lagtape/core/option_table.h"
#include "lagtape/ops/delay/delay_problem.h"
#include "lagtape/ops/recurrence/equations/equations.h"

namespace lagtape {

/// A history given as a spline through the numbers of a param.
struct HistorySpline {
  std::size_t entry = 0;  ///< index in the histories of the equations
  std::string param = {};
  std::int64_t knots = 0;
};

/// A user-defined cell given by equations (ops/recurrence/equations/equations.h). Its weights are parameters,
/// which start from U(-1/sqrt(units), 1/sqrt(units)) unless `init` says otherwise. A weight that is a lag
/// starts from `middle_of` its maximum, and is kept between 1 and the maximum.
struct CellDefinition {
  std::string name = {}, pointer = {};  ///< its key in "cells", and its place in the file: "/cells/mine"
  EquationCell equations = {};
  std::map<std::string, ParamDefinition> params = {};  ///< by the names in `equations`
  std::map<std::string, Initializer> init = {};
  std::vector<HistorySpline> splines = {};  ///< filled once trained histories have become params
  OdeSolver solver = {};                    ///< the method that solves equations in continuous time

  /// Throws InputError with all errors of the equations, each at its place in the file. Equations in continuous
  /// time go to `right_side`, and the layer then has only parameters.
  Layer build(std::int64_t units, std::int64_t input, std::optional<RightSide>* right_side = nullptr) const;
};

/// Reads an entry of "cells":
///
///     { "hyper":   { "tau": 20 },                    numbers, each an option of the layer with that default
///       "params":  { "a": { "start": 0.2, "min": 0 } },  numbers that are trained (ParamDefinition)
///       "weights": { "W1": ["units", "units"], "b1": "units", "scale": [] },
///       "init":    { "b1": "zeros", "W1": {"type": "uniform", "low": -1, "high": 1} },
///       "derived": { "A": "M - M.T" },               weights of the step, as functions of other weights
///       "lags":    { "theta": 64 },                  weights that are lags, with their largest values
///       "state":   { "h": "units" },
///       "step":    [ "h' = tanh(W1 @ h[-tau] + b1)" ],
///       "output":  "h'",                             or a list, ["h'", "c'"], joined end to end
///       "grammar": 2 }                               1: as in models of version 0.1
///
/// Equations in continuous time have "ode" in place of "step" (cells/ode_cell.h).
///
/// Notes errors in the reader and finishes it.
CellDefinition read_cell_definition(JsonReader& reader);

/// The option "units" of a layer with such a cell. Equations in continuous time need none.
struct EquationUnits {
  std::int64_t units = 1;
  bool may_be_missing = false;
};
extern const OptionTable kEquationUnits;

/// Reads a layer with such a cell: "units", the hyper-parameters and the options of every cell. The caller
/// calls JsonReader::finish.
BuildLayer read_equation_layer(const CellDefinition& definition, JsonReader& reader);

}  // namespace lagtape
