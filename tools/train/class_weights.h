#pragma once

#include "lagtape/data/task.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// The experiment with numbers in place of class weights that are "balanced": N / (K n) for a class with n of the N
/// targets of the training set, K the number of classes that occur there. A class that does not occur there has 1.
/// Throws InputError where the training set never ends. Other experiments stay as they are.
Experiment with_class_weights(const Experiment& experiment, const Task& task, ThreadPool& pool);

}  // namespace lagtape
