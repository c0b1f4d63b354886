#include "lagtape/ops/recurrence/derive/adjoint.h"

#include <algorithm>
#include <limits>
#include <map>

#include "lagtape/ops/recurrence/derive/adjoint_rules.h"
#include "lagtape/ops/recurrence/derive/adjoint_sums.h"
#include "lagtape/ops/recurrence/derive/backward_phases.h"
#include "lagtape/ops/recurrence/derive/forward_ops.h"
#include "lagtape/ops/recurrence/derive/rounded_deltas.h"
#include "lagtape/ops/recurrence/derive/saved_values.h"
#include "lagtape/ops/recurrence/step/reversible.h"

namespace lagtape::recurrence {
namespace {

/// Reverse mode over one recorded step. Contributions to an adjoint are added in the reverse order of the
/// forward ops; products with the same operand are one stack of transposed weights, added last. The adjoint of
/// a state after the step adds, in order, that of its own output, those through lags (largest first), and that
/// of the direct step: element-wise part, then product part.
class Adjoint {
 public:
  Adjoint(const StepProgram& program, ForwardOps forward, bool input_gradient)
      : program_(program),
        f_(std::move(forward)),
        ops_(f_.ops),
        forward_count_(ops_.values.size()),
        forward_(forward_ops(ops_)),
        guarded_(find_guarded()),
        adjoints_(ops_, find_active(input_gradient)),
        uses_(forward_count_) {
    list_lagged_reads();
    seed_output();
    reverse(ops_.forward.after);
    close_product_stacks();  // contributions from after the run reach a value of the steps first
    seed_states();
    reverse(ops_.forward.step);
    reverse(ops_.forward.block);
    reverse(ops_.forward.before);
    if (input_gradient) {
      ops_.input_adjoint_array = add_array(ops_, Array::Kind::input_adjoint, 0, program_.input.width());
      finish_input();
    }
    finish_states();
    finish_lags();
    finish_leaf(StepOp::weight, [&](int, int v) {
      if (adjoints_.is_known(v))
        ops_.vector_gradients.push_back({ops_.values[v].location.index, adjoints_.materialize(v)});
    });
    assign_moments(ops_, {adjoints_.recorded(), sinks_, step_sinks_, lag_sinks_}, forward_count_);
  }

  LayerOps take() { return std::move(ops_); }

 private:
  bool is_placed(int v) const { return ops_.values[v].location.kind != Location::Kind::none; }

  // ---- which values carry a gradient ----

  std::vector<bool> find_active(bool input_gradient) const {
    std::vector<bool> active(forward_count_, false);
    for (std::size_t v = 0; v < program_.values.size(); ++v) {
      const StepOp op = program_.values[v].op;
      active[v] = op == StepOp::state || op == StepOp::lag || op == StepOp::real_lag ||
                  op == StepOp::weight || (op == StepOp::input && input_gradient);
    }
    for (const Op& op : forward_) {
      // The state that an update adds to is not an operand of it.
      if (!op.terms.empty() || op.kind == Op::Kind::grid_update) active[op.out] = true;
      for (int o : {op.a, op.b})
        if (o >= 0 && active[o]) active[op.out] = true;
    }
    return active;
  }

  /// The values that lead to the first operand of a choice (where_positive). If the choice does not take it,
  /// they may be anything, and so may their derivatives, which then count as 0.
  std::vector<bool> find_guarded() const {
    std::vector<bool> guarded(forward_count_, false);
    for (auto op = forward_.rbegin(); op != forward_.rend(); ++op) {
      const bool chooses = op->kind == Op::Kind::element && op->element == ElementOp::where_positive;
      if (op->a >= 0 && (chooses || guarded[op->out])) guarded[op->a] = true;
      if (op->b >= 0 && guarded[op->out]) guarded[op->b] = true;
      for (const Op::Term& term : op->terms)
        if (guarded[op->out]) guarded[term.operand] = true;
    }
    return guarded;
  }

  // ---- seeds ----

  int source(Array::Kind kind, int index, RowShape shape, int* array) {
    *array = add_array(ops_, kind, index, shape.width());
    return add_value(ops_, shape, in_array(*array));
  }

  void seed_output() {
    const RowShape shape = ops_.values[ops_.output].shape;
    adjoints_.contribute(ops_.output,
                         source(Array::Kind::output_adjoint, 0, shape, &ops_.output_adjoint_array));
  }

  void list_lagged_reads() {
    for (std::size_t v = 0; v < program_.values.size(); ++v) {
      const Instruction& i = program_.values[v];
      if (i.op != StepOp::lag && i.op != StepOp::real_lag) continue;
      LayerOps::LaggedRead read{i.index, i.lag, i.op == StepOp::real_lag ? i.a : -1};
      read.adjoint_array = add_array(ops_, Array::Kind::lag_adjoint, static_cast<int>(v),
                                     program_.states[i.index].shape.width());
      ops_.lagged.push_back(read);
    }
    std::stable_sort(ops_.lagged.begin(), ops_.lagged.end(),
                     [](const auto& a, const auto& b) { return a.lag > b.lag; });
    for (std::size_t l = 0; l < ops_.lagged.size(); ++l) {
      Array& array = ops_.arrays[ops_.lagged[l].adjoint_array];
      lag_of_value_[array.index] = static_cast<int>(l);
      array.index = static_cast<int>(l);
    }
  }

  void seed_states() {
    ops_.direct.resize(program_.states.size());
    std::vector<std::vector<std::size_t>> lagged_reads(program_.states.size());
    for (std::size_t l = 0; l < ops_.lagged.size(); ++l) lagged_reads[ops_.lagged[l].state].push_back(l);
    const std::vector<bool> multiplied = product_operands();
    for (int s = 0; s < static_cast<int>(program_.states.size()); ++s) {
      const RowShape shape = program_.states[s].shape;
      for (const std::size_t l : lagged_reads[s]) {
        const auto& lagged = ops_.lagged[l];
        if (lagged.tau < 0) {
          adjoints_.contribute(f_.next[s],
                               add_value(ops_, shape, in_array(lagged.adjoint_array, 1 + lagged.lag)));
        } else {
          Op op;
          op.kind = Op::Kind::real_lag_adjoint;
          op.a = lagged.tau;
          op.index = static_cast<int>(l);
          op.lag = lagged.lag;
          adjoints_.contribute(f_.next[s], adjoints_.record(op, shape));
        }
      }
      const int before = program_.states[s].value;
      if (before < 0) continue;
      std::vector<int*> parts = {&ops_.direct[s].element};
      if (multiplied[before]) parts.push_back(&ops_.direct[s].product);
      for (int* array : parts) {
        const int part = source(Array::Kind::direct, s, shape, array);
        // The first contribution is copied because its array is overwritten while the step is still being
        // processed.
        const bool first = !adjoints_.is_known(f_.next[s]);
        adjoints_.contribute(f_.next[s], first ? adjoints_.element(ElementOp::copy, part) : part);
      }
    }
  }

  /// For each forward value, whether a matrix product reads it.
  std::vector<bool> product_operands() const {
    std::vector<bool> multiplied(forward_count_, false);
    for (const Op& op : forward_)
      for (const Op::Term& term : op.terms) multiplied[term.operand] = true;
    return multiplied;
  }

  // ---- the reverse sweep ----

  void reverse(const Ops& list) {
    for (auto op = list.rbegin(); op != list.rend(); ++op) {
      add_product_stack(op->out);
      if (!adjoints_.is_active(op->out) || !adjoints_.is_known(op->out)) continue;
      if (!op->terms.empty()) {
        reverse_product(*op);
      } else if (op->kind == Op::Kind::real_lag) {
        reverse_real_lag(*op, adjoints_.materialize(op->out));
      } else {
        reverse_row_op(program_, *op, adjoints_, guarded_[op->out]);
      }
    }
  }

  void reverse_product(const Op& op) {
    const int delta = adjoints_.materialize(op.out);
    const Op::Term& term = op.terms.front();
    ops_.matrix_gradients.push_back(
        {term.weight, delta, guarded_[op.out] ? finite(term.operand) : term.operand});
    if (adjoints_.is_active(term.operand)) uses_[term.operand].push_back({term.weight, delta});
  }

  /// v, with infinities and NaN replaced by 0.
  int finite(int v) {
    Op largest;
    largest.element = ElementOp::fill;
    largest.k = std::numeric_limits<float>::max();
    const int k = adjoints_.record(largest, ops_.values[v].shape);
    const int size = adjoints_.element(ElementOp::abs, v);
    return adjoints_.element(ElementOp::where_positive, v, adjoints_.element(ElementOp::greater, k, size));
  }

  /// The stack of all products that read v: [W1; W3; W4]^T [d1; d3; d4], one sum.
  int product_stack(int v) {
    auto& uses = uses_[v];
    if (uses.empty()) return -1;
    std::reverse(uses.begin(), uses.end());
    Op op;
    op.kind = Op::Kind::product;
    op.transposed = true;
    op.terms = std::move(uses);
    uses.clear();
    return adjoints_.record(op, ops_.values[v].shape);
  }
  void add_product_stack(int v) {
    const int stack = product_stack(v);
    if (stack >= 0) adjoints_.contribute(v, stack);
  }
  void close_product_stacks() {
    for (std::size_t v = 0; v < forward_count_; ++v) add_product_stack(static_cast<int>(v));
  }

  void reverse_real_lag(const Op& op, int d) {
    finish_lag(op.out, d);
    Op slope;
    slope.kind = Op::Kind::real_lag_slope;
    slope.a = op.a;
    slope.index = op.index;
    slope.lag = op.lag;
    int along = adjoints_.element(ElementOp::multiply, d, adjoints_.record(slope, ops_.values[op.out].shape));
    // tau is a scalar or has the state's shape
    const RowShape tau = ops_.values[op.a].shape;
    while (tau.rank < ops_.values[along].shape.rank) {
      Shape narrower = ops_.values[along].shape.axes();
      narrower.pop_back();
      along = spread(Op::Kind::sum, along, RowShape::of(narrower), adjoints_);
    }
    adjoints_.contribute(op.a, along);
  }

  // ---- where adjoints are stored at the end of the step ----

  template <class Finish>
  void finish_leaf(StepOp op, Finish finish) {
    for (int v = 0; v < static_cast<int>(program_.values.size()); ++v) {
      if (program_.values[v].op != op) continue;
      add_product_stack(v);
      finish(program_.values[v].index, v);
    }
  }

  /// Writes the adjoint of v into an array; zeros if nothing reached it.
  void send(int v, int array) {
    Op op;
    const AdjointSums::Signed s = adjoints_.of(v);
    op.element = s.value < 0 ? ElementOp::fill : s.negated ? ElementOp::negate : ElementOp::copy;
    op.a = s.value;
    const int out = can_move(v, array) ? s.value : adjoints_.record(op, ops_.values[v].shape);
    ops_.values[out].location = in_array(array);
    sinks_.push_back(out);
  }

  /// Whether the op that computes v's adjoint can write it into the array directly. An array of one step must
  /// not be read as anything else later.
  bool can_move(int v, int array) const {
    const AdjointSums::Signed s = adjoints_.of(v);
    if (s.value < 0 || s.negated || is_placed(s.value)) return false;
    return ops_.arrays[array].kind != Array::Kind::direct || adjoints_.is_own(v);
  }

  void finish_input() {
    finish_leaf(StepOp::input, [&](int, int v) { send(v, ops_.input_adjoint_array); });
    for (const auto& i : program_.values)
      if (i.op == StepOp::input) return;
    Op zeros;  // the adjoint of an input that nothing reads
    zeros.element = ElementOp::fill;
    sinks_.push_back(adjoints_.record(zeros, program_.input));
    ops_.values[sinks_.back()].location = in_array(ops_.input_adjoint_array);
  }

  void finish_states() {
    for (int v = 0; v < static_cast<int>(program_.values.size()); ++v) {
      if (program_.values[v].op != StepOp::state) continue;
      const auto& direct = ops_.direct[program_.values[v].index];
      send(v, direct.element);
      step_sinks_.push_back(sinks_.back());
      if (direct.product < 0) continue;
      const int stack = product_stack(v);
      adjoints_.set(v, stack);
      send(v, direct.product);
      step_sinks_.push_back(sinks_.back());
    }
  }

  void finish_lags() {
    finish_leaf(StepOp::lag, [&](int, int v) { finish_lag(v, -1); });
    for (int v = 0; v < static_cast<int>(program_.values.size()); ++v)
      if (program_.values[v].op == StepOp::real_lag && !adjoints_.is_known(v)) finish_lag(v, -1);
  }
  void finish_lag(int v, int d) {
    if (d >= 0) adjoints_.set(v, d);
    send(v, ops_.lagged[lag_of_value_.at(v)].adjoint_array);
    lag_sinks_.push_back(sinks_.back());
  }

  const StepProgram& program_;
  ForwardOps f_;
  LayerOps& ops_;
  std::size_t forward_count_;
  Ops forward_;
  std::vector<bool> guarded_;  // by forward value: whether a choice may skip it
  AdjointSums adjoints_;
  std::vector<std::vector<Op::Term>> uses_;  // by forward value: the products that read it, {weight, delta}
  std::map<int, int> lag_of_value_;          // value of a lagged read -> position in ops_.lagged
  std::vector<int> sinks_, step_sinks_, lag_sinks_;  // values that end in arrays
};

}  // namespace

LayerOps derive_ops(const StepProgram& program, bool input_gradient, ProductFormat saved) {
  LayerOps ops = Adjoint(program, derive_forward(program), input_gradient).take();
  if (saved == ProductFormat::scalar) {
    choose_saved_values(ops);
  } else {
    round_saved_values(ops, rounded_values(program));
    round_deltas(ops);
  }
  derive_replay(ops);
  derive_undo(program, ops);
  return ops;
}

std::vector<bool> rounded_values(const StepProgram& program) {
  LayerOps ops = Adjoint(program, derive_forward(program), true).take();
  const std::vector<int> saved = choose_saved_values(ops);
  std::vector<bool> rounded(program.values.size(), false);
  for (const int v : saved)
    if (v < static_cast<int>(rounded.size())) rounded[v] = true;
  return rounded;
}

std::vector<bool> rounded_sums(const StepProgram& program) {
  return sums_rounded_deltas(derive_ops(program, true, ProductFormat::bf16), program.weights.size());
}

}  // namespace lagtape::recurrence
