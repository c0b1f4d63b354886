#pragma once

#include "lagtape/ops/recurrence/memory/memory_plan.h"

namespace lagtape {

/// The product by oneDNN, for SequenceSettings::large_product. Throws Error when oneDNN refuses it.
void onednn_product(const LargeProduct& product);

}  // namespace lagtape
