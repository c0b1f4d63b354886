#include "lagtape/ops/recurrence/schedule/array_lifetimes.h"

#include <algorithm>
#include <utility>

namespace lagtape::recurrence {

ArrayLifetimes::ArrayLifetimes(const LayerOps& layer, std::vector<TimedOp> ops)
    : layer_(layer), ops_(std::move(ops)), writes_(layer.values.size()), reads_(layer.values.size()) {
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    for_operands(*ops_[i].op, [&](int v) { reads_[v].push_back(i); });
    writes_[ops_[i].op->out].push_back(i);
  }
  for (const auto& g : layer.matrix_gradients)
    for (int v : {g.delta, g.operand}) reads_[v].push_back(ops_.size());
  for (const auto& g : layer.vector_gradients) reads_[g.adjoint].push_back(ops_.size());
  find_saved();
}

/// The lifetime of a value that only one op writes. A value that nothing reads stays to the end.
ArrayLifetimes::Lifetime ArrayLifetimes::lifetime_of(int value) const {
  const std::size_t first = writes_[value].front();
  return {ops_[first].pass, first, reads_[value].empty() ? ops_.size() : reads_[value].back()};
}

/// Finds the arrays of saved values and the times at which they are in use. The output is left out: others
/// read it, at times that are not known here.
void ArrayLifetimes::find_saved() {
  const Location& output = layer_.values[layer_.output].location;
  for (std::size_t v = 0; v < layer_.values.size(); ++v) {
    const Location& location = layer_.values[v].location;
    if (location.kind != Location::Kind::array || layer_.arrays[location.index].kind != Array::Kind::saved ||
        location.index == output.index)
      continue;
    Shared shared{location.index, {}};
    for (const PassKind pass : {PassKind::forward, PassKind::replay, PassKind::undo}) {
      const auto write = std::ranges::find(writes_[v], pass, [&](std::size_t i) { return ops_[i].pass; });
      shared.held.push_back({pass, write == writes_[v].end() ? 0 : *write, ops_.size()});
    }
    std::size_t last = 0;
    for (std::size_t i : reads_[v]) last = std::max(last, i);
    shared.held.push_back({PassKind::backward, 0, last});
    arrays_.push_back(std::move(shared));
  }
}

/// Element-wise ops read an operand before they write over it; products do not.
bool ArrayLifetimes::apart(const Lifetime& a, const Lifetime& b) const {
  if (a.pass != b.pass) return true;
  const auto before = [&](const Lifetime& x, const Lifetime& y) {
    return x.last < y.first || (x.last == y.first && reads_then_writes(y.first));
  };
  return before(a, b) || before(b, a);
}

/// Among several free arrays it takes the one that is needed again first, since others may stay free for
/// longer.
int ArrayLifetimes::claim(int value, bool rounded) {
  const Lifetime wanted = lifetime_of(value);
  const std::int64_t width = layer_.values[value].shape.width();
  Shared* best = nullptr;
  std::size_t best_until = 0;
  for (Shared& shared : arrays_) {
    const auto is_apart = [&](const Lifetime& held) { return apart(held, wanted); };
    const Array& array = layer_.arrays[shared.array];
    if (array.width != width || array.rounded != rounded || !std::ranges::all_of(shared.held, is_apart))
      continue;
    std::size_t until = ops_.size();
    for (const Lifetime& held : shared.held)
      if (held.pass == wanted.pass && held.first >= wanted.last) until = std::min(until, held.first);
    if (best != nullptr && until >= best_until) continue;
    best = &shared;
    best_until = until;
  }
  if (best == nullptr) return -1;
  best->held.push_back(wanted);
  return best->array;
}

void ArrayLifetimes::add(int array, int value) { arrays_.push_back({array, {lifetime_of(value)}}); }

}  // namespace lagtape::recurrence
