#include "lagtape/cells/models/derived_values.h"

#include <algorithm>

#include "lagtape/cells/models/fitted_model.h"

namespace lagtape {
namespace {

std::vector<double> numbers_of(const Tensor& values) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < values.numel(); ++i) numbers.push_back(values.at(i));
  return numbers;
}

}  // namespace

std::vector<double> first_numbers(const ParameterDefinition& parameter) {
  return numbers_of(first_value(parameter, Dtype::f64, 0));
}

std::vector<std::pair<std::string, std::vector<double>>> DerivedValues::free_weights() const {
  std::vector<std::pair<std::string, std::vector<double>>> all;
  for (const ParameterDefinition& one : definitions_) all.emplace_back(one.name, first_numbers(one));
  return all;
}

DerivedValues::ByParams DerivedValues::evaluate(const std::vector<DelayEquations::Param>& params,
                                                bool derivatives, DelayProblem& problem) const {
  Parameters parameters;
  for (const ParameterDefinition& one : definitions_) {
    Parameter& parameter = parameters.add(one.name, first_value(one, Dtype::f64, 0));
    const auto given = std::ranges::find(params, one.name, &DelayEquations::Param::name);
    for (std::size_t i = 0; given != params.end() && i < given->values.size(); ++i)
      parameter.value.set(static_cast<std::int64_t>(i), given->values[i]);
  }
  Tape tape;
  std::vector<Var> leaves;
  for (Parameter& parameter : parameters) leaves.push_back(tape.parameter(parameter));
  const std::vector<Var> weights = derive_(leaves);
  ByParams through;
  for (std::size_t w = 0; w < weights.size(); ++w) {
    if (!problem.weights[w].empty()) continue;
    const Tensor& value = weights[w].value();
    problem.weights[w] = numbers_of(value);
    for (std::int64_t i = 0; derivatives && i < value.numel(); ++i) {
      Tensor one(value.shape(), Dtype::f64);
      one.set(i, 1);
      parameters.zero_grad();
      tape.backward(weights[w], one);
      std::vector<double> by;
      for (const DelayEquations::Param& param : params)
        for (std::size_t k = 0; param.trained && k < param.values.size(); ++k)
          by.push_back(parameters[param.name].grad.at(static_cast<std::int64_t>(k)));
      if (std::ranges::all_of(by, [](double d) { return d == 0; })) continue;
      problem.directions.emplace_back(static_cast<int>(w), i);
      through.push_back(std::move(by));
    }
  }
  return through;
}

void chain_rule(std::vector<double>& d, std::size_t directions, const DerivedValues::ByParams& through) {
  if (through.empty()) return;
  const std::size_t own = through.front().size(), kept = directions - through.size();
  std::vector<double> result;
  for (std::size_t row = 0; row < d.size(); row += directions)
    for (std::size_t p = 0; p < kept; ++p) {
      result.push_back(d[row + (p < own ? p : p + through.size())]);
      for (std::size_t k = 0; p < own && k < through.size(); ++k)
        result.back() += d[row + own + k] * through[k][p];
    }
  d = std::move(result);
}

}  // namespace lagtape
