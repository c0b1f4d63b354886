#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// Noise-padded CIFAR-10: the 32 rows of an image, 96 numbers each (red, green and blue of the row, in 0..1),
/// then 968 steps of noise. "fixed": one block of N(0, 1) for all sequences of all splits, drawn from the
/// experiment's seed; "uniform": one such block of U(0, 1); "per_sample": N(0, 1), a new block for every
/// sequence.
extern const TaskEntry kNcifarTask;

}  // namespace lagtape
