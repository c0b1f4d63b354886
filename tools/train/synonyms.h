#pragma once

#include <span>

#include "lagtape/core/json/json_reader.h"

namespace lagtape {

/// Keras, PyTorch, Ludwig and darts names for keys and values of experiments.
std::span<const Synonym> synonyms();

}  // namespace lagtape
