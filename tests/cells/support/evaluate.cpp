#include "lagtape/tests/cells/support/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace lagtape {
namespace {

/// The matrix [out, in] times each of the rows of v [rows, in].
Vector multiply(const Vector& matrix, const Vector& v, std::int64_t out) {
  const auto in = static_cast<std::int64_t>(matrix.size()) / out;
  Vector result;
  for (auto row = v.begin(); row != v.end(); row += in)
    for (std::int64_t i = 0; i < out; ++i)
      result.push_back(std::inner_product(row, row + in, matrix.begin() + i * in, 0.0));
  return result;
}

/// A program step by step, with the states of all steps so far.
class Evaluation {
 public:
  using WeightOf = std::function<Vector(const std::string&)>;

  Evaluation(const StepProgram& program, const WeightOf& weight) : program_(program), weight_(weight) {
    for (const StateDefinition& state : program.states) states_.push_back({Vector(state.shape.width())});
  }

  Vector step(const Vector& x) {
    values_.clear();
    for (const Instruction& v : program_.values) values_.push_back(value_of(v, x));
    for (std::size_t s = 0; s < states_.size(); ++s) states_[s].push_back(values_[program_.states[s].next]);
    ++n_;
    return values_[program_.output];
  }

 private:
  Vector value_of(const Instruction& v, const Vector& x) const {
    switch (v.op) {
      case StepOp::input: return x;
      case StepOp::state: return past(v, 0);
      case StepOp::lag: return past(v, v.lag);
      case StepOp::real_lag: return interpolated(v);
      case StepOp::step_index: return {static_cast<double>(v.lag > 1 ? n_ / v.lag : n_)};
      case StepOp::draw: return Vector(v.shape.width(), program_.draws[v.index].evaluation);
      case StepOp::sum: return summed(v);
      case StepOp::broadcast: return spread(v);
      case StepOp::reshape: return values_[v.a];
      case StepOp::concatenate: {
        Vector all = values_[v.a];
        all.insert(all.end(), values_[v.b].begin(), values_[v.b].end());
        return all;
      }
      case StepOp::slice:
        return {values_[v.a].begin() + v.index, values_[v.a].begin() + v.index + v.shape.size};
      case StepOp::view: {
        Vector all(v.shape.width());
        const Shape axes = v.shape.axes();
        for (std::size_t i = 0; i < all.size(); ++i) {
          std::int64_t place = v.index, rest = static_cast<std::int64_t>(i);
          for (std::size_t axis = axes.size(); axis-- > 0; rest /= axes[axis])
            place += rest % axes[axis] * v.strides[v.strides.size() - axes.size() + axis];
          all[i] = values_[v.a][place];
        }
        return all;
      }
      case StepOp::weight: return weight_(program_.weights[v.index].name);
      case StepOp::constant: return {v.value};
      case StepOp::product:
        return multiply(weight_(program_.weights[v.index].name), values_[v.a], v.shape.size);
      case StepOp::element: return element_wise(v);
    }
    throw std::logic_error("no such operation");
  }

  Vector past(const Instruction& v, std::size_t lag) const {
    return n_ >= lag ? states_[v.index][n_ - lag] : Vector(v.shape.width());
  }

  Vector interpolated(const Instruction& v) const {
    const Vector& tau = values_[v.a];
    Vector read(v.shape.width());
    for (std::size_t u = 0; u < read.size(); ++u) {
      const double lag = std::clamp(tau[tau.size() > 1 ? u : 0], 1.0, static_cast<double>(v.lag));
      const auto near = static_cast<std::size_t>(lag);
      const double f = lag - static_cast<double>(near);
      read[u] = (1 - f) * past(v, near)[u] + f * past(v, near + 1)[u];
    }
    return read;
  }

  Vector summed(const Instruction& v) const {
    const Vector& of = values_[v.a];
    Vector sums(v.shape.width());
    for (std::size_t i = 0; i < of.size(); ++i) sums[i * sums.size() / of.size()] += of[i];
    return sums;
  }

  Vector spread(const Instruction& v) const {
    const Vector& of = values_[v.a];
    Vector wide(v.shape.width());
    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = of[i * of.size() / wide.size()];
    return wide;
  }

  Vector element_wise(const Instruction& v) const {
    const auto element = [&](int id, std::size_t i) {
      return id < 0 ? 0 : values_[id][program_.values[id].op == StepOp::constant ? 0 : i];
    };
    Vector result(v.shape.width());
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = function_of(v.element).value(element(v.a, i), element(v.b, i));
    return result;
  }

  const StepProgram& program_;
  const WeightOf& weight_;
  std::vector<std::vector<Vector>> states_;  // [state][n], before step n
  std::vector<Vector> values_;
  std::size_t n_ = 0;
};

}  // namespace

std::vector<Vector> evaluate(const StepProgram& program,
                             const std::function<Vector(const std::string&)>& weight,
                             const std::vector<Vector>& x) {
  Evaluation evaluation(program, weight);
  std::vector<Vector> outputs;
  for (const Vector& step : x) outputs.push_back(evaluation.step(step));
  return outputs;
}

}  // namespace lagtape
