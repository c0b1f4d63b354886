#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/core/io/safetensors.h"
#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// Facts about a part of a live PyTorch model that its state_dict lacks.
struct LiveModule {
  enum class Kind : std::uint8_t {
    weights,    ///< a recurrence or a map, by its tensors' names
    embedding,  ///< nn.Embedding
    function,   ///< y = f(x), without tensors
  } kind = Kind::weights;
  std::string name;           ///< prefix of its tensors' names; empty: all tensors
  std::string function = {};  ///< one of functions_between_maps (torch_files.h), or that of an nn.RNN
};

/// The layers of modules that follow each other, from the input up, with all their tensors by the names of the
/// state_dict, in f64. Throws InputError that begins with `where`, as layers_of (state_dict.h) does.
ForeignModel read_modules(std::vector<NamedTensor> tensors, const std::vector<LiveModule>& modules,
                          const std::string& where);

}  // namespace lagtape::foreign
