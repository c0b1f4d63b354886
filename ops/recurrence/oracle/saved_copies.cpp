#include "lagtape/ops/recurrence/oracle/saved_copies.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/broadcast.h"
#include "lagtape/ops/element.h"
#include "lagtape/ops/recurrence/derive/adjoint.h"
#include "lagtape/ops/recurrence/oracle/unroll_product.h"

namespace lagtape::recurrence {

SavedCopies::SavedCopies(const StepProgram& program)
    : program_(program),
      rounded_(rounded_values(program)),
      rounded_sums_(rounded_sums(program)),
      kept_(program.values.size(), false),
      seen_(program.values.size()) {
  kept_[program.output] = true;
  for (const StateDefinition& state : program.states) kept_[state.next] = true;
}

void SavedCopies::take(int id, const Tensor& value) { seen_[id] = seen(id, value); }

Tensor SavedCopies::seen(int id, const Tensor& value) const {
  if (rounded_[id]) return rounded_to_bf16(value);
  if (kept_[id]) return value;
  const Instruction& v = program_.values[id];
  switch (v.op) {
    case StepOp::reshape: return at(v.a).reshaped(value.shape());
    case StepOp::broadcast: {
      Shape with_axis = at(v.a).shape();
      with_axis.push_back(1);
      return expand(at(v.a).reshaped(with_axis), value.shape());
    }
    case StepOp::element: {
      if (function_of(v.element).cost == ElementCost::many) return value;
      const auto operand = [&](int o) { return o < 0 ? Tensor() : expand(at(o), value.shape()); };
      return element(v.element, operand(v.a), operand(v.b));
    }
    default: return value;
  }
}

namespace {

/// df/da and df/db.
std::pair<double, double> slopes(ElementOp f, double a, double b, double y) {
  const auto sign = [](double x) { return static_cast<double>((x > 0) - (x < 0)); };
  switch (f) {
    case ElementOp::negate: return {-1, 0};
    case ElementOp::tanh: return {1 - y * y, 0};
    case ElementOp::sigmoid: return {y * (1 - y), 0};
    case ElementOp::softplus: return {1 / (1 + std::exp(-a)), 0};
    case ElementOp::relu: return {y > 0 ? 1 : 0, 0};
    case ElementOp::exp: return {y, 0};
    case ElementOp::log: return {1 / a, 0};
    case ElementOp::sqrt: return {0.5 / y, 0};
    case ElementOp::abs: return {sign(a), 0};
    case ElementOp::sin: return {std::cos(a), 0};
    case ElementOp::cos: return {-std::sin(a), 0};
    case ElementOp::erf: return {2 * std::numbers::inv_sqrtpi * std::exp(-a * a), 0};
    case ElementOp::add: return {1, 1};
    case ElementOp::subtract: return {1, -1};
    case ElementOp::multiply: return {b, a};
    case ElementOp::divide: return {1 / b, -y / b};
    case ElementOp::minimum: return a <= b ? std::pair(1.0, 0.0) : std::pair(0.0, 1.0);
    case ElementOp::maximum: return a >= b ? std::pair(1.0, 0.0) : std::pair(0.0, 1.0);
    case ElementOp::sign:
    case ElementOp::floor: return {0, 0};
    default: throw Error(text_of("[unroll] no slope is known of ", function_of(f).name));
  }
}

}  // namespace

Var element_from_saved(ElementOp f, const Var& a, const Var& b, const Tensor& y, const SavedOperands& saved) {
  const bool binary = function_of(f).arrays > 1;
  std::vector<Var> inputs{a};
  if (binary) inputs.push_back(b);
  const Shape shape_a = a.shape(), shape_b = binary ? b.shape() : Shape();
  return a.tape().record(y, inputs, [=](const Tensor& d, InputGradients& gradients) {
    const Tensor at_a = expand(saved.a, d.shape()), at_y = expand(saved.y, d.shape());
    const Tensor at_b = binary ? expand(saved.b, d.shape()) : at_a;
    Tensor to_a(d.shape(), d.dtype()), to_b(d.shape(), d.dtype());
    for (std::int64_t i = 0; i < d.numel(); ++i) {
      const auto [along_a, along_b] = slopes(f, at_a.at(i), at_b.at(i), at_y.at(i));
      to_a.set(i, d.at(i) * along_a);
      to_b.set(i, d.at(i) * along_b);
    }
    if (gradients.wanted(0)) gradients.add(0, sum_to(to_a, shape_a));
    if (binary && gradients.wanted(1)) gradients.add(1, sum_to(to_b, shape_b));
  });
}

}  // namespace lagtape::recurrence
