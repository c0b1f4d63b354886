#include "lagtape/ops/recurrence/schedule/array_lifetimes.h"

#include <algorithm>
#include <iterator>
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

/// The lifetime of a value that only one op writes. A value that nothing reads is kept to the end.
ArrayLifetimes::Lifetime ArrayLifetimes::lifetime_of(int value) const {
  const std::size_t first = writes_[value].front();
  return {ops_[first].pass, first, reads_[value].empty() ? ops_.size() : reads_[value].back()};
}

/// Finds the arrays of saved values and the times at which they are in use. The output is excluded: others read
/// it, at times that are not known here.
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
      shared.lifetimes[{pass, write == writes_[v].end() ? 0 : *write}] = ops_.size();
    }
    std::size_t last = 0;
    for (std::size_t i : reads_[v]) last = std::max(last, i);
    shared.lifetimes[{PassKind::backward, 0}] = last;
    add(location.index, std::move(shared));
  }
}

void ArrayLifetimes::add(int array, Shared shared) {
  const Array& format = layer_.arrays[array];
  arrays_[{format.width, format.rounded}].push_back(std::move(shared));
}

/// Whether data last read by one op may be overwritten by another. Element-wise ops read an operand before they
/// overwrite it; products do not.
bool ArrayLifetimes::is_before(std::size_t last, std::size_t first) const {
  if (last != first) return last < first;
  return ops_[first].op->kind == Op::Kind::element || ops_[first].op->kind == Op::Kind::save;
}

bool ArrayLifetimes::is_free(const Shared& shared, const Lifetime& wanted) const {
  const auto next = shared.lifetimes.upper_bound({wanted.pass, wanted.first});
  if (next != shared.lifetimes.end() && next->first.first == wanted.pass &&
      !is_before(wanted.last, next->first.second))
    return false;
  if (next == shared.lifetimes.begin()) return true;
  const auto& [start, last] = *std::prev(next);
  return start.first != wanted.pass || is_before(last, wanted.first);
}

/// The next op that writes into an array that is free for a lifetime.
std::size_t ArrayLifetimes::free_until(const Shared& shared, const Lifetime& wanted) const {
  const auto next = shared.lifetimes.lower_bound({wanted.pass, wanted.last});
  return next != shared.lifetimes.end() && next->first.first == wanted.pass ? next->first.second
                                                                            : ops_.size();
}

/// Among several free arrays it picks the one that is needed again soonest, since others may stay free for
/// longer. It tries only the newest ones: a cell with very many products has as many arrays, and trying all of
/// them for each value would take quadratic time.
int ArrayLifetimes::claim(int value, bool rounded) {
  constexpr std::size_t kMostTried = 256;
  const Lifetime wanted = lifetime_of(value);
  std::vector<Shared>& arrays = arrays_[{layer_.values[value].shape.width(), rounded}];
  Shared* best = nullptr;
  std::size_t best_until = 0;
  for (std::size_t i = arrays.size() - std::min(arrays.size(), kMostTried); i < arrays.size(); ++i) {
    if (!is_free(arrays[i], wanted)) continue;
    const std::size_t until = free_until(arrays[i], wanted);
    if (best != nullptr && until >= best_until) continue;
    best = &arrays[i];
    best_until = until;
  }
  if (best == nullptr) return -1;
  best->lifetimes[{wanted.pass, wanted.first}] = wanted.last;
  return best->array;
}

void ArrayLifetimes::add(int array, int value) {
  const Lifetime lifetime = lifetime_of(value);
  add(array, Shared{array, {{{lifetime.pass, lifetime.first}, lifetime.last}}});
}

}  // namespace lagtape::recurrence
