#pragma once

#include <string>
#include <vector>

#include "lagtape/core/io/safetensors.h"

namespace lagtape::foreign {

/// Converts the tensors of a state_dict to those of plain modules: weights that PyTorch stores in parts are
/// computed (weight norm and spectral norm, under either name), a moving average replaces its weights, and
/// training counters are dropped. `notes` gets a sentence about these choices.
void make_plain(std::vector<NamedTensor>& tensors, std::vector<std::string>& notes);

}  // namespace lagtape::foreign
