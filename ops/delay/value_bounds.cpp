#include "lagtape/ops/delay/value_bounds.h"

#include <algorithm>
#include <cmath>

namespace lagtape {

Bounds bounds_of(const StepProgram& program, int value, const std::vector<Bounds>& weights) {
  const Instruction& v = program.values[value];
  if (v.op == StepOp::constant) return {v.value, v.value};
  if (v.op == StepOp::weight) return weights[static_cast<std::size_t>(v.index)];
  if (v.op == StepOp::broadcast) return bounds_of(program, v.a, weights);
  if (v.op != StepOp::element) return {};
  const Bounds a = bounds_of(program, v.a, weights), b = v.b < 0 ? a : bounds_of(program, v.b, weights);
  switch (v.element) {
    case ElementOp::negate: return {-a.high, -a.low};
    case ElementOp::add: return {a.low + b.low, a.high + b.high};
    case ElementOp::subtract: return {a.low - b.high, a.high - b.low};
    // NaN is an unknown lower bound.
    case ElementOp::minimum:
      return {std::isnan(a.low) || b.low < a.low ? b.low : a.low, std::min(a.high, b.high)};
    case ElementOp::maximum: return {a.low > b.low ? a.low : b.low, std::max(a.high, b.high)};
    case ElementOp::multiply: {
      const auto [least, most] =
          std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
      return {least, most};
    }
    case ElementOp::divide: {
      if (!(b.low > 0 || b.high < 0)) return {};
      const auto [least, most] =
          std::minmax({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
      return {least, most};
    }
    case ElementOp::exp: return {std::exp(a.low), std::exp(a.high)};
    case ElementOp::sqrt: return {std::sqrt(a.low), std::sqrt(a.high)};
    case ElementOp::relu: return {std::isnan(a.low) || a.low < 0 ? 0 : a.low, std::max(a.high, 0.0)};
    case ElementOp::softplus: return {std::log1p(std::exp(a.low)), std::log1p(std::exp(a.high))};
    case ElementOp::sigmoid: return {0, 1};
    case ElementOp::tanh:
    case ElementOp::sin:
    case ElementOp::cos: return {-1, 1};
    default: return {};
  }
}

}  // namespace lagtape
