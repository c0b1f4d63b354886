#include "lagtape/tools/exchange/import/cell_equations.h"

#include "lagtape/core/error.h"

namespace lagtape::foreign {
namespace {

std::string joined_name(const std::string& stem, const std::string& gate) {
  return gate.empty() ? stem : stem + "_" + gate;
}

/// Writes a foreign cell as equations.
class CellWriter {
 public:
  CellWriter(const ForeignCell& cell, const Carry& carry) : cell_(cell), carry_(carry) {
    const GateWeights& first = cell.gates.front();
    for (const std::string& gate : gates_of(cell.kind)) {
      weights_[joined_name("W", gate)] = {"units", "units"};
      if (!first.W_bias.empty()) weights_[joined_name("W", gate) + ".bias"] = {"units"};
      weights_[joined_name("U", gate)] = {"units",
                                          carry.count > 0 && !carry.from_inputs ? "input - carry" : "input"};
      if (!first.U_bias.empty()) weights_[joined_name("U", gate) + ".bias"] = {"units"};
    }
  }

  Json equations() {
    begin();
    if (cell_.kind == CellKind::rnn) write_rnn();
    if (cell_.kind == CellKind::lstm) write_lstm();
    if (cell_.kind == CellKind::gru) write_gru();
    Json json = Json::object();
    if (carry_.count > 0) json["hyper"] = {{"carry", carry_.count}};
    json["weights"] = weights_;
    json["state"] = Json::object();
    json["state"]["h"] = "units";
    if (cell_.kind == CellKind::lstm) json["state"]["c"] = "units";
    json["step"] = step_;
    if (carry_.count == 0) {
      json["output"] = "h'";
    } else {
      json["output"] =
          Json::array({"h'", carry_.from_inputs ? "slice(x, 0, carry)" : "slice(x, input - carry, input)"});
    }
    return json;
  }

 private:
  void line(const std::string& equation) { step_.push_back(equation); }

  /// A state before the step by the name that equations use. A first state h0 is added to the zeros of step 0,
  /// and 0 h0 afterwards, so that the numbers are those of the file, and it is trained like any weight.
  std::string state(const std::string& name, const Tensor& first, const std::string& with_first) {
    if (first.empty()) return name;
    weights_[name + "0"] = {"units"};
    line(text_of(with_first, " = ", name, " + first * ", name, "0"));
    return with_first;
  }

  void begin() {
    if (carry_.count > 0 && !carry_.from_inputs) {
      line("u = slice(x, 0, input - carry)");
      x_ = std::string("u");
    }
    if (!cell_.h0.empty() || !cell_.c0.empty()) line("first = maximum(1 - n, 0)");
    h_ = state("h", cell_.h0, "hidden");
    c_ = state("c", cell_.c0, "memory");
  }

  std::string of_state(const std::string& gate, const std::string& h) const {
    const std::string name = joined_name("W", gate), product = text_of(name, " @ ", h);
    return cell_.gates.front().W_bias.empty() ? product : text_of("(", product, " + ", name, ".bias)");
  }
  std::string of_input(const std::string& gate) const {
    const std::string name = joined_name("U", gate), product = text_of(name, " @ ", x_);
    return cell_.gates.front().U_bias.empty() ? product : text_of("(", product, " + ", name, ".bias)");
  }
  std::string activation(const std::string& gate) const {
    return text_of(of_state(gate, h_), " + ", of_input(gate));
  }
  void write_gate(const std::string& gate, const std::string& function) {
    line(text_of(gate, " = ", function, "(", activation(gate), ")"));
  }

  void write_rnn() { line(text_of("h' = ", cell_.input_function, "(", activation(""), ")")); }

  void write_lstm() {
    write_gate("i", cell_.gate_function);
    write_gate("f", cell_.gate_function);
    write_gate("g", cell_.input_function);
    write_gate("o", cell_.gate_function);
    line(text_of("c' = f * ", c_, " + i * g"));
    line(text_of("h' = o * ", cell_.output_function, "(c')"));
  }

  void write_gru() {
    write_gate("r", cell_.gate_function);
    write_gate("z", cell_.gate_function);
    const std::string inside = cell_.resets_before
                                   ? text_of(of_state("n", text_of("(r * ", h_, ")")), " + ", of_input("n"))
                                   : text_of(of_input("n"), " + r * (", of_state("n", h_), ")");
    line(text_of("k = ", cell_.input_function, "(", inside, ")"));
    line(text_of("h' = (1 - z) * k + z * ", h_));
  }

  const ForeignCell& cell_;
  Carry carry_;
  Json weights_ = Json::object();
  std::vector<std::string> step_;
  std::string x_ = "x", h_ = "h", c_ = "c";
};

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
  if (carry.count > 0) text += carry.from_inputs ? "_skip" : "_carry";
  return text;
}

/// y = f(W x + bias), with the parts that there are.
Json dense_equations(const ForeignDense& dense, const Carry& carry) {
  Json json = Json::object();
  const bool passes = carry.count > 0 && !carry.from_inputs;
  if (carry.count > 0) json["hyper"] = {{"carry", carry.count}};
  json["weights"] = Json::object();
  std::string value = passes ? "slice(x, 0, input - carry)" : "x";
  if (!dense.W.empty()) {
    json["weights"]["W"] = {"units", passes ? "input - carry" : "input"};
    value = text_of("W @ ", value);
  }
  if (!dense.bias.empty()) {
    json["weights"]["W.bias"] = {"units"};
    value += " + W.bias";
  }
  json["state"] = Json::object();
  if (dense.function == "elu") {
    json["step"] = Json::array({"a = " + value, "y = relu(a) + (exp(minimum(a, 0)) - 1)"});
  } else {
    json["step"] = Json::array(
        {dense.function.empty() ? "y = " + value : text_of("y = ", dense.function, "(", value, ")")});
  }
  json["output"] = "y";
  if (carry.count > 0)
    json["output"] =
        Json::array({"y", carry.from_inputs ? "slice(x, 0, carry)" : "slice(x, input - carry, input)"});
  return json;
}

}  // namespace

Json cell_layer(const ForeignCell& cell, const Carry& carry, Json& cells) {
  const std::string difference = differences(cell, carry);
  const std::string name = std::string(name_of(cell.kind)) + difference;
  if (!difference.empty()) cells[name] = CellWriter(cell, carry).equations();
  return {{"cell", name}, {"units", cell.units}};
}

Json dense_layer(const ForeignDense& dense, std::int64_t units, const Carry& carry, Json& cells) {
  if (carry.count == 0 && dense.function.empty() && !dense.W.empty() && !dense.bias.empty())
    return {{"layer", "linear"}, {"units", units}};
  std::string name = dense.W.empty() ? "activation" : dense.bias.empty() ? "dense_no_bias" : "dense";
  if (!dense.function.empty()) name += "_" + dense.function;
  if (carry.count > 0) name += carry.from_inputs ? "_skip" : "_carry";
  cells[name] = dense_equations(dense, carry);
  return {{"cell", name}, {"units", units}};
}

}  // namespace lagtape::foreign
