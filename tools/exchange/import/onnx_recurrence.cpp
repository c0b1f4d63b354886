#include "lagtape/tools/exchange/import/onnx_recurrence.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/files/json_tensor.h"

namespace lagtape::foreign {

namespace {

/// Reads a node of a recurrence.
class RecurrenceReader {
 public:
  /// `is_step`: of one step, whose first states may depend on the input.
  explicit RecurrenceReader(const OnnxCall& call, bool is_step = false)
      : call_(call),
        node_(call.node),
        place_{.file = call.where, .item = call.node.title()},
        is_step_(is_step) {
    kind_ = node_.type == "RNN" ? CellKind::rnn : node_.type == "LSTM" ? CellKind::lstm : CellKind::gru;
  }

  ForeignRecurrence read() {
    refuse_what_is_not_supported();
    const std::string direction = call_.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      throw unexpected(place_, Rule::not_supported, "the direction forward, reverse or bidirectional",
                       quote(direction));
    const std::int64_t count = direction == "bidirectional" ? 2 : 1;
    const Tensor W = call_.constant(1).tensor(), R = call_.constant(2).tensor();
    const auto gates = std::ssize(gates_of(kind_));
    if (R.rank() != 3 || R.size(2) < 1)
      throw unexpected(place("R"), Rule::shape, "[directions, G units, units]", to_string(R.shape()));
    const std::int64_t units = R.size(2);
    check_shape(R, {count, gates * units, units}, place("R"));
    if (W.rank() != 3)
      throw unexpected(place("W"), Rule::shape, "[directions, G units, input]", to_string(W.shape()));
    check_shape(W, {count, gates * units, W.size(2)}, place("W"));
    if (const std::int64_t said = call_.integer("hidden_size", units); said != units)
      throw unexpected(place("hidden_size"), Rule::conflict, text_of(units, " units, as R has"),
                       text_of(said));
    Tensor B;
    if (call_.has(3)) {
      B = call_.constant(3).tensor();
      check_shape(B, {count, 2 * gates * units}, place("B"));
    }
    const Tensor h0 = first_state(5, count, units),
                 c0 = kind_ == CellKind::lstm ? first_state(6, count, units) : Tensor();
    ForeignRecurrence recurrence;
    for (std::int64_t d = 0; d < count; ++d) {
      ForeignCell cell = cell_of(d, W, R, B);
      cell.h0 = state_of(h0, d);
      cell.c0 = state_of(c0, d);
      read_functions(cell, d, count);
      recurrence.directions.push_back(cell);
    }
    if (direction == "reverse") {
      recurrence.directions.insert(recurrence.directions.begin(), without_weights(recurrence.directions[0]));
      recurrence.is_backward = true;
    }
    check_alike(recurrence);
    return recurrence;
  }

 private:
  Place place(const std::string& part) const {
    return {.file = place_.file, .item = text_of(place_.item, ": ", part)};
  }

  void refuse_what_is_not_supported() const {
    if (call_.has(4))
      throw InputError(place_, Rule::not_supported,
                       "sequences of unequal lengths (sequence_lens) are not supported.");
    if (kind_ == CellKind::lstm && call_.has(7))
      throw InputError(place_, Rule::not_supported, "peepholes (P) are not supported.");
    for (const char* name : {"clip", "activation_alpha", "activation_beta"})
      if (node_.attributes.contains(name))
        throw InputError(place_, Rule::not_supported, text_of("the attribute ", name, " is not supported."));
    if (call_.integer("input_forget", 0) != 0)
      throw InputError(place_, Rule::not_supported, "the attribute input_forget is not supported.");
  }

  /// ONNX's order of the gates.
  std::vector<std::string> order() const {
    if (kind_ == CellKind::lstm) return {"i", "o", "f", "g"};
    return kind_ == CellKind::gru ? std::vector<std::string>{"z", "r", "n"} : std::vector<std::string>{""};
  }

  ForeignCell cell_of(std::int64_t direction, const Tensor& W, const Tensor& R, const Tensor& B) const {
    const std::int64_t rows = R.size(1), units = R.size(2), input = W.size(2);
    const auto part = [&](const Tensor& all, const Shape& shape) {
      return rows_of(all, direction, 1).reshaped(shape);
    };
    ForeignCell cell;
    cell.kind = kind_;
    cell.units = units;
    cell.input = input;
    cell.resets_before = kind_ == CellKind::gru && call_.integer("linear_before_reset", 0) == 0;
    const Tensor both = B.empty() ? Tensor() : part(B, {2 * rows});
    cell.gates = split_gates(kind_, order(), part(R, {rows, units}), part(W, {rows, input}),
                             rows_of(both, rows, rows), rows_of(both, 0, rows));
    return cell;
  }

  /// The cell that a layer in both directions has beside one that alone is read.
  static ForeignCell without_weights(ForeignCell cell) {
    for (GateWeights& gate : cell.gates)
      for (Tensor* tensor : {&gate.W, &gate.U, &gate.W_bias, &gate.U_bias})
        if (!tensor->empty()) *tensor = Tensor(tensor->shape(), Dtype::f64);
    cell.h0 = cell.c0 = {};
    return cell;
  }

  /// The states [directions, units] before the first step; empty where they are not given. All sequences of a batch
  /// must have the same.
  Tensor first_state(std::size_t input, std::int64_t count, std::int64_t units) {
    if (!call_.has(input)) return {};
    if (is_step_) return {};
    if (call_.is_flow(input)) call_.refuse("first states that depend on the input are not supported.");
    const OnnxTensor& all = call_.constant(input);
    const std::size_t batch = call_.integer("layout", 0) == 1 ? 0 : 1;
    Shape wanted = batch == 0 ? Shape{1, count, units} : Shape{count, 1, units};
    if (all.shape.size() == 3 && all.shape[batch] > 1) wanted[batch] = all.shape[batch];
    if (all.shape != wanted)
      throw unexpected(place(input == 5 ? "initial_h" : "initial_c"), Rule::shape,
                       text_of("the shape ", to_string(wanted)), to_string(all.shape));
    const OnnxTensor first = taken(all, batch, {0});
    if (all.shape[batch] > 1 && spread(first, all.shape).values != all.values)
      call_.refuse("first states that differ from sequence to sequence are not supported.");
    return first.tensor().reshaped({count, units});
  }
  static Tensor state_of(const Tensor& states, std::int64_t direction) {
    const Tensor state = rows_of(states, direction, 1);
    for (std::int64_t i = 0; i < state.numel(); ++i)
      if (state.at(i) != 0) return state.reshaped({state.numel()});
    return {};
  }

  void read_functions(ForeignCell& cell, std::int64_t direction, std::int64_t count) const {
    const auto found = node_.attributes.find("activations");
    if (found == node_.attributes.end()) return;
    const std::size_t each = kind_ == CellKind::lstm ? 3 : kind_ == CellKind::gru ? 2 : 1;
    const std::vector<std::string>& names = found->second.texts;
    if (names.size() != each * static_cast<std::size_t>(count))
      throw unexpected(place_, Rule::shape, text_of(each * count, " activations"), text_of(names.size()));
    const auto function = [&](std::size_t index) -> std::string {
      const std::string& name = names[direction * each + index];
      for (const auto& [theirs, ours] : {std::pair("Tanh", "tanh"), {"Sigmoid", "sigmoid"}, {"Relu", "relu"}})
        if (name == theirs) return ours;
      throw unexpected(place_, Rule::not_supported, "the supported activation Tanh, Sigmoid or Relu",
                       quote(name));
    };
    if (kind_ != CellKind::rnn) cell.gate_function = function(0);
    cell.input_function = function(kind_ == CellKind::rnn ? 0 : 1);
    if (kind_ == CellKind::lstm) cell.output_function = function(2);
  }

  /// Both directions of a layer are one cell with their own weights.
  void check_alike(ForeignRecurrence& recurrence) const {
    if (recurrence.directions.size() < 2) return;
    ForeignCell &a = recurrence.directions[0], &b = recurrence.directions[1];
    if (a.gate_function != b.gate_function || a.input_function != b.input_function ||
        a.output_function != b.output_function)
      throw InputError(place_, Rule::not_supported,
                       "two directions with different activations are not supported.");
    for (Tensor ForeignCell::*state :
         {&ForeignCell::h0, &ForeignCell::c0}) {  // zeros where only the other has one
      if ((a.*state).empty() == (b.*state).empty()) continue;
      ((a.*state).empty() ? a : b).*state = Tensor({a.units}, Dtype::f64);
    }
  }

  const OnnxCall& call_;
  const OnnxNode& node_;
  Place place_;
  CellKind kind_;
  bool is_step_;
};

/// One step of a cell, as values.
class CellStep {
 public:
  CellStep(const OnnxCall& call, const ForeignCell& cell, int x)
      : call_(call), g_(call.reading.steps), cell_(cell), x_(x), h_(state(5)) {}

  /// The states after the step: h, and of an lstm c.
  std::vector<int> states() {
    const std::string &gate = cell_.gate_function, &input = cell_.input_function;
    if (cell_.kind == CellKind::rnn) return {g_.element(input, sum(0))};
    if (cell_.kind == CellKind::lstm) {
      const int i = g_.element(gate, sum(0)), f = g_.element(gate, sum(1)), n = g_.element(input, sum(2)),
                o = g_.element(gate, sum(3));
      const int c = g_.element("+", g_.element("*", f, state(6)), g_.element("*", i, n));
      return {g_.element("*", o, g_.element(cell_.output_function, c)), c};
    }
    const int r = g_.element(gate, sum(0)), z = g_.element(gate, sum(1));
    const int inside = cell_.resets_before
                           ? g_.element("+", of_input(2), of_state(2, g_.element("*", r, h_)))
                           : g_.element("+", of_input(2), g_.element("*", r, of_state(2, h_)));
    const int n = g_.element(input, inside), rest = g_.element("-", g_.number(1), z);
    return {g_.element("+", g_.element("*", rest, n), g_.element("*", z, h_))};
  }

 private:
  /// The state before the step; zeros where none is given.
  int state(std::size_t operand) const {
    std::vector<double> numbers(static_cast<std::size_t>(cell_.units), 0);
    if (call_.is_flow(operand) && g_.width(call_.flow(operand).value) != cell_.units)
      call_.refuse(text_of("expected ", cell_.units, " numbers as input ", operand, "."));
    if (call_.is_flow(operand)) return call_.flow(operand).value;
    if (call_.has(operand)) {
      const std::vector<double>& given = call_.constant(operand).values;
      if (given.empty() || given.size() % numbers.size() != 0)
        call_.refuse(text_of("expected ", cell_.units, " numbers as input ", operand, "."));
      for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i] != given[i % numbers.size()])
          call_.refuse("first states that differ from sequence to sequence are not supported.");
      std::ranges::copy_n(given.begin(), cell_.units, numbers.begin());
    }
    return g_.add({.kind = StepKind::constant,
                   .width = cell_.units,
                   .weight = g_.weight(text_of("first ", call_.node.title(), operand),
                                       [&] { return Tensor::from({cell_.units}, numbers, Dtype::f64); })});
  }

  int product(const char* name, const Tensor& weight, const Tensor& bias, int value) const {
    const auto kept = [&](const std::string& what, const Tensor& tensor) {
      return tensor.empty() ? -1
                            : g_.weight(text_of("cell ", call_.node.outputs[0], name, what, ++products_),
                                        [&] { return tensor; });
    };
    const int W = kept("", weight);
    return g_.map(value, W, kept(" bias", bias));
  }
  int of_state(std::size_t gate, int h) const {
    return product("W", cell_.gates[gate].W, cell_.gates[gate].W_bias, h);
  }
  int of_input(std::size_t gate) const {
    return product("U", cell_.gates[gate].U, cell_.gates[gate].U_bias, x_);
  }
  int sum(std::size_t gate) const { return g_.element("+", of_input(gate), of_state(gate, h_)); }

  const OnnxCall& call_;
  StepGraph& g_;
  const ForeignCell& cell_;
  int x_, h_;
  mutable int products_ = 0;
};

}  // namespace

ForeignRecurrence recurrence_of(const OnnxCall& call) { return RecurrenceReader(call).read(); }

std::vector<OnnxOperand> recurrence_step(const OnnxCall& call) {
  const OnnxFlow& flow = call.flow(0);
  const ForeignRecurrence recurrence = RecurrenceReader(call, true).read();
  const ForeignCell& cell = recurrence.directions[0];
  if (recurrence.directions.size() > 1) call.refuse("is supported for one step in one direction.");
  if (call.reading.steps.width(flow.value) != cell.input)
    call.refuse(text_of("takes ", cell.input, " numbers a step. Its input has ",
                        call.reading.steps.width(flow.value), "."));
  const std::vector<int> states = CellStep(call, cell, flow.value).states();
  const bool batch_first = call.integer("layout", 0) == 1;
  const OnnxAxis one{'C', 1}, batch = flow.axes[batch_first ? 0 : 1], numbers{'C', cell.units};
  std::vector<OnnxAxis> all = {one, one, batch, numbers}, last = {one, batch, numbers};
  if (batch_first) all = {batch, one, one, numbers}, last = {batch, one, numbers};
  std::vector<OnnxOperand> results = {OnnxFlow{all, states[0]}, OnnxFlow{last, states[0]}};
  if (states.size() > 1) results.emplace_back(OnnxFlow{last, states[1]});
  return results;
}

}  // namespace lagtape::foreign
