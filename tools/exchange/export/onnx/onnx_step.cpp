#include "lagtape/tools/exchange/export/onnx/onnx_step.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "lagtape/core/error.h"
#include "lagtape/ops/kernels/grid.h"
#include "lagtape/ops/recurrence/step/reversible.h"
#include "lagtape/tools/exchange/export/fixed_values.h"

namespace lagtape {
namespace {

bool counts_steps(const StepProgram& program) {
  return std::ranges::any_of(program.values, [](const Instruction& v) { return v.op == StepOp::step_index; });
}

/// Writes the nodes of one step. A vector is [batch, n], a number [batch, 1], a grouped vector [batch, g, n].
/// Fixed values are constants without the batch.
class StepWriter {
 public:
  StepWriter(OnnxWriter& graph, const ExportedLayer& layer, std::string x,
             const std::vector<std::string>& states, Dtype dtype)
      : graph_(graph),
        layer_(layer),
        program_(layer.program),
        x_(std::move(x)),
        states_(states),
        dtype_(dtype),
        fixed_(fixed_values(layer)) {}

  OnnxStep write() {
    for (const Instruction& v : program_.values) {
      const int id = static_cast<int>(values_.size());
      const int state = grid_state_of(id);
      values_.push_back(!fixed_[id].empty() ? "" : state < 0 ? value_of(v) : moved_on_grid(state));
    }
    OnnxStep step;
    step.output = graph_.node("Identity", {flat(program_.output)}, {}, layer_.name + ".output");
    for (int s = 0; s < static_cast<int>(program_.states.size()); ++s) step.states.push_back(next_state(s));
    if (counts_steps(program_)) {
      step.states.push_back(graph_.node("Add", {states_.back(), number(1)}, {}, layer_.name + ".n.next"));
    }
    return step;
  }

 private:
  std::string node(const std::string& operation, std::initializer_list<std::string> inputs,
                   const OnnxAttributes& attributes = {}) {
    return graph_.node(operation, inputs, attributes, text_of(layer_.name, ".", operation));
  }
  std::string number(double value) { return graph_.numbers({1}, {&value, 1}, dtype_); }
  std::string ones(std::int64_t n) { return graph_.numbers({n}, std::vector<double>(n, 1), dtype_, "ones"); }
  std::int64_t width_of(int id) const { return program_.values[id].shape.width(); }
  std::int64_t history_of(int state) const { return program_.history(state); }

  int grid_state_of(int id) const {
    for (int s = 0; s < static_cast<int>(program_.states.size()); ++s)
      if (program_.states[s].arithmetic == Arithmetic::grid && program_.states[s].next == id) return s;
    return -1;
  }

  std::string fixed(int id) {
    std::string& name = constants_[id];
    if (!name.empty()) return name;
    const RowShape& shape = program_.values[id].shape;
    const std::int64_t count = std::ssize(fixed_[id]);
    Shape extents = {count};
    if (shape.rank > 1 && count > 1) extents = shape.axes();
    const Instruction& v = program_.values[id];
    const std::string what = v.op == StepOp::weight ? program_.weights[v.index].name : "number";
    return name = graph_.numbers(extents, fixed_[id], dtype_, text_of(layer_.name, ".", what));
  }

  /// A value as an operand of something that adds missing axes in front.
  std::string operand(int id) { return fixed_[id].empty() ? values_[id] : fixed(id); }

  /// A value as [batch, width], also where it is the same in all rows.
  std::string flat(int id) {
    if (fixed_[id].empty())
      return program_.values[id].shape.rank > 1 ? node("Reshape", {values_[id], graph_.integers({0, -1})})
                                                : values_[id];
    const std::string rows = node("Shape", {x_}, OnnxAttributes().integer("start", 0).integer("end", 1));
    const std::string shape =
        node("Concat", {rows, graph_.integers({width_of(id)})}, OnnxAttributes().integer("axis", 0));
    const std::string row =
        node("Reshape", {fixed(id), graph_.integers({fixed_[id].size() == 1 ? 1 : width_of(id)})});
    return node("Expand", {row, shape});
  }

  /// [batch, width] in the shape of a value.
  std::string shaped(const std::string& name, const RowShape& shape) {
    if (shape.rank < 2) return name;
    Shape axes = shape.axes();
    axes.insert(axes.begin(), 0);  // as many rows as there are
    return node("Reshape", {name, graph_.integers(axes)});
  }

  std::string past(const Instruction& v) {
    const std::int64_t history = history_of(v.index);
    const std::string& state = states_[v.index];
    if (program_.states[v.index].arithmetic == Arithmetic::grid)
      return shaped(dtype_ == Dtype::f32 ? node("Cast", {state}, cast()) : state, v.shape);
    if (history == 0) return shaped(state, v.shape);
    const std::int64_t lag = v.op == StepOp::lag ? v.lag : 0;
    return shaped(node("Gather", {state, graph_.integer(history - lag)}, OnnxAttributes().integer("axis", 1)),
                  v.shape);
  }

  OnnxAttributes cast() const {
    return OnnxAttributes().integer("to", static_cast<std::int64_t>(onnx_type(dtype_)));
  }

  /// The past of a state weighed with max(0, 1 - |lag - tau|), which is linear interpolation.
  std::string real_lag(const Instruction& v) {
    const std::int64_t history = history_of(v.index);
    std::vector<double> lags;
    for (std::int64_t j = 0; j <= history; ++j) lags.push_back(static_cast<double>(history - j));
    const std::string steps = graph_.numbers({history + 1, 1}, lags, dtype_);
    const std::string tau =
        node("Min", {node("Max", {operand(v.a), number(1)}), number(static_cast<double>(v.lag))});
    const std::string in_rows = fixed_[v.a].empty() ? node("Unsqueeze", {tau, graph_.integers({1})}) : tau;
    const std::string near =
        node("Relu", {node("Sub", {number(1), node("Abs", {node("Sub", {steps, in_rows})})})});
    const std::string sum = node("ReduceSum", {node("Mul", {states_[v.index], near}), graph_.integers({1})},
                                 OnnxAttributes().integer("keepdims", 0));
    return shaped(sum, v.shape);
  }

  std::string product(const Instruction& v) {
    std::string& name = matrices_[v.index];
    const bool grouped = program_.values[v.a].shape.rank > 1;
    const std::string wished = text_of(layer_.name, ".", program_.weights[v.index].name);
    const Tensor weight = layer_.weights[v.index].to(dtype_);
    if (name.empty()) name = graph_.constant(wished, weight);
    const std::string matrix =
        grouped
            ? node("Transpose", {name}, OnnxAttributes().integers("perm", std::vector<std::int64_t>{1, 0}))
            : name;
    if (grouped) return node("MatMul", {values_[v.a], matrix});
    return node("Gemm", {values_[v.a], matrix}, OnnxAttributes().integer("transB", 1));
  }

  std::string value_of(const Instruction& v) {
    switch (v.op) {
      case StepOp::input: return shaped(x_, v.shape);
      case StepOp::state:
      case StepOp::lag: return past(v);
      case StepOp::real_lag: return real_lag(v);
      case StepOp::step_index:
        if (v.lag <= 1) return states_.back();
        return node("Floor", {node("Div", {states_.back(), number(static_cast<double>(v.lag))})});
      case StepOp::product: return product(v);
      case StepOp::sum:
        return node("ReduceSum", {values_[v.a], graph_.integers({-1})},
                    OnnxAttributes().integer("keepdims", program_.values[v.a].shape.rank > 1 ? 0 : 1));
      case StepOp::broadcast: {
        const bool number = program_.values[v.a].shape.rank == 0;
        const std::string column =
            number ? values_[v.a] : node("Unsqueeze", {values_[v.a], graph_.integers({-1})});
        return node("Mul", {column, ones(v.shape.size)});
      }
      case StepOp::reshape: return shaped(flat(v.a), v.shape);
      case StepOp::slice:
        return node("Slice", {values_[v.a], graph_.integers({v.index}),
                              graph_.integers({v.index + v.shape.size}), graph_.integers({1})});
      case StepOp::view: {
        std::vector<std::int64_t> places;
        for (std::int64_t i = 0; i < v.shape.width(); ++i) places.push_back(place_in_view(v, i));
        return shaped(
            node("Gather", {flat(v.a), graph_.integers(places)}, OnnxAttributes().integer("axis", 1)),
            v.shape);
      }
      case StepOp::concatenate:
        return node("Concat", {flat(v.a), flat(v.b)}, OnnxAttributes().integer("axis", 1));
      case StepOp::element: return function(v);
      default: throw Error("[export] no rule for an operation.");
    }
  }

  std::string function(const Instruction& v) {
    std::string_view form = function_of(v.element).forms.onnx;
    if (form.empty()) throw Error("[export] no rule for a function.");
    if (form.back() == ')') return nodes_of(form, v);
    if (v.b < 0) return node(std::string(form), {operand(v.a)});
    return node(std::string(form), {operand(v.a), operand(v.b)});
  }

  /// The nodes of an expression such as Add(Log(a), 1), which is taken from the front of `form`.
  std::string nodes_of(std::string_view& form, const Instruction& v) {
    const std::size_t end = std::min(form.find_first_of("(,)"), form.size());
    const std::string name(form.substr(0, end));
    form.remove_prefix(end);
    if (!form.starts_with("(")) {
      double value = 0;
      std::from_chars(name.data(), name.data() + name.size(), value);
      return name == "a" ? operand(v.a) : name == "b" ? operand(v.b) : number(value);
    }
    std::vector<std::string> inputs;
    while (!form.starts_with(")")) {
      form.remove_prefix(form.starts_with(", ") ? 2 : 1);
      inputs.push_back(nodes_of(form, v));
    }
    form.remove_prefix(1);
    return graph_.node(name, inputs, {}, text_of(layer_.name, ".", name));
  }

  /// Moves a state on the grid by its increment, rounded to a multiple of 2^-32; beyond the end it becomes NaN.
  std::string moved_on_grid(int state) {
    const GridUpdate update = *grid_update(program_, state);
    const auto real = [&](double value) { return graph_.numbers({1}, {&value, 1}, Dtype::f64); };
    const OnnxAttributes to_double = OnnxAttributes().integer("to", static_cast<std::int64_t>(OnnxType::f64));
    const std::string increment = node("Cast", {flat(update.increment)}, to_double);
    const std::string steps = node("Round", {node("Mul", {increment, real(std::ldexp(1, 32))})});
    const std::string rounded = node("Mul", {steps, real(std::ldexp(1, -32))});
    const std::string sum = node(update.negated ? "Sub" : "Add", {states_[state], rounded});
    const std::string inside = node("LessOrEqual", {node("Abs", {sum}), real(kGridLimit)});
    grid_[state] = node("Where", {inside, sum, real(std::numeric_limits<double>::quiet_NaN())});
    const std::string view = dtype_ == Dtype::f32 ? node("Cast", {grid_[state]}, cast()) : grid_[state];
    return shaped(view, program_.states[state].shape);
  }

  std::string next_state(int s) {
    const StateDefinition& state = program_.states[s];
    const std::string name = text_of(layer_.name, ".", state.name, ".next");
    if (state.arithmetic == Arithmetic::grid) return graph_.node("Identity", {grid_[s]}, {}, name);
    if (history_of(s) == 0) return graph_.node("Identity", {flat(state.next)}, {}, name);
    const std::string kept = node("Slice", {states_[s], graph_.integers({1}),
                                            graph_.integers({history_of(s) + 1}), graph_.integers({1})});
    const std::string newest = node("Unsqueeze", {flat(state.next), graph_.integers({1})});
    return graph_.node("Concat", {kept, newest}, OnnxAttributes().integer("axis", 1), name);
  }

  OnnxWriter& graph_;
  const ExportedLayer& layer_;
  const StepProgram& program_;
  std::string x_;
  const std::vector<std::string>& states_;
  Dtype dtype_;
  std::vector<std::vector<double>> fixed_;
  std::vector<std::string> values_;
  std::map<int, std::string> constants_, matrices_, grid_;
};

}  // namespace

OnnxShape OnnxState::shape() const {
  OnnxShape shape = {"batch"};
  for (const std::int64_t extent : extents) shape.emplace_back(extent);
  return shape;
}

std::vector<OnnxState> onnx_states(const ExportedLayer& layer, Dtype dtype) {
  std::vector<OnnxState> states;
  for (int s = 0; s < static_cast<int>(layer.program.states.size()); ++s) {
    const StateDefinition& state = layer.program.states[s];
    const std::int64_t width = state.shape.width(), history = layer.program.history(s);
    states.push_back(
        {text_of(layer.name, ".", state.name), state.arithmetic == Arithmetic::grid ? Dtype::f64 : dtype,
         history == 0 ? std::vector<std::int64_t>{width} : std::vector<std::int64_t>{history + 1, width}});
  }
  if (counts_steps(layer.program)) states.push_back({text_of(layer.name, ".n"), dtype, {1}});
  return states;
}

OnnxStep add_step(OnnxWriter& graph, const ExportedLayer& layer, const std::string& x,
                  const std::vector<std::string>& states, Dtype dtype) {
  return StepWriter(graph, layer, x, states, dtype).write();
}

}  // namespace lagtape
