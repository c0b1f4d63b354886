#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

class StepTape;

/// A handle to a value of the step being recorded. Combine handles with the ordinary operators below.
class StepVar {
 public:
  StepVar() = default;
  const RowShape& shape() const;
  StepTape& tape() const { return *tape_; }
  int id() const { return id_; }

 private:
  friend class StepTape;
  StepVar(StepTape* tape, int id) : tape_(tape), id_(id) {}
  StepTape* tape_ = nullptr;
  int id_ = -1;
};

/// A matrix weight: can only be the left-hand side of a product.
struct StepMatrix {
  StepTape* tape = nullptr;
  int index = -1;
  Shape shape;  ///< [out, in]
};

/// The small tape on which a cell records one step. Shape errors are InputErrors that state the rule and both
/// shapes. Equal operations on equal operands are one value; constants are folded; multiplications by 1 are
/// dropped.
class StepTape {
 public:
  static constexpr std::int64_t kLargestLag = std::int64_t{1} << 30;

  explicit StepTape(std::int64_t input_width);

  StepVar input();       ///< x[n], a vector
  StepVar step_index();  ///< n, a scalar
  StepVar constant(double value);
  /// Declares a state (zeros before the first step unless a window is given) and returns its value before the
  /// step.
  StepVar state(std::string name, RowShape shape, Arithmetic arithmetic = Arithmetic::real);
  /// The state `lag` steps before that. Lag 0 is the state itself. Throws InputError for a lag below 0 or above
  /// kLargestLag, and for a value that is not a state.
  StepVar lag(StepVar state, std::int64_t lag);
  /// The state tau steps ago, for real tau between 1 and tau_max: a weight, a scalar or one per unit.
  StepVar lag(StepVar state, StepVar tau, std::int64_t tau_max);
  /// Declares weights. Throws InputError if the name is taken.
  StepMatrix matrix(std::string name, std::int64_t out, std::int64_t in);
  StepVar vector(std::string name, std::int64_t size);
  StepVar scalar(std::string name);
  StepVar draw(DrawDefinition::Kind kind, RowShape shape, bool every_step, double evaluation);
  /// A dropout mask, 1 outside training. Throws InputError unless 0 <= rate < 1.
  StepVar mask(RowShape shape, double rate, bool every_step);

  StepVar product(const StepMatrix& w, StepVar v);
  /// An element-wise function of one operand, or of two whose shapes are broadcast as in NumPy: aligned at the
  /// last axis, with missing axes and axes of one element repeated.
  StepVar unary(ElementOp function, StepVar a);
  StepVar binary(ElementOp function, StepVar a, StepVar b);
  StepVar sum(StepVar a);
  /// a repeated along new last axes: [] to [n], [g] to [g, n].
  StepVar broadcast(StepVar a, RowShape to);
  /// a broadcast to these axes as in NumPy: [n] to [g, n], [g, 1] to [g, n].
  StepVar expand(StepVar a, const Shape& axes);
  StepVar reshape(StepVar a, RowShape to);
  /// The vector of a followed by b; each is a vector or a scalar.
  StepVar concatenate(StepVar a, StepVar b);
  /// Elements begin .. end - 1 of a vector, 0 <= begin < end <= size.
  StepVar slice(StepVar a, std::int64_t begin, std::int64_t end);
  /// The array of `shape` whose element [i, j, ...] is a's element number first + i * strides[i's axis] + ...
  StepVar view(StepVar a, const Shape& shape, std::int64_t first, const Shape& strides);

  /// Records an operation of another program, which is neither a leaf nor reads a weight, with operands on this
  /// tape.
  StepVar replay(const Instruction& v, StepVar a, StepVar b);

  /// The value that a state takes after the step. A state without one is an error at `finish`.
  void set_next(StepVar state, StepVar value);
  void set_output(StepVar value);
  /// Names a value for analysis (NamedValue). Constants get no name, nor do values that the finished program
  /// does not need. Throws InputError if another value has the name.
  void name(const std::string& name, StepVar value);

  /// The canonical program: the values that the next values and the output need, numbered in that order. Unused
  /// weights are an InputError. Nothing more can be recorded afterward.
  StepProgram finish();

  const Instruction& at(int id) const { return program_.values[id]; }
  StepVar var(int id) { return {this, id}; }  ///< the value of that number
  /// How two different shapes are matched: as in NumPy, or as in equations from files before grammar 2, where
  /// [g] is repeated along the last axis of [g, n].
  enum class Spreading : std::uint8_t { numpy, last_axis };
  void spread(Spreading spreading) { spreading_ = spreading; }
  Spreading spreading() const { return spreading_; }

  bool is_number(StepVar v) const { return at(v.id()).op == StepOp::constant; }
  const StepProgram& recorded() const { return program_; }

 private:
  StepVar record(const Instruction& instruction);
  void check_mine(StepVar v) const;
  void make_one_shape(ElementOp function, StepVar& a, StepVar& b);
  void take_name(const std::string& name);
  int declare_weight(std::string name, Shape shape);
  StepProgram program_;
  std::map<std::string, int> known_;       // equal instructions are one value
  std::unordered_set<std::string> names_;  // of states and weights
  std::unordered_set<std::string> value_names_;
  bool finished_ = false;
  Spreading spreading_ = Spreading::numpy;
};

StepVar operator+(StepVar a, StepVar b);
StepVar operator-(StepVar a, StepVar b);
StepVar operator*(StepVar a, StepVar b);
StepVar operator/(StepVar a, StepVar b);
StepVar operator+(StepVar a, double b);
StepVar operator-(StepVar a, double b);
StepVar operator*(StepVar a, double b);
StepVar operator/(StepVar a, double b);
StepVar operator+(double a, StepVar b);
StepVar operator-(double a, StepVar b);
StepVar operator*(double a, StepVar b);
StepVar operator/(double a, StepVar b);
StepVar operator-(StepVar a);
/// The matrix product W @ v.
StepVar product(const StepMatrix& w, StepVar v);

// Also the functions tanh(a), minimum(a, b), ... of kernels/element_names.h.
inline StepVar elementwise(ElementOp f, StepVar a) { return a.tape().unary(f, a); }
inline StepVar elementwise(ElementOp f, StepVar a, StepVar b) { return a.tape().binary(f, a, b); }
StepVar sum(StepVar a);
StepVar mean(StepVar a);

}  // namespace lagtape
