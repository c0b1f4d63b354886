#pragma once

#include <vector>

namespace lagtape {

/// For quantized products, layer by layer: the largest magnitude that the operand of weight stack s
/// (LayerSchedule) is expected to have, at s. Stream::operand_ranges finds them.
using OperandRanges = std::vector<std::vector<float>>;

}  // namespace lagtape
