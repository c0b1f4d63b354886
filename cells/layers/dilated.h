#pragma once

#include "lagtape/cells/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// Reads {"cell": "dilated", "of": {"cell": ...}, "dilations": [1, 2, 4]}: a layer of the cell, a built-in
/// one or the user's, for each dilation, from the input up. In a layer of dilation d the step before is d steps back:
///
///     h[n+1] = F(h[n+1-d], x[n])                  zeros before the first step
///
/// which is what d interleaved sequences with the same weights have. Parameters are those of the cell, by
/// layer: 0.W, 1.W. It is what every cell does with "dilations" (every_cell.h), under the name that papers
/// give it. Source: "Dilated Recurrent Neural Networks" (Chang et al. 2017).
BuildLayer read_dilated(JsonReader& reader, const ReadInner& inner);

}  // namespace lagtape
