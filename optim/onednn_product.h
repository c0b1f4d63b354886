#pragma once

#include "lagtape/ops/recurrence/memory/memory_plan.h"

namespace lagtape {

/// The product by oneDNN, for SequenceSettings::large_product. Throws Error when oneDNN refuses it.
void onednn_product(const LargeProduct& product);

/// `onednn_product`, or null in a program that is built without oneDNN, as those of releases are: the kernels multiply there.
LargeProductFunction fastest_large_product();

}  // namespace lagtape
