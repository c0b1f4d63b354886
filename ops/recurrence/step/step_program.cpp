#include "lagtape/ops/recurrence/step/step_program.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

// Names in the order of StepOp.
constexpr std::string_view kNames[] = {"input",      "state",  "lag",     "real_lag", "weight", "constant",
                                       "step_index", "draw",   "product", "element",  "sum",    "broadcast",
                                       "reshape",    "concat", "slice",   "view"};
static_assert(std::size(kNames) == static_cast<std::size_t>(StepOp::view) + 1);

std::string number_text(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

/// A value as an operand: leaves in place, everything else by its number.
std::string reference(const StepProgram& program, int id) {
  const Instruction& v = program.values[id];
  switch (v.op) {
    case StepOp::input: return "x";
    case StepOp::state: return program.states[v.index].name;
    case StepOp::lag: return text_of(program.states[v.index].name, "[-", v.lag, "]");
    case StepOp::weight: return program.weights[v.index].name;
    case StepOp::constant: return number_text(v.value);
    case StepOp::step_index: return v.lag > 1 ? text_of("floor(n / ", v.lag, ")") : "n";
    case StepOp::draw: return text_of("draw", v.index);
    default: return text_of("%", id);
  }
}

/// A function of one or two operands as an equation writes it.
std::string function_text(const Instruction& v, const std::string& a, const std::string& b) {
  switch (v.element) {
    case ElementOp::negate: return "-" + a;
    case ElementOp::add: return a + " + " + b;
    case ElementOp::subtract: return a + " - " + b;
    case ElementOp::multiply: return a + " * " + b;
    case ElementOp::divide: return a + " / " + b;
    default: return text_of(name_of(v), "(", a, b.empty() ? "" : ", ", b, ")");
  }
}

/// The right-hand side of a value that has its own line.
std::string expression(const StepProgram& program, const Instruction& v) {
  const std::string a = reference(program, v.a);
  const std::string b = v.b < 0 ? "" : reference(program, v.b);
  switch (v.op) {
    case StepOp::real_lag: return text_of(program.states[v.index].name, "[-", a, "], at most ", v.lag);
    case StepOp::product: return text_of(program.weights[v.index].name, " @ ", a);
    case StepOp::element: return function_text(v, a, b);
    case StepOp::broadcast:
    case StepOp::reshape: return text_of(name_of(v), "(", a, ", ", to_string(v.shape), ")");
    case StepOp::slice: return text_of("slice(", a, ", ", v.index, ", ", v.index + v.shape.size, ")");
    case StepOp::view:
      return text_of("view(", a, ", ", to_string(v.shape), ", from ", v.index, " by ",
                     to_string(strides_of(v)), ")");
    default: return text_of(name_of(v), "(", a, b.empty() ? "" : ", ", b, ")");
  }
}

std::string kind_text(const DrawDefinition& draw) {
  switch (draw.kind) {
    case DrawDefinition::Kind::uniform: return "uniform";
    case DrawDefinition::Kind::normal: return "normal";
    case DrawDefinition::Kind::mask: return text_of("mask(", number_text(draw.rate), ")");
  }
  return {};
}

bool has_line(StepOp op) { return !is_leaf(op) || op == StepOp::real_lag; }

/// "h'" if the output is a state's next value, as it usually is.
std::string output_name(const StepProgram& program) {
  for (const StateDefinition& state : program.states) {
    if (state.next == program.output) return state.name + "'";
  }
  return reference(program, program.output);
}

}  // namespace

RowShape RowShape::of(const Shape& axes) {
  if (axes.empty()) return scalar();
  RowShape shape{static_cast<int>(axes.size()), 1, axes.back()};
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) shape.groups *= axes[i];
  for (std::size_t i = 0; i + 2 < axes.size(); ++i) shape.first.at(i) = axes[i];
  return shape;
}

Shape RowShape::axes() const {
  if (rank == 0) return {};
  if (rank == 1) return {size};
  Shape axes(first.begin(), first.begin() + (rank - 2));
  axes.push_back(groups / element_count(axes));
  axes.push_back(size);
  return axes;
}

std::array<std::int64_t, RowShape::kLargestRank> RowShape::four_axes() const {
  if (rank < 3) return {1, 1, groups, size};
  if (rank == 3) return {1, first[0], groups / first[0], size};
  return {first[0], first[1], groups / (first[0] * first[1]), size};
}

std::string to_string(const RowShape& shape) { return to_string(shape.axes()); }

bool is_leaf(StepOp op) { return op <= StepOp::draw; }

std::string_view name_of(const Instruction& v) {
  return v.op == StepOp::element ? function_of(v.element).name : kNames[static_cast<std::size_t>(v.op)];
}

Shape strides_of(const Instruction& view) {
  return {view.strides.end() - view.shape.rank, view.strides.end()};
}

std::int64_t place_in_view(const Instruction& view, std::int64_t element) {
  const auto axes = view.shape.four_axes();
  std::int64_t place = view.index;
  for (std::size_t axis = axes.size(); axis-- > 0; element /= axes[axis])
    place += element % axes[axis] * view.strides[axis];
  return place;
}

void find_reads(StepProgram& program) {
  for (StateDefinition& state : program.states) {
    state.value = -1;
    state.history = 0;
  }
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    const Instruction& i = program.values[v];
    if (i.op != StepOp::state && i.op != StepOp::lag && i.op != StepOp::real_lag) continue;
    StateDefinition& state = program.states[static_cast<std::size_t>(i.index)];
    if (i.op == StepOp::state) {
      state.value = static_cast<int>(v);
    } else {
      state.history = std::max(state.history, i.lag);
    }
  }
}

std::int64_t StepProgram::largest_lag() const {
  std::int64_t longest = 0;
  for (const Instruction& v : values) longest = std::max(longest, v.lag);
  return longest;
}

bool StepProgram::is_fixed(int value) const {
  std::vector<bool> fixed;
  for (int id = 0; id <= value; ++id) {
    const Instruction& v = values[id];
    if (is_leaf(v.op)) {
      fixed.push_back(v.op == StepOp::weight || v.op == StepOp::constant);
    } else {
      fixed.push_back(fixed[v.a] && (v.b < 0 || fixed[v.b]));
    }
  }
  return fixed.back();
}

std::int64_t StepProgram::product_flops() const {
  std::int64_t flops = 0;
  for (const Instruction& v : values) {
    if (v.op == StepOp::product) flops += 2 * v.shape.groups * element_count(weights[v.index].shape);
  }
  return flops;
}

std::string to_string(const StepProgram& program) {
  std::string text = text_of("input x ", to_string(program.input), "\n");
  for (const StateDefinition& state : program.states) {
    text += text_of("state ", state.name, " ", to_string(state.shape),
                    state.arithmetic == Arithmetic::grid ? " on the grid\n" : "\n");
  }
  for (const WeightDefinition& weight : program.weights) {
    text += text_of("weight ", weight.name, " ", to_string(weight.shape), "\n");
  }
  for (const Instruction& v : program.values) {
    if (v.op != StepOp::draw) continue;
    const DrawDefinition& draw = program.draws[v.index];
    text += text_of("draw", v.index, " = ", kind_text(draw), to_string(v.shape),
                    draw.every_step ? " every step" : " every sequence", ", ", number_text(draw.evaluation),
                    " in evaluation\n");
  }
  for (std::size_t id = 0; id < program.values.size(); ++id) {
    const Instruction& v = program.values[id];
    if (has_line(v.op)) text += text_of("%", id, " = ", expression(program, v), "\n");
  }
  for (const StateDefinition& state : program.states) {
    text += text_of(state.name, "' = ", reference(program, state.next), "\n");
  }
  return text + text_of("output ", output_name(program), "\n");
}

}  // namespace lagtape
