#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lagtape/core/parameter.h"

namespace lagtape {

class Json;

/// An input of equations: numbers at ascending times.
struct DelayInput {
  std::vector<double> times, values;  ///< values: a row a time
  std::int64_t width = 1;
  std::vector<std::string> names = {};  ///< names of its columns; empty: they have none
};

/// Readings of a state up to t = 0, at ascending times.
struct DelayHistory {
  std::vector<double> times, values;
};

/// States that restart at a time, with all their numbers.
struct DelayRestart {
  double t = 0;
  std::vector<double> states = {};
};

/// The result of `DelayEquations::solve`: series with one number for each time.
struct SolvedEquations {
  /// A state, or one number of a state that is a vector; `of`: their names.
  struct Series {
    std::string name;
    std::vector<double> y;               ///< [times]
    std::vector<std::vector<double>> d;  ///< by each of `params`: [times]
  };
  std::vector<double> times;
  std::vector<Series> states;       ///< "y", or "y[0]", "y[1]", ...
  std::vector<std::string> params;  ///< "tau", or "c[0]", "c[1]", ...; empty: no derivatives
  /// The jumps of the states at restarts, [restarts x numbers]: the values before less those after.
  std::vector<double> gaps = {};
  /// Their derivatives by each of `params`. The params of restart 1 are "restart 1[0]", "restart 1[1]", ...
  std::vector<std::vector<double>> gaps_d = {};
  std::int64_t steps = 0;
};

/// Equations in continuous time with values of their params, as one cell of a document has them (cells/ode_cell.h).
class DelayEquations {
 public:
  struct Param {
    std::string name;
    std::vector<double> values;
    bool is_scalar = true, trained = true;
    Bounds bounds = {};
    std::string unit = {};
  };

  /// The cell of that name in an experiment's "cells", with the options of its layer; an empty name means the only cell
  /// in continuous time, or the first one of a layer. A document may also be a cell alone. Throws InputError with all
  /// of its errors.
  DelayEquations(const Json& document, const std::string& cell = {}, std::int64_t input = 1);
  /// The same for a text in JSON.
  explicit DelayEquations(const std::string& text, const std::string& cell = {}, std::int64_t input = 1);

  const std::string& name() const;
  const std::vector<Param>& params() const { return params_; }
  /// Sets a param, or one number "c[0]" of it. Throws InputError for an unknown name.
  void set(const std::string& param, double value);
  /// States whose history is "observed".
  std::vector<std::string> observed_states() const;
  /// Takes the history of a state of one number from readings, at least two of them at times up to 0, instead of the
  /// cell's own (ops/delay/observed_history.h). Throws InputError.
  void observe(const std::string& state, const std::vector<double>& times, const std::vector<double>& values);
  /// Makes params of the weights, "W[0]", "W[1]", ..., from their first values.
  void fit_weights();
  /// Divides the step by so many.
  void refine(std::int64_t times) { refined_ = times; }
  /// Warnings about the discretization, and about an input for a solution up to `end`, one sentence each.
  std::vector<std::string> warnings(const DelayInput& input = {}, double end = 0) const;

  /// The states at these times, from t = 0 on or before it, in f64, and their derivatives by each number of the params
  /// that are trained: exact for the discretization. Throws InputError where a value is not finite, where a lag is
  /// shorter than a step, and for an input that begins after t = 0 or whose columns are in another order than the cell
  /// reads them.
  SolvedEquations solve(const std::vector<double>& times, bool derivatives, const DelayInput& input = {},
                        const std::vector<DelayRestart>& restarts = {}) const;

 private:
  struct Implementation;
  void check_input(const DelayInput& input, double end) const;

  std::shared_ptr<const Implementation> implementation_;
  std::vector<Param> params_;
  std::int64_t refined_ = 1;
  std::vector<DelayHistory> observed_ = {};  // one a state; empty where the cell has the history
};

}  // namespace lagtape
