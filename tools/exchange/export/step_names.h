#pragma once

#include <string>
#include <vector>

namespace lagtape {

/// The names of the numbers that a step takes and gives, where they are known.
struct StepNames {
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};  ///< empty: those that the model has
};

}  // namespace lagtape
