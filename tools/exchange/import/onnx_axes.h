#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lagtape/tools/exchange/import/onnx_recurrence.h"

namespace lagtape::foreign {

/// A value of a graph and what is known about its axes, which are a letter each: C the numbers of a step, D the
/// directions of the recurrence below, F time and batch as one, and for those two the letters that the input has.
struct AxesBefore {
  std::string axes;
  std::int64_t width = 0;       ///< the extent of C
  std::int64_t directions = 1;  ///< the extent of D
  std::string flattened;        ///< the axes before time and batch became one
};

/// The axes after a node that only moves axes: Transpose, Squeeze, Unsqueeze, Reshape, Identity, Dropout. None for
/// other nodes. Throws InputError that begins with `where` where the node does more than that.
std::optional<std::string> moved_axes(const OnnxNode& node, const AxesBefore& before,
                                      const OnnxConstants& constants, const std::string& where);

}  // namespace lagtape::foreign
