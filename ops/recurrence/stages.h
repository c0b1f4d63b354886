#pragma once

#include <vector>

#include "lagtape/ops/recurrence/step_code.h"

namespace lagtape::recurrence {

/// The ops of one stage, in order: products of one stack, or element-wise work.
struct StageOps {
  bool product = false;
  Ops ops;
};

/// Groups `list`, the ops of one phase of `layer`: whatever products are ready, then all element-wise work
/// that is ready, and again. Products of one operand are stacked.
std::vector<StageOps> form_stages(const LayerOps& layer, const Ops& list);

}  // namespace lagtape::recurrence
