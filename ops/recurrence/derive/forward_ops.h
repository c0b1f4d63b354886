#pragma once

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

/// The forward half of LayerOps: values numbered as in the program (followed by copies), and the moment at
/// which each is computed. This is where products are hoisted out of the time loop.
struct ForwardOps {
  LayerOps ops;
  std::vector<Moment> moments;  ///< one per program value
  std::vector<int> next;        ///< one per state: its value after the step
};

ForwardOps derive_forward(const StepProgram& program);

int add_value(LayerOps& ops, RowShape shape, Location location = {});
int add_array(LayerOps& ops, Array::Kind kind, int index, std::int64_t width);
inline Location in_array(int array, std::int64_t step = 0) { return {Location::Kind::array, array, step, 0}; }

}  // namespace lagtape::recurrence
