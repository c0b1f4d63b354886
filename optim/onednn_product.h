#pragma once

#include "lagtape/ops/recurrence/memory/memory_plan.h"

namespace lagtape {

/// The product computed by oneDNN, for SequenceSettings::large_product. Throws Error if oneDNN fails.
void onednn_product(const LargeProduct& product);

/// `onednn_product`, or null in a program built without oneDNN, such as a release; the kernels then compute
/// these products.
LargeProductFunction fastest_large_product();

}  // namespace lagtape
