#include "lagtape/ops/recurrence/derive/saved_values.h"

#include <map>
#include <vector>

#include "lagtape/ops/recurrence/derive/forward_ops.h"
#include "lagtape/ops/recurrence/step/reversible.h"

namespace lagtape::recurrence {
namespace {

/// Whether recomputing an op is cheaper than saving and reading its result.
bool is_cheap(const Op& op) {
  if (op.kind == Op::Kind::broadcast || op.kind == Op::Kind::view || op.kind == Op::Kind::step_index)
    return true;
  return op.kind == Op::Kind::element && function_of(op.element).cost != ElementCost::many;
}

bool is_placed(const LayerOps& ops, int v) { return ops.values[v].location.kind != Location::Kind::none; }

bool is_saved(const LayerOps& ops, int v) {
  const Location& location = ops.values[v].location;
  return location.kind == Location::Kind::array && ops.arrays[location.index].kind == Array::Kind::saved;
}

Op save_op(int value, int copy) {
  Op op;
  op.kind = Op::Kind::save;
  op.a = value;
  op.out = copy;
  return op;
}

class SavedValues {
 public:
  /// `rounded`: the forward values whose saved copies are rounded.
  explicit SavedValues(LayerOps& ops, const std::vector<bool>& rounded = {})
      : ops_(ops), forward_(forward_ops(ops)), rounded_(rounded) {
    for (std::size_t i = 0; i < forward_.size(); ++i) maker_[forward_[i].out] = i;
    for (std::size_t v = 0; v < rounded_.size(); ++v)
      if (rounded_[v]) save(static_cast<int>(v));
    choose();
    read_gradient_operands();
    for (Ops* list : in_backward_order(ops_.backward)) recompute_into(*list);
    for (Ops* list : in_forward_order(ops_.forward)) write_copies(*list);
  }

  std::vector<int> take() { return std::move(saved_); }

 private:
  void save(int v) {
    saved_.push_back(v);
    const RowShape shape = ops_.values[v].shape;
    const Location array = in_array(add_array(ops_, Array::Kind::saved, 0, shape.width()));
    if (!is_rounded(v)) {
      ops_.values[v].location = array;
      return;
    }
    ops_.arrays[array.index].rounded = true;
    copies_[v] = add_value(ops_, shape, array);
  }

  bool is_rounded(int v) const { return v < std::ssize(rounded_) && rounded_[v]; }
  /// Whether the backward pass finds a value in an array or a weight.
  bool is_kept(int v) const { return is_placed(ops_, v) || copies_.contains(v); }

  void choose() {
    std::vector<bool> wanted(ops_.values.size(), false);
    for (Ops* list : in_backward_order(ops_.backward))
      for (Op& op : *list) for_operands(op, [&](int& o) { wanted[o] = true; });
    for (const auto& g : ops_.matrix_gradients)
      if (!is_kept(g.operand)) save(g.operand);
    for (const auto& op : forward_)
      if (wanted[op.out] && !is_kept(op.out) && !is_cheap(op)) save(op.out);
    std::vector<bool> available(ops_.values.size(), false);
    for (std::size_t v = 0; v < available.size(); ++v) available[v] = is_kept(static_cast<int>(v));
    for (const auto& op : forward_) {
      const auto has = [&](int o) { return o < 0 || available[o]; };
      if (available[op.out]) continue;
      available[op.out] = is_cheap(op) && has(op.a) && has(op.b);
      if (!wanted[op.out] || available[op.out]) continue;
      save(op.out);
      available[op.out] = true;
    }
  }

  /// Makes the sums of weight gradients read the rounded copies, as numbers in the model's precision.
  void read_gradient_operands() {
    std::map<int, int> restored;
    for (auto& gradient : ops_.matrix_gradients) {
      if (!copies_.contains(gradient.operand)) continue;
      const auto [known, fresh] = restored.try_emplace(gradient.operand);
      if (fresh) {
        Op op;
        op.a = copies_.at(gradient.operand);
        op.out = known->second = add_value(ops_, ops_.values[op.a].shape);
        ops_.backward.after.push_back(op);
      }
      gradient.operand = known->second;
    }
  }

  /// Inserts the cheap forward ops that a list reads in front of it, with separate values.
  void recompute_into(Ops& list) {
    std::map<int, int> again;
    Ops front;
    const auto provide = [&](auto&& self, int v) -> int {
      if (const auto copy = copies_.find(v); copy != copies_.end()) return copy->second;
      if (!maker_.contains(v) || is_placed(ops_, v)) return v;
      if (const auto known = again.find(v); known != again.end()) return known->second;
      Op op = forward_[maker_.at(v)];
      for_operands(op, [&](int& o) { o = self(self, o); });
      op.out = add_value(ops_, ops_.values[v].shape);
      front.push_back(op);
      return again[v] = op.out;
    };
    for (Op& op : list) for_operands(op, [&](int& o) { o = provide(provide, o); });
    list.insert(list.begin(), front.begin(), front.end());
  }

  /// Saves each value that has a rounded copy as soon as it is computed.
  void write_copies(Ops& list) const {
    Ops all;
    for (const Op& op : list) {
      all.push_back(op);
      const auto copy = copies_.find(op.out);
      if (copy != copies_.end()) all.push_back(save_op(op.out, copy->second));
    }
    list = std::move(all);
  }

  LayerOps& ops_;
  Ops forward_;
  std::vector<bool> rounded_;
  std::vector<int> saved_;
  std::map<int, std::size_t> maker_;  // forward value -> its op
  std::map<int, int> copies_;         // forward value -> its rounded copy
};

/// Repeats forward ops on separate values. States, inputs, and weights are known and not recomputed; saved
/// values are computed into their arrays.
class ForwardAgain {
 public:
  explicit ForwardAgain(LayerOps& ops)
      : ops_(ops), forward_(forward_ops(ops)), before_(ops.forward.before.size()) {
    for (std::size_t i = 0; i < forward_.size(); ++i) {
      maker_[forward_[i].out] = i;
      if (forward_[i].kind == Op::Kind::save) copies_[forward_[i].a] = forward_[i].out;
    }
  }

  const Ops& forward() const { return forward_; }

  /// The value that replaces v; the ops that compute it go to `before` if they depend only on the input, else
  /// to `rest`.
  int provide(int v, Ops& before, Ops& rest) {
    if (is_placed(ops_, v) && !is_saved(ops_, v)) return v;
    if (const auto known = again_.find(v); known != again_.end()) return known->second;
    const std::size_t maker = maker_.at(v);
    Op op = forward_[maker];
    for_operands(op, [&](int& o) { o = provide(o, before, rest); });
    if (op.kind == Op::Kind::save) return v;  // its operand has just been saved
    op.out = is_saved(ops_, v) ? v : add_value(ops_, ops_.values[v].shape);
    Ops& list = maker < before_ ? before : rest;
    list.push_back(op);
    if (const auto copy = copies_.find(v); copy != copies_.end()) {
      list.push_back(save_op(op.out, copy->second));
      again_[copy->second] = copy->second;
    }
    return again_[v] = op.out;
  }

 private:
  LayerOps& ops_;
  Ops forward_;
  std::size_t before_;                // how many of them run before the steps
  std::map<int, std::size_t> maker_;  // forward value -> its op
  std::map<int, int> copies_;         // forward value -> its rounded copy
  std::map<int, int> again_;
};

}  // namespace

Ops forward_ops(const LayerOps& ops) {
  Ops all;
  for (const Ops* list : in_forward_order(ops.forward)) all.insert(all.end(), list->begin(), list->end());
  return all;
}

std::vector<int> choose_saved_values(LayerOps& ops) { return SavedValues(ops).take(); }

void round_saved_values(LayerOps& ops, const std::vector<bool>& rounded) { SavedValues(ops, rounded); }

void derive_replay(LayerOps& ops) {
  ForwardAgain again(ops);
  for (const Op& op : again.forward())
    if (is_saved(ops, op.out)) again.provide(op.out, ops.replay.before, ops.replay.before);
}

void derive_undo(const StepProgram& program, LayerOps& ops) {
  const UndoOrder order = undo_order(program);
  if (!order.obstacle.empty()) return;
  ForwardAgain again(ops);
  for (int s : order.states) {
    const GridUpdate update = *grid_update(program, s);
    Op op;
    op.kind = Op::Kind::grid_undo;
    op.out = program.states[s].value;
    op.a = again.provide(update.increment, ops.undo.before, ops.undo.step);
    op.index = s;
    op.k = update.negated ? -1 : 1;
    ops.undo.step.push_back(op);
  }
  for (const Op& op : again.forward())
    if (is_saved(ops, op.out)) again.provide(op.out, ops.undo.before, ops.undo.after);
}

}  // namespace lagtape::recurrence
