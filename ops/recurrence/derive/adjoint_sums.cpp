#include "lagtape/ops/recurrence/derive/adjoint_sums.h"

#include "lagtape/ops/recurrence/derive/forward_ops.h"

namespace lagtape::recurrence {

AdjointSums::AdjointSums(LayerOps& ops, std::vector<bool> active)
    : ops_(ops), active_(std::move(active)), sums_(active_.size()) {}

void AdjointSums::contribute(int to, int value, bool negated) {
  if (to < 0 || to >= static_cast<int>(active_.size()) || !active_[to]) return;
  const Signed sum = sums_[to];
  if (sum.value < 0) {
    hold(to, {value, negated});
  } else if (sum.negated == negated) {
    hold(to, {element(ElementOp::add, sum.value, value), negated});
  } else {
    hold(to, {negated ? element(ElementOp::subtract, sum.value, value)
                      : element(ElementOp::subtract, value, sum.value),
              false});
  }
}

void AdjointSums::hold(int v, Signed sum) {
  if (sums_[v].value >= 0) --holders_[sums_[v].value];
  if (sum.value >= 0) ++holders_[sum.value];
  sums_[v] = sum;
}

bool AdjointSums::is_own(int v) const {
  const int value = sums_[v].value;
  return value >= 0 && holders_.at(value) == 1 && !read_.contains(value);
}

int AdjointSums::materialize(int v) {
  const Signed s = sums_[v];
  if (s.negated) {
    const auto [known, is_new] = negated_.try_emplace(s.value);
    if (is_new) known->second = element(ElementOp::negate, s.value);
    hold(v, {known->second, false});
  }
  return sums_[v].value;
}

int AdjointSums::record(Op op, RowShape shape) {
  op.out = add_value(ops_, shape);
  for_operands(op, [&](int o) { read_.insert(o); });
  recorded_.push_back(op);
  return op.out;
}

int AdjointSums::element(ElementOp e, int a, int b, double k) {
  Op op;
  op.element = e;
  op.a = a;
  op.b = b;
  op.k = k;
  return record(op, ops_.values[a].shape);
}

}  // namespace lagtape::recurrence
