#pragma once

#include <cstdint>
#include <string>

#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// The memory of a training besides its data and the states of a batch, known from the model's definition.
struct TrainingCost {
  std::int64_t parameters = 0;       ///< numbers that are trained
  std::int64_t parameter_bytes = 0;  ///< the parameters
  std::int64_t derived_bytes = 0;    ///< weights made of parameters; without those of bidirectional layers
  std::int64_t training_bytes = 0;   ///< both with gradients, the optimizer's state, a copy for updates that fail
};

/// `model` may be undrawn: its values are not read.
TrainingCost training_cost(const Experiment& experiment, const Model& model);

/// "the parameters 488.3 MiB, 488.3 MiB of weights derived from them; about 3.3 GiB in training, besides data and states".
std::string text_of_cost(const TrainingCost& cost);

/// Whether it is worth saying before a training: 1 GiB and more.
bool is_large(const TrainingCost& cost);

}  // namespace lagtape
