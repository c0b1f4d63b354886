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
  std::vector<double> times, values;  ///< values: one row per time
  std::int64_t width = 1;
  std::vector<std::string> names = {};  ///< names of its columns; empty: none
};

/// Readings of a state up to t = 0, at ascending times.
struct DelayHistory {
  std::vector<double> times, values;
};

/// States that restart at a time, each with all its numbers.
struct DelayRestart {
  double t = 0;
  std::vector<double> states = {};
};

/// The result of `DelayEquations::solve`: series with one number for each time.
struct SolvedEquations {
  /// A state, or one number of a vector state; `of`: their names.
  struct Series {
    std::string name;
    std::vector<double> y;               ///< [times]
    std::vector<std::vector<double>> d;  ///< with respect to each of `params`: [times]
  };
  std::vector<double> times;
  std::vector<Series> states;       ///< "y", or "y[0]", "y[1]", ...
  std::vector<std::string> params;  ///< "tau", or "c[0]", "c[1]", ...; empty: no derivatives
  /// The jumps of the states at restarts, [restarts x numbers]: the values before minus those after.
  std::vector<double> gaps = {};
  /// Their derivatives with respect to each of `params`. The params of restart 1 are "restart 1[0]", "restart
  /// 1[1]", ...
  std::vector<std::vector<double>> gaps_d = {};
  std::int64_t steps = 0;
};

/// Equations in continuous time with values for their params, as one cell in a document defines them
/// (cells/ode_cell.h).
class DelayEquations {
 public:
  struct Param {
    std::string name;
    std::vector<double> values;
    bool is_scalar = true, trained = true;
    Bounds bounds = {};
    std::string unit = {};
  };

  /// The cell with that name in an experiment's "cells", with its layer's options; an empty name means the only
  /// cell in continuous time, or the first one used in a layer. A document may also be just a cell. Throws
  /// InputError with all its errors.
  DelayEquations(const Json& document, const std::string& cell = {}, std::int64_t input = 1);
  /// The same for a JSON text.
  explicit DelayEquations(const std::string& text, const std::string& cell = {}, std::int64_t input = 1);

  const std::string& name() const;
  const std::vector<Param>& params() const { return params_; }
  /// Sets a param, or one of its numbers, "c[0]". Throws InputError for an unknown name.
  void set(const std::string& param, double value);
  /// States whose history is "observed".
  std::vector<std::string> observed_states() const;
  /// Uses readings, at least two of them at times up to 0, as the history of a scalar state, instead of the
  /// cell's own history (ops/delay/observed_history.h). Throws InputError.
  void observe(const std::string& state, const std::vector<double>& times, const std::vector<double>& values);
  /// Turns the weights into params "W[0]", "W[1]", ..., which start at their initial values.
  void fit_weights();
  /// Divides the step by this number.
  void refine(std::int64_t times) { refined_ = times; }
  /// Warnings about the discretization, and about an input for a solution up to `end`, one sentence each.
  std::vector<std::string> warnings(const DelayInput& input = {}, double end = 0) const;

  /// The states at these times, before or after t = 0, in f64, and their derivatives with respect to each
  /// number of the trained params, exact for the discretization. Throws InputError if a value is not finite, if
  /// a lag is shorter than a step, and for an input that starts after t = 0 or whose columns are not in the
  /// order in which the cell reads them.
  SolvedEquations solve(const std::vector<double>& times, bool derivatives, const DelayInput& input = {},
                        const std::vector<DelayRestart>& restarts = {}) const;

 private:
  struct Implementation;
  void check_input(const DelayInput& input, double end) const;

  std::shared_ptr<const Implementation> implementation_;
  std::vector<Param> params_;
  std::int64_t refined_ = 1;
  std::vector<DelayHistory> observed_ = {};  // one per state; empty if the cell defines the history
};

}  // namespace lagtape
