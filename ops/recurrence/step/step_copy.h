#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

/// Re-records a step. A derived class defines which reads change.
class StepCopy {
 public:
  explicit StepCopy(const StepProgram& program);
  virtual ~StepCopy() = default;

  /// The recorded program, with the weights of the original in the same order.
  StepProgram record();

 protected:
  /// A state `lag` steps before the current one.
  virtual StepVar past(int state, std::int64_t lag) { return tape_.lag(states_[state], lag); }
  /// A read at a trained lag, and the step index. They throw InputError if they cannot be copied.
  virtual StepVar real_past(const Instruction& read) = 0;
  virtual StepVar step_index(const Instruction& index) = 0;

  StepVar copied(int value) const { return values_[value]; }
  StepTape& tape() { return tape_; }
  StepVar state(int index) const { return states_[index]; }
  const StepProgram& program() const { return program_; }

 private:
  struct Weight {
    StepMatrix matrix;
    StepVar value;
  };
  void declare(const WeightDefinition& weight);
  StepVar draw(const DrawDefinition& draw, RowShape shape);
  StepVar recorded(const Instruction& instruction);

  const StepProgram& program_;
  StepTape tape_;
  std::vector<StepVar> states_, values_;
  std::vector<Weight> weights_;
};

}  // namespace lagtape
