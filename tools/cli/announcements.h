#pragma once

#include <string>
#include <vector>

#include "lagtape/data/task.h"
#include "lagtape/tools/train/initial_weights.h"
#include "lagtape/tools/train/training_cost.h"

namespace lagtape::cli {

/// Prints warnings on stderr, a line each.
void warn(const std::vector<std::string>& warnings);

/// Prints facts about the data on stderr, a line each.
void tell(const std::vector<std::string>& notes);

/// Prints on stderr what a large model takes in training, and whether that is more than the memory.
void announce_cost(const TrainingCost& cost);
/// Warns where it is more.
void warn_of_cost(const TrainingCost& cost);

/// Prints on stderr how many words begin with a vector from the user's file.
void announce_vectors(const KnownWords& words);

/// Prints on stderr which parameters begin with those of another model.
void announce_weights(const InitialWeights& weights);

}  // namespace lagtape::cli
