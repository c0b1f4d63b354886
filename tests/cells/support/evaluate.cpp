#include "lagtape/tests/cells/support/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace lagtape {
namespace {

double apply(StepOp op, double a, double b) {
  switch (op) {
    case StepOp::negate: return -a;
    case StepOp::tanh: return std::tanh(a);
    case StepOp::sigmoid: return 1 / (1 + std::exp(-a));
    case StepOp::relu: return std::max(a, 0.0);
    case StepOp::sqrt: return std::sqrt(a);
    case StepOp::abs: return std::abs(a);
    case StepOp::sign: return (a > 0) - (a < 0);
    case StepOp::add: return a + b;
    case StepOp::subtract: return a - b;
    case StepOp::multiply: return a * b;
    case StepOp::divide: return a / b;
    case StepOp::minimum: return std::min(a, b);
    case StepOp::maximum: return std::max(a, b);
    default: throw std::logic_error("no such operation here");
  }
}

Vector multiply(const Vector& matrix, const Vector& v, std::int64_t out) {
  Vector result(out);
  for (std::int64_t i = 0; i < out; ++i) {
    result[i] = std::inner_product(v.begin(), v.end(), matrix.begin() + i * v.size(), 0.0);
  }
  return result;
}

}  // namespace

std::vector<Vector> evaluate(const StepProgram& program,
                             const std::function<Vector(const std::string&)>& weight,
                             const std::vector<Vector>& x) {
  std::vector<std::vector<Vector>> states;  // [state][n], the state before step n
  for (const StateDefinition& state : program.states) states.push_back({Vector(state.shape.width())});
  std::vector<Vector> outputs;
  for (std::size_t n = 0; n < x.size(); ++n) {
    std::vector<Vector> values;
    for (const Instruction& v : program.values) {
      const auto past = [&](std::size_t lag) {
        return n >= lag ? states[v.index][n - lag] : Vector(v.shape.width());
      };
      switch (v.op) {
        case StepOp::input: values.push_back(x[n]); break;
        case StepOp::state: values.push_back(past(0)); break;
        case StepOp::lag: values.push_back(past(v.lag)); break;
        case StepOp::weight: values.push_back(weight(program.weights[v.index].name)); break;
        case StepOp::step_index: values.push_back({static_cast<double>(n)}); break;
        case StepOp::draw:
          values.push_back(Vector(v.shape.width(), program.draws[v.index].evaluation));
          break;
        case StepOp::sum: {
          const Vector& of = values[v.a];
          values.push_back(Vector(v.shape.width()));
          for (std::size_t i = 0; i < of.size(); ++i) values.back()[i * v.shape.width() / of.size()] += of[i];
          break;
        }
        case StepOp::reshape: values.push_back(Vector(values[v.a])); break;
        case StepOp::broadcast:
          values.push_back(Vector(v.shape.width()));
          for (std::size_t i = 0; i < values.back().size(); ++i)
            values.back()[i] = values[v.a][i * values[v.a].size() / values.back().size()];
          break;
        case StepOp::constant: values.push_back({v.value}); break;
        case StepOp::product:
          values.push_back(multiply(weight(program.weights[v.index].name), values[v.a], v.shape.size));
          break;
        default: {
          Vector result(v.shape.width());
          const auto element = [&](int id, std::size_t i) {
            return id < 0 ? 0 : values[id][program.values[id].op == StepOp::constant ? 0 : i];
          };
          for (std::size_t i = 0; i < result.size(); ++i)
            result[i] = apply(v.op, element(v.a, i), element(v.b, i));
          values.push_back(result);
        }
      }
    }
    for (std::size_t s = 0; s < states.size(); ++s) states[s].push_back(values[program.states[s].next]);
    outputs.push_back(values[program.output]);
  }
  return outputs;
}

}  // namespace lagtape
