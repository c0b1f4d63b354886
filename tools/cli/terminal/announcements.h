#pragma once

#include <string>
#include <vector>

#include "lagtape/data/task.h"
#include "lagtape/tools/train/training_cost.h"
#include "lagtape/tools/train/training_setup.h"

namespace lagtape::cli {

/// Prints warnings on stderr, one per line.
void warn(const std::vector<std::string>& warnings);

/// Prints facts about the data on stderr, one per line.
void tell(const std::vector<std::string>& notes);

/// Warns that a forecast reads later rows of columns whose values are known only up to its first prediction.
void warn_of_later_rows(const std::vector<std::string>& columns);

/// Prints on stderr how much memory a large model needs for training, and whether that exceeds the machine's.
void announce_cost(const TrainingCost& cost);
/// Warns if it exceeds the machine's.
void warn_of_cost(const TrainingCost& cost);

/// Prints on stderr how many words start with a vector from the user's file, and which parameters start with
/// another model's values.
void announce_beginning(const std::optional<KnownWords>& words, const std::optional<InitialWeights>& weights);

/// Reports on stderr that only other processes' runs are left.
void announce_waiting(std::size_t runs);

}  // namespace lagtape::cli
