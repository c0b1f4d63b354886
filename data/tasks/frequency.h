#pragma once

#include <cstdint>

#include "lagtape/data/task.h"

namespace lagtape {

/// The frequency in Hz of a class 0..99: equidistant from 1 to 4096.
double class_frequency(std::int64_t index);

}  // namespace lagtape
