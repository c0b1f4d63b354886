#pragma once

#include <string>
#include <vector>

#include "lagtape/core/io/safetensors.h"

namespace lagtape::foreign {

/// Makes the tensors of a state_dict those of plain modules: weights that PyTorch keeps in parts are computed (weight norm
/// and spectral norm, by either name), of weights beside their moving average the average stays, and counters of training
/// go. `notes` gets a sentence about what was chosen.
void make_plain(std::vector<NamedTensor>& tensors, std::vector<std::string>& notes);

}  // namespace lagtape::foreign
