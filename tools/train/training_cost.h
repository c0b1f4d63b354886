#pragma once

#include <cstdint>
#include <string>

#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// The memory needed for training, excluding data and a batch's states, from the model's definition.
struct TrainingCost {
  std::int64_t parameters = 0;       ///< numbers that are trained
  std::int64_t parameter_bytes = 0;  ///< the parameters
  /// weights derived from parameters; excluding those of bidirectional layers
  std::int64_t derived_bytes = 0;
  /// All copies of both on one thread: gradients, packed weights, the state before an update, the best state,
  /// the average, and the optimizer's state. Intermediate values of derived weights are not counted.
  std::int64_t training_bytes = 0;
};

/// `model` may be undrawn: its values are not read.
TrainingCost training_cost(const Experiment& experiment, const Model& model);

/// "the parameters 61.1 MiB; about 672.5 MiB in training on one thread, besides data and states".
std::string text_of_cost(const TrainingCost& cost);

/// Whether to print it before training: 1 GiB and more.
bool is_large(const TrainingCost& cost);

}  // namespace lagtape
