#pragma once

#include <cstdint>
#include <string>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// The memory of a training besides its data and the states of a batch, known from the model's definition.
struct TrainingCost {
  std::int64_t parameters = 0;       ///< numbers that are trained
  std::int64_t parameter_bytes = 0;  ///< the parameters
  std::int64_t derived_bytes =
      0;  ///< weights that steps have from parameters; those of bidirectional layers are left out
  std::int64_t training_bytes =
      0;  ///< both with their gradients, the optimizer's state, and a copy for updates that fail
};

/// `model` may be undrawn: its values are not read.
TrainingCost training_cost(const Experiment& experiment, const Model& model);

/// "the parameters 488.3 MiB, 488.3 MiB of weights derived from them; about 3.3 GiB in training, besides data and states".
std::string text_of_cost(const TrainingCost& cost);
Json memory_of(const TrainingCost& cost);

/// Whether it is worth saying before a training: 1 GiB and more.
bool is_large(const TrainingCost& cost);

}  // namespace lagtape
