#include "lagtape/tools/exchange/import/onnx_recurrence.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/import/json_tensor.h"

namespace lagtape::foreign {

void OnnxConstants::add(const std::string& name, OnnxTensor tensor) {
  if (!tensors_.emplace(name, std::move(tensor)).second)
    throw InputError({where_}, Rule::conflict, text_of("two values are named '", name, "'."));
}

Tensor OnnxConstants::take_real(const OnnxNode& node, std::size_t input) {
  const std::string name = input < node.inputs.size() ? node.inputs[input] : "";
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    throw InputError(place_of(node), Rule::not_supported,
                     text_of("input ", input, " '", name, "' is not a constant of the file."));
  if (found->second.values.empty())
    throw InputError(place_of(node), Rule::wrong_type, text_of("input '", name, "' holds no real numbers."));
  ++used_[name];
  has_double_ = has_double_ || found->second.is_double;
  return found->second.values;
}

std::vector<std::int64_t> OnnxConstants::integers(const OnnxNode& node, std::size_t input) const {
  const std::string name = input < node.inputs.size() ? node.inputs[input] : "";
  if (!is_integer(name))
    throw unexpected(place_of(node), Rule::wrong_type,
                     text_of("whole numbers that the file holds as input ", input), quote(name));
  return tensors_.at(name).integers;
}

Place OnnxConstants::place_of(const OnnxNode& node) const { return {.file = where_, .item = node.title()}; }

bool OnnxConstants::is_integer(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found != tensors_.end() && found->second.values.empty();
}

void OnnxConstants::finish() const {
  for (const auto& [name, tensor] : tensors_) {
    if (tensor.values.empty()) continue;
    const auto used = used_.find(name);
    const Place place{.file = where_, .item = text_of("tensor ", quote(name))};
    if (used == used_.end()) throw InputError(place, Rule::not_supported, "is used by no layer.");
    if (used->second > 1)
      throw InputError(place, Rule::not_supported,
                       text_of("is used ", used->second, " times, shared weights are not supported."));
  }
}

bool has_input(const OnnxNode& node, std::size_t index) {
  return index < node.inputs.size() && !node.inputs[index].empty();
}

std::int64_t integer_of(const OnnxNode& node, const std::string& name, std::int64_t missing) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? missing : found->second.integer;
}

namespace {

/// Reads a node of a recurrence.
class RecurrenceReader {
 public:
  RecurrenceReader(const OnnxNode& node, OnnxConstants& constants, const std::string& where)
      : node_(node), constants_(constants), place_{.file = where, .item = node.title()} {
    kind_ = node.type == "RNN" ? CellKind::rnn : node.type == "LSTM" ? CellKind::lstm : CellKind::gru;
  }

  ForeignRecurrence read(bool zero_states) {
    refuse_what_is_not_supported();
    const std::string direction = text("direction", "forward");
    if (direction != "forward" && direction != "bidirectional")
      throw unexpected(place_, Rule::not_supported, "the supported direction forward or bidirectional",
                       quote(direction));
    const std::int64_t count = direction == "forward" ? 1 : 2;
    const Tensor W = constants_.take_real(node_, 1), R = constants_.take_real(node_, 2);
    const auto gates = std::ssize(gates_of(kind_));
    if (R.rank() != 3 || R.size(2) < 1)
      throw unexpected(place("R"), Rule::shape, "[directions, G units, units]", to_string(R.shape()));
    const std::int64_t units = R.size(2);
    check_shape(R, {count, gates * units, units}, place("R"));
    if (W.rank() != 3)
      throw unexpected(place("W"), Rule::shape, "[directions, G units, input]", to_string(W.shape()));
    check_shape(W, {count, gates * units, W.size(2)}, place("W"));
    if (const std::int64_t said = integer_of(node_, "hidden_size", units); said != units)
      throw unexpected(place("hidden_size"), Rule::conflict, text_of(units, " units, as R has"),
                       text_of(said));
    Tensor B;
    if (has_input(node_, 3)) {
      B = constants_.take_real(node_, 3);
      check_shape(B, {count, 2 * gates * units}, place("B"));
    }
    const Tensor h0 = zero_states ? Tensor() : first_state(5, count, units),
                 c0 = zero_states || kind_ != CellKind::lstm ? Tensor() : first_state(6, count, units);
    ForeignRecurrence recurrence;
    for (std::int64_t d = 0; d < count; ++d) {
      ForeignCell cell = cell_of(d, W, R, B);
      cell.h0 = state_of(h0, d);
      cell.c0 = state_of(c0, d);
      read_functions(cell, d, count);
      recurrence.directions.push_back(cell);
    }
    check_alike(recurrence);
    return recurrence;
  }

 private:
  Place place(const std::string& part) const {
    return {.file = place_.file, .item = text_of(place_.item, ": ", part)};
  }

  std::string text(const std::string& name, const std::string& missing) const {
    const auto found = node_.attributes.find(name);
    return found == node_.attributes.end() ? missing : found->second.text;
  }

  void refuse_what_is_not_supported() const {
    if (has_input(node_, 4))
      throw InputError(place_, Rule::not_supported,
                       "sequences of unequal lengths (sequence_lens) are not supported.");
    if (kind_ == CellKind::lstm && has_input(node_, 7))
      throw InputError(place_, Rule::not_supported, "peepholes (P) are not supported.");
    for (const char* name : {"clip", "activation_alpha", "activation_beta"})
      if (node_.attributes.contains(name))
        throw InputError(place_, Rule::not_supported, text_of("the attribute ", name, " is not supported."));
    if (integer_of(node_, "input_forget", 0) != 0)
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
    cell.resets_before = kind_ == CellKind::gru && integer_of(node_, "linear_before_reset", 0) == 0;
    const Tensor both = B.empty() ? Tensor() : part(B, {2 * rows});
    cell.gates = split_gates(kind_, order(), part(R, {rows, units}), part(W, {rows, input}),
                             rows_of(both, rows, rows), rows_of(both, 0, rows));
    return cell;
  }

  /// The states [directions, 1, units] before the first step; empty where they are not given.
  Tensor first_state(std::size_t input, std::int64_t count, std::int64_t units) {
    if (!has_input(node_, input)) return {};
    const Tensor state = constants_.take_real(node_, input);
    const bool batch_first = integer_of(node_, "layout", 0) == 1;
    check_shape(state, batch_first ? Shape{1, count, units} : Shape{count, 1, units},
                place(input == 5 ? "initial_h" : "initial_c"));
    return state.reshaped({count, units});
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

  /// Both directions of a layer are one cell with weights of their own.
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

  const OnnxNode& node_;
  OnnxConstants& constants_;
  Place place_;
  CellKind kind_;
};

}  // namespace

ForeignRecurrence recurrence_of(const OnnxNode& node, bool zero_states, OnnxConstants& constants,
                                const std::string& where) {
  return RecurrenceReader(node, constants, where).read(zero_states);
}

}  // namespace lagtape::foreign
