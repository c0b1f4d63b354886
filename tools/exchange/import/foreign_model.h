#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lagtape/core/json/json.h"
#include "lagtape/core/normalization.h"
#include "lagtape/core/precision.h"
#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape::foreign {

/// The three recurrences of other frameworks.
enum class CellKind : std::uint8_t { rnn, lstm, gru };

std::string_view name_of(CellKind kind);  ///< "rnn", "lstm" or "gru"
/// The names of its gates in lagtape's order: i f g o, r z n, or a single empty name.
const std::vector<std::string>& gates_of(CellKind kind);

/// The weights of a gate, in f64: W [units, units] of the state, U [units, input], each with a bias [units] or
/// an empty tensor.
struct GateWeights {
  Tensor W, U, W_bias, U_bias;
};

/// A unidirectional recurrence.
struct ForeignCell {
  CellKind kind = CellKind::lstm;
  std::int64_t units = 0, input = 0;
  std::vector<GateWeights> gates = {};  ///< in the order of gates_of
  bool resets_before = false;           ///< gru: r multiplies the state, not the product with its bias
  std::string gate_function = "sigmoid", input_function = "tanh";  ///< as written in equations
  std::string output_function = "tanh";                            ///< for the memory of an lstm
  Tensor h0 = {}, c0 = {};                                         ///< initial states [units]; empty: zeros
  bool gives_memory = false;  ///< an lstm outputs its memory c after its output h

  std::int64_t output() const { return gives_memory ? 2 * units : units; }
};

/// Inputs that a layer passes on after its output.
struct Carry {
  std::int64_t count = 0;  ///< how many; 0: none
  bool from_inputs =
      false;  ///< true: the first inputs, which the layer also reads; else the last ones, which it does not read
};

/// One cell, or a second one that reads sequences backward. Each direction passes on the carried inputs.
struct ForeignRecurrence {
  std::vector<ForeignCell> directions;
  Carry carry = {};
  bool is_backward = false;  ///< the first direction has zero weights, and nothing reads it

  std::int64_t width() const {  ///< without the carried inputs
    return std::ssize(directions) * directions.front().output();
  }
};

/// y = f(W x + bias), or without W y = f(x).
struct ForeignDense {
  Tensor W, bias;        ///< [out, input] and [out] in f64, each of which may be empty
  std::string function;  ///< as written in equations; empty: none
};

/// A layer as an entry of "layers".
struct ForeignEntry {
  Json layer = {};
  /// the name of its equations; empty: it is one of lagtape's cells
  std::string cell = {};
  Json equations = {};                        ///< as in "cells"
  std::map<std::string, Tensor> values = {};  ///< of its parameters, in f64
  std::vector<std::int64_t> states = {};      ///< their widths
  std::int64_t input = 0, width = 0;          ///< of its input and its output
};

using ForeignContent = std::variant<ForeignRecurrence, ForeignDense, ForeignEntry>;

/// A layer, and its place in the file for messages.
struct ForeignLayer {
  std::string place;
  ForeignContent content;
};

/// The common form of all formats: layers from the input up.
struct ForeignModel {
  std::string format;      ///< "torch", "onnx", ...
  std::int64_t input = 0;  ///< numbers per step
  std::vector<ForeignLayer> layers = {};
  std::int64_t skip = 0;  ///< how many inputs, starting with the first, are added to the outputs
  ReadAt at = ReadAt::every_step;
  Json loss = "mse";  ///< as in an experiment
  Precision precision = Dtype::f32;
  Normalization normalization = {};
  std::optional<double> rest = {};      ///< the input in whose state of rest it starts
  std::vector<std::string> notes = {};  ///< notes about what the file leaves open
};

/// The width of a layer's output when its input has that width.
std::int64_t width_after(const ForeignLayer& layer, std::int64_t input);

/// Cuts tensors whose rows are stacked gates into a cell's gates. `order` contains the gates_of index of each
/// part. Weights are [gates units, units], [gates units, input]; the biases [gates units] may be empty.
std::vector<GateWeights> split_gates(CellKind kind, const std::vector<std::string>& order, const Tensor& W,
                                     const Tensor& U, const Tensor& W_bias, const Tensor& U_bias);

/// The rows begin .. begin + count - 1 of a tensor, as a copy; empty for an empty tensor.
Tensor rows_of(const Tensor& tensor, std::int64_t begin, std::int64_t count);
/// The transpose of a matrix, as a copy.
Tensor transposed(const Tensor& matrix);

}  // namespace lagtape::foreign
