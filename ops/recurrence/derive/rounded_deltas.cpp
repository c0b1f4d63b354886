#include "lagtape/ops/recurrence/derive/rounded_deltas.h"

#include <algorithm>
#include <map>

#include "lagtape/ops/recurrence/derive/forward_ops.h"

namespace lagtape::recurrence {

bool is_narrow(const LayerOps& ops, const LayerOps::MatrixGradient& gradient) {
  const RowShape &delta = ops.values[gradient.delta].shape, &operand = ops.values[gradient.operand].shape;
  // A matrix used in several products has separate places for its sums.
  const bool once =
      std::ranges::count(ops.matrix_gradients, gradient.weight, &LayerOps::MatrixGradient::weight) == 1;
  return once && operand.groups == 1 && std::min(operand.size, delta.size) <= kNarrow;
}

void round_deltas(LayerOps& ops) {
  std::map<int, int> copies;  // delta -> its rounded copy, once it exists
  for (const auto& gradient : ops.matrix_gradients)
    if (!is_narrow(ops, gradient) && ops.values[gradient.delta].shape.size > kNarrow)
      copies[gradient.delta] = -1;
  for (Ops* list : in_backward_order(ops.backward)) {
    Ops all;
    for (Op& op : *list) {
      all.push_back(op);
      const auto delta = copies.find(op.out);
      if (delta == copies.end()) continue;
      Op save;
      save.kind = Op::Kind::save;
      save.a = op.out;
      save.out = delta->second = add_value(ops, ops.values[op.out].shape);
      all.push_back(save);
    }
    *list = std::move(all);
  }
  const auto provide = [&](int& value) {
    const auto copy = copies.find(value);
    if (copy != copies.end() && copy->second >= 0) value = copy->second;
  };
  for (Ops* list : in_backward_order(ops.backward))
    for (Op& op : *list)
      if (op.kind == Op::Kind::product)
        for (Op::Term& term : op.terms) provide(term.operand);
  for (auto& gradient : ops.matrix_gradients) provide(gradient.delta);
  for (auto& gradient : ops.vector_gradients) provide(gradient.adjoint);
}

std::vector<bool> sums_rounded_deltas(const LayerOps& ops, std::size_t weights) {
  std::vector<bool> rounded(ops.values.size(), false), sums(weights, false);
  for (const Ops* list : in_backward_order(ops.backward))
    for (const Op& op : *list)
      if (op.kind == Op::Kind::save) rounded[op.out] = true;
  for (const auto& gradient : ops.matrix_gradients)
    if (is_narrow(ops, gradient)) sums[gradient.weight] = rounded[gradient.delta];
  for (const auto& gradient : ops.vector_gradients) sums[gradient.weight] = rounded[gradient.adjoint];
  return sums;
}

}  // namespace lagtape::recurrence
