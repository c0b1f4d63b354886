#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/cells/build/cell.h"
#include "lagtape/cells/models/delay_equations.h"
#include "lagtape/ops/delay/delay_problem.h"

namespace lagtape {

/// The initial values of a parameter of equations.
std::vector<double> first_numbers(const ParameterDefinition& parameter);

/// Weights of equations in continuous time that are functions of other weights and of params.
class DerivedValues {
 public:
  /// For each number of a derived weight with respect to which a problem is differentiated: its derivatives
  /// with respect to the trained params.
  using ByParams = std::vector<std::vector<double>>;

  explicit DerivedValues(const Layer& layer) : derive_(layer.weights), definitions_(layer.parameters) {}

  /// The weights and params that are not functions, with their initial values.
  std::vector<std::pair<std::string, std::vector<double>>> free_weights() const;

  /// Sets the empty weights of a problem, and adds a direction for each of their numbers that depends on a
  /// trained param; the directions so far are these params.
  ByParams evaluate(const std::vector<DelayEquations::Param>& params, bool derivatives,
                    DelayProblem& problem) const;

 private:
  std::function<std::vector<Var>(std::span<const Var>)> derive_;
  std::vector<ParameterDefinition> definitions_;
};

/// Adds the derivatives through derived numbers to those with respect to params: [rows x directions] -> without
/// the derived directions, which come after those of the params and before others.
void chain_rule(std::vector<double>& d, std::size_t directions, const DerivedValues::ByParams& through);

}  // namespace lagtape
