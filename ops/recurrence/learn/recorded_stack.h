#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/learn/learned_layer.h"
#include "lagtape/ops/recurrence/learn/learning_step.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape::recurrence {

/// The error for a step that learners do not support.
InputError not_learned(std::string_view what);

/// A weight of a layer where the tape reads it: the result of a product, or a vector.
struct Read {
  int layer, weight, value;
  int x = -1;  ///< the operand of a product
};

/// The values of a layer's states before and after the step, and its input.
struct RecordedLayer {
  std::vector<StepVar> states, next;
  int input = -1;
};

/// The steps of all layers on one tape, with weights and states recorded as weights (LearningStep).
class RecordedStack {
 public:
  explicit RecordedStack(const std::vector<LearnedLayer>& layers);

  StepTape& tape() { return tape_; }
  StepVar output() const { return output_; }
  const std::vector<RecordedLayer>& layers() const { return recorded_; }
  const std::vector<Read>& reads() const { return reads_; }
  /// PastState::weight is the value on the tape.
  const std::vector<PastState>& past() const { return reads_of_past_; }

  const Read& read_at(int value) const;
  StepVar shaped(StepVar v, const RowShape& shape);
  /// The transposed matrix of a product.
  StepMatrix transposed(const Read& read);

 private:
  struct Matrices {
    StepMatrix matrix, transposed;
  };

  StepVar record_layer(std::size_t l, StepVar x);
  std::vector<StepVar> replay(const StepProgram& program, std::size_t l, StepVar x,
                              const std::map<std::string, StepVar>& derived);
  StepVar past(std::size_t l, const StateDefinition& state, const Instruction& read);
  int place_of(std::size_t l, const std::string& name) const;
  StepVar vector(std::size_t l, const std::string& name);
  Matrices& matrices(std::size_t l, const std::string& name);
  StepVar product(std::size_t l, const std::string& name, StepVar v);
  StepVar row_product(std::size_t l, const std::string& name, StepVar v);

  const std::vector<LearnedLayer>& layers_;
  StepTape tape_;
  std::vector<RecordedLayer> recorded_;
  std::vector<std::map<std::string, Matrices>> matrices_;
  std::map<std::pair<std::size_t, int>, StepVar> vectors_;
  std::map<std::string, StepVar> past_;
  std::vector<PastState> reads_of_past_;
  std::vector<Read> reads_;
  StepVar output_;
};

}  // namespace lagtape::recurrence
