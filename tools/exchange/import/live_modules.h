#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/core/io/safetensors.h"
#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// Facts about part of a live PyTorch model that are missing from its state_dict.
struct LiveModule {
  enum class Kind : std::uint8_t {
    weights,    ///< a recurrence or a map, identified by its tensors' names
    embedding,  ///< nn.Embedding
    function,   ///< y = f(x), without tensors
  } kind = Kind::weights;
  std::string name;           ///< prefix of its tensors' names; empty: all tensors
  std::string function = {};  ///< one of functions_between_maps (torch_files.h), or that of an nn.RNN
};

/// The layers of modules applied in sequence, from the input up, with all their tensors in f64 under their
/// state_dict names. Throws InputError that starts with `where`, as layers_of (state_dict.h) does.
ForeignModel read_modules(std::vector<NamedTensor> tensors, const std::vector<LiveModule>& modules,
                          const std::string& where);

}  // namespace lagtape::foreign
