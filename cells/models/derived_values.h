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

/// The first values of a parameter of equations.
std::vector<double> first_numbers(const ParameterDefinition& parameter);

/// Weights of equations in continuous time that are functions of other weights and of params.
class DerivedValues {
 public:
  /// Of each number of a derived weight by which a problem is differentiated: its derivatives by the params that are trained.
  using ByParams = std::vector<std::vector<double>>;

  explicit DerivedValues(const Layer& layer) : derive_(layer.weights), definitions_(layer.parameters) {}

  /// The weights and params that are no functions, with their first values.
  std::vector<std::pair<std::string, std::vector<double>>> free_weights() const;

  /// Sets the weights of a problem that are empty, and adds a direction for each of their numbers that changes with one of
  /// the params that are trained, which are the directions so far.
  ByParams evaluate(const std::vector<DelayEquations::Param>& params, bool derivatives,
                    DelayProblem& problem) const;

 private:
  std::function<std::vector<Var>(std::span<const Var>)> derive_;
  std::vector<ParameterDefinition> definitions_;
};

/// Adds derivatives by derived numbers to those by params: [rows x directions] -> without the derived directions, which come
/// after those of params and before others.
void chain_rule(std::vector<double>& d, std::size_t directions, const DerivedValues::ByParams& through);

}  // namespace lagtape
