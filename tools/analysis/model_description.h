#pragma once

#include <optional>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/train/source.h"
#include "lagtape/tools/train/training_cost.h"

namespace lagtape {

/// A model as `lagtape inspect --json` prints it: parameters, layers with their steps, memory plans for a batch of
/// the data, and the experiment with every default. Without data, as for a model made in C++, there are no plans.
Json describe(const Source& source, const std::optional<DataShape>& data, int threads);

/// The memory in bytes of a training run, as `lagtape check --json` prints it.
Json memory_of(const TrainingCost& cost);

}  // namespace lagtape
