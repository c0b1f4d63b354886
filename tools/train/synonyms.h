#pragma once

#include <span>

#include "lagtape/core/json/json_reader.h"

namespace lagtape {

/// Keys and values of experiments as Keras, PyTorch, Ludwig and darts call them.
std::span<const Synonym> synonyms();

}  // namespace lagtape
