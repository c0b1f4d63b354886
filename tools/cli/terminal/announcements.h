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

/// Warns that a forecast reads later rows of columns that are known only up to its first prediction.
void warn_of_later_rows(const std::vector<std::string>& columns);

/// Prints on stderr the memory that a large model needs in training, and whether that exceeds the machine's.
void announce_cost(const TrainingCost& cost);
/// Warns where it is more.
void warn_of_cost(const TrainingCost& cost);

/// Prints on stderr how many words begin with a vector from the user's file, and which parameters begin with those of
/// another model.
void announce_beginning(const std::optional<KnownWords>& words, const std::optional<InitialWeights>& weights);

/// Says on stderr that only runs of other processes are left.
void announce_waiting(std::size_t runs);

}  // namespace lagtape::cli
