#include "lagtape/tools/exchange/import/cell_equations.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape::foreign {
namespace {

std::string joined_name(const std::string& stem, const std::string& gate) {
  return gate.empty() ? stem : stem + "_" + gate;
}

/// Names in the equations: a layer's own inputs, their number, and its output with the inputs that it passes on.
std::string own_inputs(const Carry& carry) {
  return carry.count > 0 && !carry.from_inputs ? "slice(x, 0, input - carry)" : "x";
}
std::string own_input_count(const Carry& carry) {
  return carry.count > 0 && !carry.from_inputs ? "input - carry" : "input";
}
Json output_with(const Carry& carry, const std::string& output, const std::string& second = "") {
  if (carry.count == 0 && second.empty()) return output;
  Json all = Json::array({output});
  if (!second.empty()) all.push_back(second);
  if (carry.count > 0)
    all.push_back(carry.from_inputs ? "slice(x, 0, carry)" : "slice(x, input - carry, input)");
  return all;
}

Json weights_of(const ForeignCell& cell, const Carry& carry) {
  const GateWeights& first = cell.gates.front();
  Json weights = Json::object();
  for (const std::string& gate : gates_of(cell.kind)) {
    const std::string W = joined_name("W", gate), U = joined_name("U", gate);
    weights[W] = {"units", "units"};
    if (!first.W_bias.empty()) weights[W + ".bias"] = {"units"};
    weights[U] = {"units", own_input_count(carry)};
    if (!first.U_bias.empty()) weights[U + ".bias"] = {"units"};
  }
  if (!cell.h0.empty()) weights["h0"] = {"units"};
  if (!cell.c0.empty()) weights["c0"] = {"units"};
  return weights;
}

/// The equations of a step. A first state h0 is added to the zeros of step 0, and 0 h0 afterwards, so that the numbers
/// are those of the file, and it is trained like any weight.
std::vector<std::string> step_of(const ForeignCell& cell, const Carry& carry) {
  std::vector<std::string> step;
  std::string x = own_inputs(carry), h = "h", c = "c";
  if (x != "x") {
    step.push_back("u = " + x);
    x = "u";
  }
  if (!cell.h0.empty() || !cell.c0.empty()) step.push_back("first = maximum(1 - n, 0)");
  if (!cell.h0.empty()) step.push_back(text_of(h = "hidden", " = h + first * h0"));
  if (!cell.c0.empty()) step.push_back(text_of(c = "memory", " = c + first * c0"));

  const GateWeights& first = cell.gates.front();
  const auto product = [](const std::string& weight, const std::string& vector, const Tensor& bias) {
    const std::string text = text_of(weight, " @ ", vector);
    return bias.empty() ? text : text_of("(", text, " + ", weight, ".bias)");
  };
  const auto of_state = [&](const std::string& gate, const std::string& state) {
    return product(joined_name("W", gate), state, first.W_bias);
  };
  const auto of_input = [&](const std::string& gate) {
    return product(joined_name("U", gate), x, first.U_bias);
  };
  const auto add = [&](const std::string& name, const std::string& function, const std::string& inside) {
    step.push_back(text_of(name, " = ", function, "(", inside, ")"));
  };
  const auto add_gate = [&](const std::string& gate, const std::string& function) {
    add(gate, function, text_of(of_state(gate, h), " + ", of_input(gate)));
  };
  if (cell.kind == CellKind::rnn) {
    add("h'", cell.input_function, text_of(of_state("", h), " + ", of_input("")));
  } else if (cell.kind == CellKind::lstm) {
    add_gate("i", cell.gate_function);
    add_gate("f", cell.gate_function);
    add_gate("g", cell.input_function);
    add_gate("o", cell.gate_function);
    step.push_back(text_of("c' = f * ", c, " + i * g"));
    step.push_back(text_of("h' = o * ", cell.output_function, "(c')"));
  } else {
    add_gate("r", cell.gate_function);
    add_gate("z", cell.gate_function);
    add("k", cell.input_function,
        cell.resets_before ? text_of(of_state("n", text_of("(r * ", h, ")")), " + ", of_input("n"))
                           : text_of(of_input("n"), " + r * (", of_state("n", h), ")"));
    step.push_back(text_of("h' = (1 - z) * k + z * ", h));
  }
  return step;
}

Json cell_equations(const ForeignCell& cell, const Carry& carry) {
  Json json = Json::object();
  if (carry.count > 0) json["hyper"] = {{"carry", carry.count}};
  json["weights"] = weights_of(cell, carry);
  json["state"] = Json::object();
  json["state"]["h"] = "units";
  if (cell.kind == CellKind::lstm) json["state"]["c"] = "units";
  json["step"] = step_of(cell, carry);
  json["output"] = output_with(carry, "h'", cell.gives_memory ? "c'" : "");
  return json;
}

/// Says how a cell differs from lagtape's own: "_one_bias", "_reset_before_skip"; empty where it does not.
std::string differences(const ForeignCell& cell, const Carry& carry) {
  std::string text;
  const bool W_bias = !cell.gates.front().W_bias.empty(), U_bias = !cell.gates.front().U_bias.empty();
  if (!W_bias || !U_bias) text += W_bias || U_bias ? "_one_bias" : "_no_bias";
  if (cell.resets_before) text += "_reset_before";
  if (cell.kind != CellKind::rnn && cell.gate_function != "sigmoid") text += "_gates_" + cell.gate_function;
  if (cell.input_function != "tanh") text += "_" + cell.input_function;
  if (cell.kind == CellKind::lstm && cell.output_function != "tanh") text += "_out_" + cell.output_function;
  if (!cell.h0.empty() || !cell.c0.empty())
    text += cell.c0.empty() ? "_from_h" : cell.h0.empty() ? "_from_c" : "_from_state";
  if (cell.gives_memory) text += "_memory";
  if (carry.count > 0) text += carry.from_inputs ? "_skip" : "_carry";
  return text;
}

/// Functions that equations write out, of a.
constexpr std::pair<const char*, const char*> kFormulas[] = {
    {"elu", "relu(a) + (exp(minimum(a, 0)) - 1)"},
    {"silu", "a * sigmoid(a)"},
    {"gelu", "0.5 * a * (1 + erf(a * 0.7071067811865476))"},
    {"leaky_relu", "relu(a) + 0.01 * minimum(a, 0)"},
};

/// y = f(W x + bias), with the parts that there are.
Json dense_equations(const ForeignDense& dense, const Carry& carry) {
  Json json = Json::object();
  if (carry.count > 0) json["hyper"] = {{"carry", carry.count}};
  json["weights"] = Json::object();
  std::string value = own_inputs(carry);
  if (!dense.W.empty()) {
    json["weights"]["W"] = {"units", own_input_count(carry)};
    value = text_of("W @ ", value);
  }
  if (!dense.bias.empty()) {
    json["weights"]["W.bias"] = {"units"};
    value += " + W.bias";
  }
  json["state"] = Json::object();
  const auto formula =
      std::ranges::find_if(kFormulas, [&](const auto& formula) { return dense.function == formula.first; });
  if (formula != std::end(kFormulas)) {
    json["step"] = Json::array({"a = " + value, text_of("y = ", formula->second)});
  } else {
    json["step"] = Json::array(
        {dense.function.empty() ? "y = " + value : text_of("y = ", dense.function, "(", value, ")")});
  }
  json["output"] = output_with(carry, "y");
  return json;
}

/// Layers of one cell may carry different numbers of inputs.
Json entry_of(const std::string& name, std::int64_t units, const Carry& carry) {
  Json entry = {{"cell", name}, {"units", units}};
  if (carry.count > 0) entry["carry"] = carry.count;
  return entry;
}

}  // namespace

Json cell_layer(const ForeignCell& cell, const Carry& carry, Json& cells) {
  const std::string difference = differences(cell, carry);
  const std::string name = std::string(name_of(cell.kind)) + difference;
  if (!difference.empty()) cells[name] = cell_equations(cell, carry);
  return entry_of(name, cell.units, carry);
}

Json dense_layer(const ForeignDense& dense, std::int64_t units, const Carry& carry, Json& cells) {
  if (carry.count == 0 && dense.function.empty() && !dense.W.empty() && !dense.bias.empty())
    return {{"layer", "linear"}, {"units", units}};
  std::string name = dense.W.empty() ? "activation" : dense.bias.empty() ? "dense_no_bias" : "dense";
  if (!dense.function.empty()) name += "_" + dense.function;
  if (carry.count > 0) name += carry.from_inputs ? "_skip" : "_carry";
  cells[name] = dense_equations(dense, carry);
  return entry_of(name, units, carry);
}

}  // namespace lagtape::foreign
