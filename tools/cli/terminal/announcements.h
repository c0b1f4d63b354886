#pragma once

#include <string>
#include <vector>

#include "lagtape/data/task.h"
#include "lagtape/tools/train/training_cost.h"
#include "lagtape/tools/train/training_setup.h"

namespace lagtape::cli {

/// Prints warnings on stderr, a line each.
void warn(const std::vector<std::string>& warnings);

/// Prints facts about the data on stderr, a line each.
void tell(const std::vector<std::string>& notes);

/// Warns that a forecast reads later rows of columns that are known up to its first prediction alone.
void warn_of_later_rows(const std::vector<std::string>& columns);

/// Prints on stderr what a large model takes in training, and whether that is more than the memory.
void announce_cost(const TrainingCost& cost);
/// Warns where it is more.
void warn_of_cost(const TrainingCost& cost);

/// Prints on stderr, if there are any, how many words begin with a vector from the user's file, and which parameters with
/// those of another model.
void announce_beginning(const std::optional<KnownWords>& words, const std::optional<InitialWeights>& weights);

/// Says on stderr that nothing is left to do but to wait for runs that other processes are training.
void announce_waiting(std::size_t runs);

}  // namespace lagtape::cli
