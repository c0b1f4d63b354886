#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// The frequency in Hz of a class 0..99: equidistant from 1 to 4096.
double class_frequency(std::int64_t index);

/// Which of 100 frequencies: x[n] = cos(2 pi f t_n) + noise N(0, 1), t_n = n / length, over one second; one
/// class a sequence, sequence i of a set having class i mod 100. Above length / 2 Hz frequencies alias, and
/// remain distinct. Without noise all sequences of a class are equal, in all sets. With `endpoint`,
/// t_n = n / (length - 1). Source: the tau-GRU paper.
TaskLoader read_frequency(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
