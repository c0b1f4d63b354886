#pragma once

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

/// When a value of the step can be computed, from early to late.
enum class ForwardPhase : std::uint8_t { leaf, pre, delay, loop, post };

/// The forward half of LayerOps: values numbered as in the program (then copies), and the phase of each.
struct ForwardOps {
  LayerOps ops;
  std::vector<ForwardPhase> phases;  ///< by value of the program
  std::vector<int> next;             ///< by state: the value that computes it
};

ForwardOps derive_forward(const StepProgram& program);

int add_value(LayerOps& ops, RowShape shape, Location location = {});
int add_array(LayerOps& ops, Array::Kind kind, int index, std::int64_t width);
inline Location in_array(int array, std::int64_t step = 0) { return {Location::Kind::array, array, step, 0}; }

}  // namespace lagtape::recurrence
