#pragma once

#include <string>
#include <vector>

#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// A PyTorch module: one map, or the layers of a recurrence.
struct Module {
  std::string name;  ///< "encoder.lstm"; empty for a model that is a single module
  std::int64_t input = 0, output = 0;
  bool is_recurrent = false;
  std::vector<ForeignLayer> layers;
};

/// The modules from the input up, in the order that layers_of (state_dict.h) describes.
std::vector<Module> in_order(std::vector<Module> modules, bool is_given,
                             const std::vector<std::string>& order, const std::string& where);

}  // namespace lagtape::foreign
