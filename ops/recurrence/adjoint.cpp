#include <algorithm>
#include <map>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/backward_phases.h"
#include "lagtape/ops/recurrence/forward_ops.h"
#include "lagtape/ops/recurrence/grid.h"
#include "lagtape/ops/recurrence/kept_values.h"

namespace lagtape::recurrence {
namespace {

/// Reverse mode over one recorded step. Contributions to an adjoint are added in the reverse order of the
/// forward ops; products with the same operand are one stack of transposed weights, added last. The adjoint
/// of a state after the step is its own output's, then those through lags in descending order, then the
/// direct step's, element-wise part and product part.
class Adjoint {
 public:
  Adjoint(const StepProgram& program, ForwardOps forward, bool input_gradient)
      : program_(program),
        f_(std::move(forward)),
        ops_(f_.ops),
        forward_count_(ops_.values.size()),
        forward_(forward_ops(ops_)) {
    find_active(input_gradient);
    adjoint_.resize(forward_count_);
    uses_.resize(forward_count_);
    list_lagged_reads();
    seed_output();
    reverse(ops_.post);
    close_product_stacks();  // a value of the loop gets what comes from outside the loop first
    seed_states();
    reverse(ops_.loop);
    reverse(ops_.delay);
    reverse(ops_.pre);
    if (input_gradient) {
      ops_.input_adjoint_array = add_array(ops_, Array::Kind::input_adjoint, 0, program_.input.width());
      finish_input();
    }
    finish_states();
    finish_lags();
    finish_leaf(StepOp::weight, [&](int, int v) {
      if (adjoint_[v].value >= 0)
        ops_.vector_gradients.push_back({ops_.values[v].place.index, materialize(v)});
    });
    assign_phases(ops_, {backward_, sinks_, loop_sinks_, lag_sinks_}, forward_count_);
  }

  LayerOps take() { return std::move(ops_); }

 private:
  struct Signed {
    int value = -1;
    bool negated = false;
  };

  bool is_placed(int v) const { return ops_.values[v].place.kind != Place::Kind::none; }
  bool is_forward(int v) const { return v >= 0 && v < static_cast<int>(forward_count_); }

  // ---- which values carry a gradient ----

  void find_active(bool input_gradient) {
    active_.assign(forward_count_, false);
    for (std::size_t v = 0; v < program_.values.size(); ++v) {
      const StepOp op = program_.values[v].op;
      active_[v] = op == StepOp::state || op == StepOp::lag || op == StepOp::real_lag ||
                   op == StepOp::weight || (op == StepOp::input && input_gradient);
    }
    for (const Op& op : forward_) {
      // The state that an update adds to is no operand of it.
      if (!op.terms.empty() || op.kind == Op::Kind::grid_update) active_[op.out] = true;
      for (int o : {op.a, op.b})
        if (o >= 0 && active_[o]) active_[op.out] = true;
    }
  }

  // ---- recording ----

  int record(Op op, RowShape shape) {
    op.out = add_value(ops_, shape);
    backward_.push_back(op);
    return op.out;
  }
  int element(ElementOp e, int a, int b = -1, double k = 0) {
    Op op;
    op.element = e;
    op.a = a;
    op.b = b;
    op.k = k;
    return record(op, ops_.values[a].shape);
  }

  void contribute(int to, int value, bool negated = false) {
    if (to < 0 || !is_forward(to) || !active_[to]) return;
    Signed& sum = adjoint_[to];
    if (sum.value < 0) {
      sum = {value, negated};
    } else if (sum.negated == negated) {
      sum.value = element(ElementOp::add, sum.value, value);
    } else {
      sum = {negated ? element(ElementOp::subtract, sum.value, value)
                     : element(ElementOp::subtract, value, sum.value),
             false};
    }
  }

  int materialize(int v) {
    Signed& s = adjoint_[v];
    if (s.negated) {
      const auto [known, is_new] = negated_.try_emplace(s.value);
      if (is_new) known->second = element(ElementOp::negate, s.value);
      s = {known->second, false};
    }
    return s.value;
  }

  // ---- seeds ----

  int source(Array::Kind kind, int index, RowShape shape, int* array) {
    *array = add_array(ops_, kind, index, shape.width());
    return add_value(ops_, shape, in_array(*array));
  }

  void seed_output() {
    const RowShape shape = ops_.values[ops_.output].shape;
    contribute(ops_.output, source(Array::Kind::output_adjoint, 0, shape, &ops_.output_adjoint_array));
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
    std::vector<bool> read(program_.states.size(), false);
    for (const auto& i : program_.values)
      if (i.op == StepOp::state) read[i.index] = true;
    for (int s = 0; s < static_cast<int>(program_.states.size()); ++s) {
      const RowShape shape = program_.states[s].shape;
      for (std::size_t l = 0; l < ops_.lagged.size(); ++l) {
        const auto& lagged = ops_.lagged[l];
        if (lagged.state != s) continue;
        if (lagged.tau < 0) {
          contribute(f_.next[s], add_value(ops_, shape, in_array(lagged.adjoint_array, 1 + lagged.lag)));
        } else {
          Op op;
          op.kind = Op::Kind::real_lag_adjoint;
          op.a = lagged.tau;
          op.index = static_cast<int>(l);
          op.lag = lagged.lag;
          contribute(f_.next[s], record(op, shape));
        }
      }
      if (!read[s]) continue;
      std::vector<int*> parts = {&ops_.direct[s].element};
      if (feeds_product(s)) parts.push_back(&ops_.direct[s].product);
      for (int* array : parts) {
        const int part = source(Array::Kind::direct, s, shape, array);
        // A copy where it would be the whole sum: the array is written anew while the step is still being
        // worked on.
        const bool first = adjoint_[f_.next[s]].value < 0;
        contribute(f_.next[s], first ? element(ElementOp::copy, part) : part);
      }
    }
  }

  bool feeds_product(int state) const {
    const int value = state_value(program_, state);
    return std::ranges::any_of(forward_, [&](const Op& op) {
      return std::ranges::any_of(op.terms, [&](const Op::Term& term) { return term.operand == value; });
    });
  }

  // ---- the reverse sweep ----

  void reverse(const Ops& list) {
    for (auto op = list.rbegin(); op != list.rend(); ++op) {
      add_product_stack(op->out);
      if (!active_[op->out] || adjoint_[op->out].value < 0) continue;
      if (!op->terms.empty()) {
        reverse_product(*op);
      } else {
        reverse_row_op(*op);
      }
    }
  }

  void reverse_product(const Op& op) {
    const int delta = materialize(op.out);
    const Op::Term& term = op.terms.front();
    ops_.matrix_gradients.push_back({term.weight, delta, term.operand});
    if (active_[term.operand]) uses_[term.operand].push_back({term.weight, delta});
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
    return record(op, ops_.values[v].shape);
  }
  void add_product_stack(int v) {
    const int stack = product_stack(v);
    if (stack >= 0) contribute(v, stack);
  }
  void close_product_stacks() {
    for (std::size_t v = 0; v < forward_count_; ++v) add_product_stack(static_cast<int>(v));
  }

  void reverse_row_op(const Op& op) {
    const Signed s = adjoint_[op.out];
    const bool n = s.negated;
    const int d = s.value, y = op.out;
    switch (op.kind) {
      case Op::Kind::sum: return contribute(op.a, spread(Op::Kind::broadcast, d, ops_.values[op.a].shape), n);
      case Op::Kind::broadcast: return contribute(op.a, spread(Op::Kind::sum, d, ops_.values[op.a].shape), n);
      case Op::Kind::concatenate: {
        const RowShape a = ops_.values[op.a].shape, b = ops_.values[op.b].shape;
        contribute(op.a, part(Op::Kind::slice, d, 0, a), n);
        return contribute(op.b, part(Op::Kind::slice, d, static_cast<int>(a.size), b), n);
      }
      case Op::Kind::slice:
        return contribute(op.a, part(Op::Kind::pad, d, op.index, ops_.values[op.a].shape), n);
      case Op::Kind::real_lag: return reverse_real_lag(op, materialize(op.out));
      case Op::Kind::grid_update:  // the rounding's derivative counts as one
        contribute(state_value(program_, op.index), d, n);
        return contribute(op.a, d, op.k < 0 ? !n : n);
      case Op::Kind::element: break;
      default: return;  // draws and the step index have no gradient
    }
    using E = ElementOp;
    const auto times = [&](int factor) { return element(E::multiply, d, factor); };
    switch (op.element) {
      case E::copy: return contribute(op.a, with_shape(d, ops_.values[op.a].shape), n);
      case E::negate: return contribute(op.a, d, !n);
      case E::tanh: return contribute(op.a, element(E::tanh_adjoint, d, y), n);
      case E::sigmoid: return contribute(op.a, element(E::sigmoid_adjoint, d, y), n);
      case E::relu: return contribute(op.a, element(E::relu_adjoint, d, y), n);
      case E::exp: return contribute(op.a, times(y), n);
      case E::log: return contribute(op.a, element(E::divide, d, op.a), n);
      case E::sqrt:
        return contribute(op.a, element(E::multiply_constant, element(E::divide, d, y), -1, 0.5), n);
      case E::abs: return contribute(op.a, times(element(E::sign, op.a)), n);
      case E::sign: return;
      case E::sin: return contribute(op.a, times(element(E::cos, op.a)), n);
      case E::cos: return contribute(op.a, times(element(E::sin, op.a)), !n);
      case E::add: contribute(op.a, d, n); return contribute(op.b, d, n);
      case E::subtract: contribute(op.a, d, n); return contribute(op.b, d, !n);
      case E::multiply:
        if (active_[op.a]) contribute(op.a, times(op.b), n);
        if (active_[op.b]) contribute(op.b, times(op.a), n);
        return;
      case E::divide: {
        const int quotient = element(E::divide, d, op.b);
        contribute(op.a, quotient, n);
        if (active_[op.b]) contribute(op.b, element(E::multiply, quotient, y), !n);
        return;
      }
      case E::minimum: return choose(op, n, d, op.b, op.a);
      case E::maximum: return choose(op, n, d, op.a, op.b);
      case E::add_constant: return contribute(op.a, d, n);
      case E::multiply_constant: return contribute(op.a, element(E::multiply_constant, d, -1, op.k), n);
      case E::minimum_constant: return choose_constant(op, n, d, true);
      case E::maximum_constant: return choose_constant(op, n, d, false);
      case E::constant_minus: return contribute(op.a, d, !n);
      case E::constant_over: return contribute(op.a, times(element(E::divide, y, op.a)), !n);
      default: throw Error("[adjoint] a forward op without a rule");
    }
  }

  /// The adjoint goes to a where `larger` >= `smaller`, else to b: ties to the first operand.
  void choose(const Op& op, bool negated, int d, int larger, int smaller) {
    const int to_a = element(ElementOp::greater, larger, smaller, 1);
    contribute(op.a, element(ElementOp::multiply, d, to_a), negated);
    if (active_[op.b])
      contribute(op.b, element(ElementOp::multiply, d, element(ElementOp::constant_minus, to_a, -1, 1)),
                 negated);
  }
  void choose_constant(const Op& op, bool negated, int d, bool minimum) {
    Op limit;
    limit.element = ElementOp::fill;
    limit.k = op.k;
    const int k = record(limit, ops_.values[op.a].shape);
    const int to_a = element(ElementOp::greater, minimum ? k : op.a, minimum ? op.a : k, 1);
    contribute(op.a, element(ElementOp::multiply, d, to_a), negated);
  }

  int with_shape(int v, RowShape shape) {
    if (ops_.values[v].shape == shape) return v;
    Op op;
    op.a = v;
    return record(op, shape);
  }

  int spread(Op::Kind kind, int a, RowShape shape) {
    Op op;
    op.kind = kind;
    op.a = a;
    return record(op, shape);
  }

  /// A slice of a, or a as a part of something wider, from element `first` on.
  int part(Op::Kind kind, int a, int first, RowShape shape) {
    Op op;
    op.kind = kind;
    op.a = a;
    op.index = first;
    return record(op, shape);
  }

  void reverse_real_lag(const Op& op, int d) {
    finish_lag(op.out, d);
    Op slope;
    slope.kind = Op::Kind::real_lag_slope;
    slope.a = op.a;
    slope.index = op.index;
    slope.lag = op.lag;
    int along = element(ElementOp::multiply, d, record(slope, ops_.values[op.out].shape));
    // tau is a scalar or has the state's shape
    const RowShape tau = ops_.values[op.a].shape;
    while (tau.rank < ops_.values[along].shape.rank) {
      const RowShape shape = ops_.values[along].shape;
      along =
          spread(Op::Kind::sum, along, shape.rank == 2 ? RowShape::vector(shape.groups) : RowShape::scalar());
    }
    contribute(op.a, along);
  }

  // ---- where adjoints go at the end of the step ----

  template <class Finish>
  void finish_leaf(StepOp op, Finish finish) {
    for (int v = 0; v < static_cast<int>(program_.values.size()); ++v) {
      if (program_.values[v].op != op) continue;
      add_product_stack(v);
      finish(program_.values[v].index, v);
    }
  }

  /// The adjoint of v into an array; zeros when nothing reached it.
  void send(int v, int array) {
    Op op;
    const Signed s = adjoint_[v];
    op.element = s.value < 0 ? ElementOp::fill : s.negated ? ElementOp::negate : ElementOp::copy;
    op.a = s.value;
    const int out = can_move(v, array) ? s.value : record(op, ops_.values[v].shape);
    ops_.values[out].place = in_array(array);
    sinks_.push_back(out);
  }

  /// Whether the op that computes v's adjoint may write it into the array itself. An array of one step must
  /// not be read as anything else later.
  bool can_move(int v, int array) const {
    const Signed s = adjoint_[v];
    if (s.value < 0 || s.negated || is_placed(s.value)) return false;
    if (ops_.arrays[array].kind != Array::Kind::direct) return true;
    for (std::size_t u = 0; u < forward_count_; ++u)
      if (static_cast<int>(u) != v && adjoint_[u].value == s.value) return false;
    for (Op op : backward_) {
      bool read = false;
      for_operands(op, [&](int& o) { read = read || o == s.value; });
      if (read) return false;
    }
    return true;
  }

  void finish_input() {
    finish_leaf(StepOp::input, [&](int, int v) { send(v, ops_.input_adjoint_array); });
    for (const auto& i : program_.values)
      if (i.op == StepOp::input) return;
    Op zeros;  // of an input that nothing reads
    zeros.element = ElementOp::fill;
    sinks_.push_back(record(zeros, program_.input));
    ops_.values[sinks_.back()].place = in_array(ops_.input_adjoint_array);
  }

  void finish_states() {
    for (int v = 0; v < static_cast<int>(program_.values.size()); ++v) {
      if (program_.values[v].op != StepOp::state) continue;
      const auto& direct = ops_.direct[program_.values[v].index];
      send(v, direct.element);
      loop_sinks_.push_back(sinks_.back());
      if (direct.product < 0) continue;
      const int stack = product_stack(v);
      adjoint_[v] = {stack, false};
      send(v, direct.product);
      loop_sinks_.push_back(sinks_.back());
    }
  }

  void finish_lags() {
    finish_leaf(StepOp::lag, [&](int, int v) { finish_lag(v, -1); });
    for (int v = 0; v < static_cast<int>(program_.values.size()); ++v)
      if (program_.values[v].op == StepOp::real_lag && adjoint_[v].value < 0) finish_lag(v, -1);
  }
  void finish_lag(int v, int d) {
    if (d >= 0) adjoint_[v] = {d, false};
    send(v, ops_.lagged[lag_of_value_.at(v)].adjoint_array);
    lag_sinks_.push_back(sinks_.back());
  }

  const StepProgram& program_;
  ForwardOps f_;
  LayerOps& ops_;
  std::size_t forward_count_;
  Ops forward_;
  Ops backward_;
  std::vector<bool> active_;
  std::vector<Signed> adjoint_;              // by forward value
  std::map<int, int> negated_;               // value -> its negative, where one is there
  std::vector<std::vector<Op::Term>> uses_;  // by forward value: products that read it, {weight, delta}
  std::map<int, int> lag_of_value_;          // value of a lagged read -> position in ops_.lagged
  std::vector<int> sinks_, loop_sinks_, lag_sinks_;  // values that end in arrays
};

}  // namespace

LayerOps derive_ops(const StepProgram& program, bool input_gradient) {
  LayerOps ops = Adjoint(program, derive_forward(program), input_gradient).take();
  keep_values(ops);
  derive_replay(ops);
  derive_undo(program, ops);
  return ops;
}

}  // namespace lagtape::recurrence
