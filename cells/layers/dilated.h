#pragma once

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// Layers of any cell, a built-in one or the user's, each with its dilation, from the input up: {"cell":
/// "dilated", "of": {"cell": ...}, "dilations": [1, 2, 4]}. In a layer with dilation d, the previous step is d
/// steps back:
///
///     h[n+1] = F(h[n+1-d], x[n])                  zeros before the first step
///
/// which is the same as d interleaved sequences that share their weights. The parameters are those of the
/// cell, by layer: 0.W, 1.W. Every cell offers this as its option "dilations" (CommonCellOptions); "dilated"
/// is the name that papers give it. Source: "Dilated Recurrent Neural Networks" (Chang et al. 2017).
struct Dilated {
  static const LayerEntry kEntry;
};

}  // namespace lagtape
