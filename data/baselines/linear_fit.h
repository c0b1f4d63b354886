#pragma once

#include <vector>

#include "lagtape/data/task.h"

namespace lagtape {

/// The coefficients of a linear term of normalized inputs and targets.
struct LinearFit {
  std::vector<double> weights = {};   ///< [targets, features], in the order of LinearTerm
  std::vector<double> constant = {};  ///< [targets]
};

/// The term of a task: the target a season before, or a ridge regression on the training sequences with the
/// penalty that is best on the validation sequences. Missing targets and steps before the term's lags are left
/// out.
LinearFit fit_linear_term(const Task& task, ThreadPool& pool);

}  // namespace lagtape
