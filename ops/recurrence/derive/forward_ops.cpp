#include "lagtape/ops/recurrence/derive/forward_ops.h"

#include <algorithm>
#include <map>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/reversible.h"

namespace lagtape::recurrence {
namespace {

/// Turns a binary operation with a constant operand into the kernel for constants, if there is one.
void take_constant(Op& op, const std::vector<Value>& values) {
  const auto is_constant = [&](int v) {
    return v >= 0 && values[v].location.kind == Location::Kind::constant;
  };
  if (is_constant(op.a) == is_constant(op.b)) return;
  const bool left = is_constant(op.a);
  double k = values[left ? op.a : op.b].location.number;
  switch (op.element) {
    case ElementOp::add: op.element = ElementOp::add_constant; break;
    case ElementOp::multiply: op.element = ElementOp::multiply_constant; break;
    case ElementOp::minimum: op.element = ElementOp::minimum_constant; break;
    case ElementOp::maximum: op.element = ElementOp::maximum_constant; break;
    case ElementOp::subtract:
      op.element = left ? ElementOp::constant_minus : ElementOp::add_constant;
      if (!left) k = -k;
      break;
    case ElementOp::divide:
      if (!left) return;
      op.element = ElementOp::constant_over;
      break;
    default: return;
  }
  op.k = k;
  if (left) op.a = op.b;
  op.b = -1;
}

/// Whether an instruction is a product with few input numbers, which are known at every moment.
bool is_narrow_product(const StepProgram& program, const Instruction& i) {
  return i.op == StepOp::product && program.values[i.a].op == StepOp::input && program.input.groups == 1 &&
         program.input.width() <= kNarrow;
}

/// Moves sums and the like to the moment of their readers: there they cost one instruction on a tile, here they
/// would cost a pass over memory.
void sink_cheap_work(const StepProgram& program, std::vector<Moment>& moments) {
  const std::size_t count = program.values.size();
  std::vector<Moment> earliest_reader(count, Moment::after);
  std::vector<bool> read(count, false), fixed(count, false);
  for (const auto& s : program.states) fixed[s.next] = true;
  fixed[program.output] = true;
  for (std::size_t v = count; v-- > 0;) {
    const Instruction& i = program.values[v];
    const bool one_instruction = i.op == StepOp::element && function_of(i.element).cost == ElementCost::one;
    const bool cheap = one_instruction || i.op == StepOp::reshape || i.op == StepOp::broadcast ||
                       is_narrow_product(program, i);
    if (cheap && read[v] && !fixed[v]) moments[v] = std::max(moments[v], earliest_reader[v]);
    for (int o : {i.a, i.b}) {
      if (o < 0) continue;
      earliest_reader[o] = read[o] ? std::min(earliest_reader[o], moments[v]) : moments[v];
      read[o] = true;
    }
  }
}

/// The moment at which each value of the program is computed.
std::vector<Moment> classify(const StepProgram& program) {
  const auto count = program.values.size();
  std::vector<Moment> moments(count, Moment::before);
  for (std::size_t v = 0; v < count; ++v) {
    const Instruction& i = program.values[v];
    switch (i.op) {
      case StepOp::weight:
      case StepOp::constant:
      case StepOp::input:
      case StepOp::step_index:
      case StepOp::draw: moments[v] = Moment::before; break;
      case StepOp::lag:
      case StepOp::real_lag: moments[v] = Moment::block; break;
      case StepOp::state: moments[v] = Moment::step; break;
      default:
        moments[v] = Moment::before;  // an operation on only weights runs with the input
        for (int o : {i.a, i.b})
          if (o >= 0) moments[v] = std::max(moments[v], moments[o]);
    }
  }
  std::vector<bool> feeds_state(count, false);
  for (const auto& s : program.states) feeds_state[s.next] = true;
  for (std::size_t v = count; v-- > 0;) {
    if (!feeds_state[v]) continue;
    for (int o : {program.values[v].a, program.values[v].b})
      if (o >= 0) feeds_state[o] = true;
  }
  // Leaving the steps pays off only for products and for operations that would prevent a stage from being
  // compiled. Other work is cheapest where its operands are available.
  const auto pays = [](StepOp op) {
    return op == StepOp::product || op == StepOp::concatenate || op == StepOp::slice || op == StepOp::view;
  };
  for (std::size_t v = 0; v < count; ++v) {
    const Instruction& i = program.values[v];
    if (moments[v] != Moment::step || feeds_state[v] || is_leaf(i.op)) continue;
    const auto has_left = [&](int o) { return o >= 0 && moments[o] == Moment::after; };
    if (pays(i.op) || has_left(i.a) || has_left(i.b)) moments[v] = Moment::after;
  }
  sink_cheap_work(program, moments);
  return moments;
}

class Forward {
 public:
  explicit Forward(const StepProgram& program) : program_(program) {
    f_.moments = classify(program);
    f_.ops.input_array = add_array(f_.ops, Array::Kind::input, 0, program.input.width());
    for (int s = 0; s < static_cast<int>(program.states.size()); ++s)
      f_.ops.state_arrays.push_back(
          add_array(f_.ops, Array::Kind::state, s, program.states[s].shape.width()));
    for (const auto& i : program.values) place(i);
    place_grid_states();
    for (int v = 0; v < static_cast<int>(program.values.size()); ++v) record(v);
    place_next_states();
    place_output();
    find_block();
  }
  ForwardOps take() { return std::move(f_); }

 private:
  void place(const Instruction& i) {
    Location location;
    switch (i.op) {
      case StepOp::input: location = in_array(f_.ops.input_array); break;
      case StepOp::state: location = in_array(f_.ops.state_arrays[i.index]); break;
      case StepOp::lag: location = in_array(f_.ops.state_arrays[i.index], -i.lag); break;
      case StepOp::weight: location = {Location::Kind::weight, i.index, 0, 0}; break;
      case StepOp::constant: location = {Location::Kind::constant, -1, 0, i.value}; break;
      default: break;
    }
    add_value(f_.ops, i.shape, location);
  }

  void place_grid_states() {
    for (int s = 0; s < static_cast<int>(program_.states.size()); ++s) {
      const StateDefinition& state = program_.states[s];
      const bool on_grid = state.arithmetic == Arithmetic::grid;
      f_.ops.grid_arrays.push_back(on_grid ? add_array(f_.ops, Array::Kind::grid, s, state.shape.width())
                                           : -1);
      if (on_grid) grid_state_of_[state.next] = s;
    }
  }

  Ops& list(Moment moment) { return f_.ops.forward.at(moment); }

  void record(int v) {
    const Instruction& i = program_.values[v];
    Op op;
    op.out = v;
    if (const auto state = grid_state_of_.find(v); state != grid_state_of_.end()) {
      const GridUpdate update = *grid_update(program_, state->second);
      op.kind = Op::Kind::grid_update;
      op.index = state->second;
      op.a = update.increment;
      op.k = update.negated ? -1 : 1;
      return list(f_.moments[v]).push_back(op);
    }
    op.a = i.a;
    op.b = i.b;
    op.index = i.index;
    op.lag = i.lag;
    op.strides = i.strides;
    switch (i.op) {
      case StepOp::input:
      case StepOp::state:
      case StepOp::lag:
      case StepOp::weight:
      case StepOp::constant: return;
      case StepOp::reshape: break;  // a copy with another shape
      case StepOp::step_index: op.kind = Op::Kind::step_index; break;
      case StepOp::draw: op.kind = Op::Kind::draw; break;
      case StepOp::real_lag: op.kind = Op::Kind::real_lag; break;
      case StepOp::sum: op.kind = Op::Kind::sum; break;
      case StepOp::broadcast: op.kind = Op::Kind::broadcast; break;
      case StepOp::concatenate: op.kind = Op::Kind::concatenate; break;
      case StepOp::slice: op.kind = Op::Kind::slice; break;
      case StepOp::view: op.kind = Op::Kind::view; break;
      case StepOp::product:
        op.kind = is_narrow_product(program_, i) ? Op::Kind::narrow_product : Op::Kind::product;
        if (f_.ops.values[op.a].location.kind == Location::Kind::weight) op.a = copy_of(op.a, Moment::before);
        op.terms = {{i.index, op.a}};
        op.a = -1;
        break;
      case StepOp::element: op.element = i.element; take_constant(op, f_.ops.values);
    }
    list(f_.moments[v]).push_back(op);
  }

  bool is_free(int v) const { return f_.ops.values[v].location.kind == Location::Kind::none; }

  /// A copy of a value that already has a location (a leaf, or the next value of two states).
  int copy_of(int v, Moment moment) {
    const int out = add_value(f_.ops, f_.ops.values[v].shape);
    Op op;
    op.out = out;
    op.a = v;
    list(moment).push_back(op);
    return out;
  }

  void place_next_states() {
    for (int s = 0; s < static_cast<int>(program_.states.size()); ++s) {
      int v = program_.states[s].next;
      if (!is_free(v)) v = copy_of(v, f_.moments[v]);
      f_.ops.values[v].location = in_array(f_.ops.state_arrays[s], 1);
      f_.next.push_back(v);
    }
  }

  void place_output() {
    int v = program_.output;
    const Location::Kind kind = f_.ops.values[v].location.kind;
    if (kind == Location::Kind::weight || kind == Location::Kind::constant) v = copy_of(v, Moment::before);
    // Where a row resets, a state is zero for its step, but the array still holds the value from the previous
    // step (run/row_resets).
    const StepOp op = program_.values[static_cast<std::size_t>(program_.output)].op;
    if (op == StepOp::state || op == StepOp::lag) v = copy_of(v, f_.moments[static_cast<std::size_t>(v)]);
    Value& output = f_.ops.values[v];
    if (output.location.kind == Location::Kind::none)
      output.location = in_array(add_array(f_.ops, Array::Kind::saved, 0, output.shape.width()));
    f_.ops.output = v;
  }

  /// Sets the length of a delay block. From any step on, h[n - m] is known for m + 1 steps; a real lag is at
  /// least 1.
  void find_block() {
    for (const auto& i : program_.values) {
      if (i.op != StepOp::lag && i.op != StepOp::real_lag) continue;
      const std::int64_t steps = i.op == StepOp::lag ? i.lag + 1 : 2;
      f_.ops.block = f_.ops.block == 0 ? steps : std::min(f_.ops.block, steps);
    }
  }

  const StepProgram& program_;
  ForwardOps f_;
  std::map<int, int> grid_state_of_;  // next value -> its state
};

}  // namespace

int add_value(LayerOps& ops, RowShape shape, Location location) {
  ops.values.push_back({shape, location});
  return static_cast<int>(ops.values.size()) - 1;
}

int add_array(LayerOps& ops, Array::Kind kind, int index, std::int64_t width) {
  ops.arrays.push_back({kind, index, width});
  return static_cast<int>(ops.arrays.size()) - 1;
}

ForwardOps derive_forward(const StepProgram& program) { return Forward(program).take(); }

}  // namespace lagtape::recurrence
