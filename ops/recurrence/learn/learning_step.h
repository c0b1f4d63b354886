#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/ops/recurrence/learn/learned_layer.h"

namespace lagtape::recurrence {

/// The contribution of one use of a weight. The traces e_s of the states that it reaches add before[s] e_s to
/// the gradient, become sum over r of carry[s][r] e_r + entry[s] x, and add credit[s] e_s; last comes direct x.
/// Numbers are values of the step; -1: zeros.
struct WeightUse {
  int layer = -1, weight = -1;  ///< index in LearnedLayer::weights
  std::int64_t width = 0;       ///< number of the weight's columns: its rows as a matrix
  int x = -1;                   ///< the operand of the matrix; -1: the weight is a vector
  int direct = -1;
  std::vector<int> carry = {}, entry = {}, credit = {},
                   before = {};  ///< [states * states], and three times [states]
};

/// A program weight that is a state `lag` steps before the state.
struct PastState {
  int layer, state, weight;
  std::int64_t lag;
};

/// A step of a stack with everything that learning needs, in one program: values of the weights, states, and
/// input, of the step's output and next states, and derivatives as functions of a weight `delta` =
/// dL/d(output).
///
/// Real-time recurrent learning (Williams and Zipser 1989) carries the derivatives of all
/// states with respect to all weights. If a state's next value depends only on the states of the same unit, a
/// unit's weight changes only that unit's states, so the number of derivatives is the number of weights times
/// the states per unit (Mozer 1989; Zucchet et al. 2023). Everything else in a step, such as a recurrent matrix
/// or the states of the layers below, is omitted from the traces, as in e-prop (Bellec et al. 2020); gradients
/// through all layers of the current step are in `direct` and `credit`.
struct LearningStep {
  StepProgram program;
  std::string inexact;  ///< why the traces are not the full derivative; empty: they are
  int output = -1;
  std::vector<std::vector<int>> next;    ///< by layer and state
  std::vector<std::vector<int>> states;  ///< likewise, the program's weight that is the state; -1: never read
  std::vector<PastState> past_states;
  std::vector<WeightUse> uses;

  int weight_named(const std::string& name) const;  ///< its number in the program; -1: none

  /// The names of program.weights: "L NAME" for a weight, "L NAME'" for its transposed matrix, "L NAME before"
  /// for a state.
  static std::string name_of(std::size_t layer, std::string_view name) { return text(layer, name, ""); }
  static std::string transposed(std::size_t layer, std::string_view name) { return text(layer, name, "'"); }
  static std::string state(std::size_t layer, std::string_view name) { return text(layer, name, " before"); }
  static std::string past(std::size_t layer, std::string_view name, std::int64_t lag);
  static constexpr const char* kDelta = "delta";

 private:
  static std::string text(std::size_t layer, std::string_view name, const char* end);
};

/// Throws InputError that identifies the unsupported part: lagged reads, arrays, weights shared between units.
LearningStep learning_step(const std::vector<LearnedLayer>& layers);

}  // namespace lagtape::recurrence
