#pragma once

#include <string>
#include <vector>

namespace lagtape {

/// The names of the numbers that a step takes and gives, where they are known, and of what it is exported for.
struct StepNames {
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};  ///< empty: those that the model has
  std::string series = {};  ///< the one of several whose scaling is exported; empty: there is one for all
};

}  // namespace lagtape
