#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/cells/build/cell.h"
#include "lagtape/cells/build/derived_step.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

/// The maximum number of units: more than fit in memory, but few enough for the sizes of all weights to be
/// representable.
inline constexpr std::int64_t kLargestUnits = 65536;

/// The input column, counted from the end if negative, that holds the length of each step; none: steps are
/// even. The cell does not use it otherwise.
struct StepTime {
  std::optional<std::int64_t> column = {};
};

/// The time of a step, as a factor: dt, or dt times the length in the input.
struct TimeOfStep {
  double dt = 1;
  std::optional<StepVar> given = {};

  StepVar operator*(StepVar v) const { return given ? dt * *given * v : dt * v; }
};

/// Records the step of a layer and declares the layer's parameters, in the order of the calls. Most cells are
/// built with it.
class LayerRecorder {
 public:
  /// Every parameter starts from the initializer unless `start` sets another one.
  LayerRecorder(std::int64_t input, const Initializer& initializer);

  StepTape& tape() { return tape_; }
  /// The input, without the time of a step.
  StepVar input() { return rest_.value_or(tape_.input()); }
  /// Removes the step's time from the input before the input is read. With `passed_on`, the layer above gets it
  /// after the output. Throws InputError if there is no such column, or no other column.
  TimeOfStep step_time(double dt, const StepTime& reads, bool passed_on = false);
  StepVar state(const std::string& name, std::int64_t units) {
    return tape_.state(name, RowShape::vector(units));
  }

  // New parameters: a vector [size], a scalar [], a matrix [units, width of v] and its product with v.
  StepVar vector(const std::string& name, std::int64_t size);
  StepVar scalar(const std::string& name);
  StepMatrix matrix(const std::string& name, std::int64_t out, std::int64_t in);
  StepVar linear(const std::string& name, std::int64_t units, StepVar v);
  /// With a rank above 0, the product NAME1 @ (NAME2 @ v) with new matrices NAME1 [units, rank] and NAME2
  /// [rank, width of v].
  StepVar linear(const std::string& name, std::int64_t units, StepVar v, std::int64_t rank);
  /// W @ v + W.bias, with new parameters W [units, width of v] and W.bias [units].
  StepVar affine(const std::string& name, std::int64_t units, StepVar v);

  /// A parameter that the step reads only through derived weights.
  void parameter(const std::string& name, Shape shape);
  // Weights of the step that are functions f of parameters, and of weights derived before them:
  //
  //     step.parameter("M", {units, units});
  //     const auto antisymmetric = [](auto of) { return of[0] - transpose(of[0]); };
  //     const StepMatrix A = step.derived_matrix("A", units, units, {"M"}, antisymmetric);
  using WeightFunction = std::function<Var(std::span<const Var> of)>;
  StepMatrix derived_matrix(const std::string& name, std::int64_t out, std::int64_t in,
                            std::vector<std::string> of, WeightFunction f);
  StepVar derived_vector(const std::string& name, std::int64_t size, std::vector<std::string> of,
                         WeightFunction f);
  /// A derived weight with one number per unit. F accepts values of the outer tape and values of a step, so a
  /// learner can recompute the weight at every step.
  template <class F>
  StepVar derived_units(const std::string& name, std::int64_t size, const std::vector<std::string>& of, F f) {
    unit_weights_.push_back({name, size, of, f});
    return derived_vector(name, size, of, f);
  }
  StepVar derived_scalar(const std::string& name, std::vector<std::string> of, WeightFunction f);

  // Replaces the initializer of one parameter, or of all whose names end in ".bias".
  void start(const std::string& name, const Initializer& initializer, const std::string& draws_of = "");
  void start_biases(const Initializer& initializer);
  /// Keeps a parameter within bounds during training.
  void keep_within(const std::string& name, Bounds bounds);

  /// Names a value whose distribution describes the cell, such as a gate or a time scale (NamedValue).
  StepVar named(const std::string& name, StepVar v);

  /// The layer with that output. Nothing can be recorded after this.
  Layer finish(StepVar output);

 private:
  ParameterDefinition& find(const std::string& name);
  void declare(const std::string& name, Shape shape);

  StepTape tape_;
  Initializer initializer_;
  std::vector<ParameterDefinition> parameters_;
  std::vector<DerivedWeight> derived_;
  std::vector<UnitWeight> unit_weights_;
  std::optional<StepVar> rest_, passed_on_;
};

}  // namespace lagtape
