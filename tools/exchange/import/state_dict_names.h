#pragma once

#include <string>
#include <vector>

#include "lagtape/core/io/safetensors.h"

namespace lagtape::foreign {

/// Makes the tensors of a state_dict those of plain modules: weights that PyTorch keeps in parts are computed (weight norm
/// and spectral norm, by either name), a moving average replaces its weights, and counters of training are dropped.
/// `notes` gets a sentence about these choices.
void make_plain(std::vector<NamedTensor>& tensors, std::vector<std::string>& notes);

}  // namespace lagtape::foreign
