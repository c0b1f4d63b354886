#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/cells/build/cell.h"
#include "lagtape/ops/recurrence/equations/equations.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

/// A weight of the step that is a function of vector parameters, as values of a step.
struct UnitWeight {
  std::string name;
  std::int64_t size;
  std::vector<std::string> of;
  std::function<StepVar(std::span<const StepVar> of)> value;
};

// Functions for Layer::derived_step.

std::function<StepProgram()> derived_step(std::vector<UnitWeight> weights);
/// For the vectors among the derived weights of equations. The function throws InputError for values that a
/// step cannot compute.
std::function<StepProgram()> derived_step(const EquationCell& cell, const CompiledCell& compiled,
                                          std::int64_t units, std::int64_t input);

}  // namespace lagtape
