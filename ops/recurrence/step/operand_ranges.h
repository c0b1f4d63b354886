#pragma once

#include <vector>

namespace lagtape {

/// For quantized products, layer by layer: the expected largest magnitude of the operand of weight stack s
/// (LayerSchedule), at index s. Stream::operand_ranges finds them.
using OperandRanges = std::vector<std::vector<float>>;

}  // namespace lagtape
