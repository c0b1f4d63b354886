#pragma once

#include <map>
#include <vector>

#include "lagtape/ops/delay/delay_solver.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

/// Records the values of a right-hand side on the tape of a model's step, once for each stage of the method.
class StageRecorder {
 public:
  virtual ~StageRecorder() = default;

 protected:
  struct Stage {
    double c = 0;
    std::vector<StepVar> y;
    StepVar time;         // t of the equations, or of a history
    StepVar input = {};   // u
    StepVar offset = {};  // the time since the data step started
    bool is_output = false;
    std::map<int, StepVar> known = {};
  };

  StageRecorder(const RightSide& side, std::int64_t input_width);

  StepTape& tape() { return tape_; }
  const RightSide& side() const { return side_; }
  const std::vector<StepVar>& states() const { return states_; }
  bool reads_input() const { return reads_input_; }
  const std::string& name_of_state(std::size_t state) const;

  /// A value of the right-hand side at a stage.
  StepVar value(int id, Stage& stage);
  std::vector<StepVar> slopes(Stage& stage);
  /// The history of a state, or its slope, at a time; later times count as 0.
  StepVar history(std::size_t state, StepVar time, bool slope);

 private:
  /// The value of a read at a stage.
  virtual StepVar past(std::size_t read, Stage& stage) = 0;
  StepVar leaf(int id, const Instruction& v, Stage& stage);
  StepMatrix matrix(int index);

  const RightSide& side_;
  StepTape tape_;
  bool reads_input_;
  std::vector<StepVar> states_;
  std::map<int, StepVar> weights_;
  std::map<int, StepMatrix> matrices_;
};

}  // namespace lagtape
