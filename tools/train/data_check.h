#pragma once

#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/data/task.h"

namespace lagtape {

/// What a look at a task's numbers found.
struct DataCheck {
  std::vector<std::string> notes;     ///< sizes of the sets, shares of the classes
  std::vector<std::string> warnings;  ///< what may keep a model from learning, or makes its scores too good
};

/// Looks at the first sequences of the training set, at most 1000: at inputs that never change, inputs that are
/// the target of the same step, rare classes, targets far from the size of a model's first outputs, and sequences
/// shorter than the model's largest lag. Throws InputError for numbers that are not finite.
DataCheck check_data(const Task& task, const Model& model, ThreadPool& pool);

}  // namespace lagtape
