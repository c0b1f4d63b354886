#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// The parameters that a training took over from another model.
struct InitialWeights {
  std::string from;                ///< the run folder or weights file
  std::vector<std::string> taken;  ///< names
  std::vector<std::string>
      drawn;  ///< names of the parameters that the other model does not have in this shape
};

/// Gives a model the values of `train.init` before the first step of its training: those of parameters of the
/// same name and shape. Returns nothing without such a file. Throws InputError when no parameter fits.
std::optional<InitialWeights> start_from_init(const Experiment& experiment, Model& model);

}  // namespace lagtape
