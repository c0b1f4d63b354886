#pragma once

#include <cstdint>

#include "lagtape/data/task.h"

namespace lagtape {

/// The frequency in Hz of a class 0..99: equidistant from 1 to 4096.
double class_frequency(std::int64_t index);

/// Classification of a cosine's frequency: x[n] = cos(2 pi f t_n) + noise N(0, 1), t_n = n / length, over one
/// second. Sequence i of a set has class i mod 100. Frequencies above length / 2 Hz alias, and remain
/// distinct. Without noise all sequences of a class are equal, in all sets. With `endpoint`, t_n = n /
/// (length - 1). Source: the tau-GRU paper.
extern const TaskEntry kFrequencyTask;

}  // namespace lagtape
