#include "lagtape/tools/exchange/export/c99/c_layer.h"

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/reversible.h"
#include "lagtape/tools/exchange/export/c99/c_expressions.h"
#include "lagtape/tools/exchange/export/c99/c_numbers.h"

namespace lagtape {
namespace {

/// A line of code, broken at spaces where it is long.
std::string wrapped(std::string line) {
  std::string text;
  const std::string indent(line.find_first_not_of(' ') + 4, ' ');
  while (line.size() > kCLineLength) {
    const std::size_t space = line.rfind(' ', kCLineLength);
    if (space == std::string::npos || space < indent.size()) break;
    text += line.substr(0, space) + "\n";
    line = indent + line.substr(space + 1);
  }
  return text + line;
}

/// Declares the array of a state, and sets it to zeros, or to the constants that the model starts from. The present value
/// comes first there, then the past ones from the oldest on.
void declare_state(CLayer& result, const ExportedLayer& layer, int state, const CStyle& style,
                   const std::string& member, Dtype dtype) {
  const StepProgram& program = layer.program;
  const std::int64_t width = program.states[state].shape.width(), size = (program.history(state) + 1) * width,
                     bytes = size * static_cast<std::int64_t>(byte_size(dtype));
  result.members += text_of("  ", c_type(dtype), " ", member, "[", size, "];\n");
  result.costs.state_bytes += bytes;
  std::string value = "0";
  if (!layer.start.empty()) {
    const Tensor& window = layer.start[state];
    std::vector<double> values;
    for (std::int64_t i = 0; i < size; ++i) values.push_back(window.at((i + size - width) % size));
    const std::string name = text_of(style.name, "_", member, "_start");
    result.constants += c_array(name, values, dtype);
    result.costs.weight_bytes += bytes;
    value = name + "[i]";
  }
  result.reset += text_of("  for (int i = 0; i < ", size, "; ++i) state->", member, "[i] = ", value, ";\n");
}

bool is_on_grid(const StateDefinition& state) { return state.arithmetic == Arithmetic::grid; }

void declare_states(CLayer& result, const ExportedLayer& layer, const CStyle& style,
                    const CExpressions& step) {
  for (int s = 0; s < static_cast<int>(layer.program.states.size()); ++s) {
    const std::string& member = step.member(s);
    declare_state(result, layer, s, style, member, style.dtype);
    if (layer.program.history(s) > 0) {
      result.members += text_of("  int ", member, "_at;\n");
      result.reset += text_of("  state->", member, "_at = 0;\n");
      result.costs.state_bytes += 4;
    }
    if (is_on_grid(layer.program.states[s]))
      declare_state(result, layer, s, style, member + "_grid", Dtype::f64);
  }
}

/// Writes the function of a layer.
class LayerWriter {
 public:
  LayerWriter(const ExportedLayer& layer, const CStyle& style)
      : program_(layer.program),
        layer_(layer),
        style_(style),
        type_(c_type(style.dtype)),
        step_(layer, style) {}

  CLayer write() {
    for (const CLoop& loop : step_.loops().loops) write_loop(loop);
    const std::string output = output_text();
    const std::string states = next_states();
    CLayer result;
    std::string head = text_of("static void ", style_.name, "_", layer_.name, "(", style_.name,
                               "_state *state, const ", type_, " *x, ", type_, " *y) {\n");
    if (!step_.reads_state && program_.states.empty() && !step_.counts_steps) head += "  (void)state;\n";
    if (!step_.reads_input) head += "  (void)x;\n";
    result.function = head + step_.state_pointers() + arrays_ + loops_ + output + states + "}\n";
    result.constants = step_.constants;
    result.helpers = step_.helpers;
    result.counts_steps = step_.counts_steps;
    result.costs = step_.costs;
    result.costs.stack_bytes += stack_bytes_;
    declare_states(result, layer_, style_, step_);
    return result;
  }

 private:
  std::int64_t width_of(int id) const { return program_.values[id].shape.width(); }

  /// The state on the grid whose next value this is; -1: none.
  int grid_state_of(int id) const {
    for (int s = 0; s < static_cast<int>(program_.states.size()); ++s)
      if (is_on_grid(program_.states[s]) && program_.states[s].next == id) return s;
    return -1;
  }

  void declare_array(const std::string& name, std::int64_t width) {
    arrays_ += text_of("  ", type_, " ", name, "[", width, "];\n");
    stack_bytes_ += width * static_cast<std::int64_t>(byte_size(style_.dtype));
  }

  void write_loop(const CLoop& loop) {
    const bool single = loop.width == 1;
    const std::string index = single ? "0" : "i", indent = single ? "  " : "    ";
    std::string body;
    for (const int id : loop.values) {
      if (!step_.has_variable(id)) continue;
      const bool is_array = step_.loops().is_array[id];
      if (is_array) declare_array(step_.name(id), loop.width);
      const std::string target =
          is_array ? text_of(step_.name(id), "[", index, "]") : text_of("const ", type_, " ", step_.name(id));
      const int state = grid_state_of(id);
      const std::string value = state < 0 ? step_.computed(id, index).text : moved_on_grid(state, index);
      body += wrapped(text_of(indent, target, " = ", value, ";")) + "\n";
    }
    loops_ += step_.preparations();
    loops_ += single ? body : text_of("  for (int i = 0; i < ", loop.width, "; ++i) {\n", body, "  }\n");
  }

  /// Moves a state on the grid by its increment, and gives its new value in the scalar of the file.
  std::string moved_on_grid(int state, const std::string& index) {
    const GridUpdate update = *grid_update(program_, state);
    step_.helpers.insert("on_grid");
    step_.reads_state = true;
    const std::string increment = step_.element(update.increment, index).text;
    const std::string cast = style_.dtype == Dtype::f32 ? "(float)" : "";
    return text_of(cast, style_.name, "_on_grid(&state->", step_.member(state), "_grid[", index, "], ",
                   update.negated ? "-(" : "", increment, update.negated ? ")" : "", ")");
  }

  std::string copy(const std::string& to, const std::string& from, std::int64_t width) {
    step_.helpers.insert("copy");
    return text_of("  ", style_.name, "_copy(", to, ", ", from, ", ", width, ");\n");
  }

  /// A loop that writes all elements of a value to an array.
  std::string write_to(const std::string& array, int id) {
    if (!step_.is_given(id)) return copy(array, step_.name(id), width_of(id));
    return text_of("  for (int i = 0; i < ", width_of(id), "; ++i) ", array,
                   "[i] = ", step_.element(id, "i").text, ";\n");
  }

  std::string output_text() { return write_to("y", program_.output); }

  /// The states' next values take their places once nothing reads the old ones.
  std::string next_states() {
    std::string copies, text;
    for (int s = 0; s < static_cast<int>(program_.states.size()); ++s) {
      const StateDefinition& state = program_.states[s];
      const std::int64_t width = state.shape.width(), length = program_.history(s) + 1;
      const std::string place = "state->" + step_.member(s);
      std::string next = step_.name(state.next);
      if (step_.is_given(state.next)) {
        next = step_.unique(state.name + "_next");
        declare_array(next, width);
        copies += write_to(next, state.next);
      }
      if (length == 1) {
        text += copy(place, next, width);
      } else {
        text += text_of("  ", place, "_at = (", place, "_at + 1) % ", length, ";\n");
        text += copy(text_of(place, " + ", width, " * ", place, "_at"), next, width);
      }
    }
    return copies + text;
  }

  const StepProgram& program_;
  const ExportedLayer& layer_;
  const CStyle& style_;
  std::string type_;
  CExpressions step_;
  std::string arrays_, loops_;
  std::int64_t stack_bytes_ = 0;
};

}  // namespace

CLayer c_layer(const ExportedLayer& layer, const CStyle& style) { return LayerWriter(layer, style).write(); }

}  // namespace lagtape
