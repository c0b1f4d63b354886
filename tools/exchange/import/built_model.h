#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "lagtape/cells/models/model.h"
#include "lagtape/core/json/json.h"

namespace lagtape {

/// A model trained elsewhere, in lagtape's terms.
struct ModelContent {
  Json experiment;         ///< "name", "model" with its read-out, "loss", "cells", and "precision" in "train"
  std::int64_t input = 0;  ///< numbers per step; 1 for tokens
  std::map<std::string, Tensor> values = {};  ///< each parameter by name, in any precision
  Normalization normalization = {};
};

/// The model with that content. Throws InputError that starts with `where` for an experiment that contradicts
/// itself, and for values with other names or shapes, non-finite values, or values out of bounds.
Model built_model(const ModelContent& content, const std::string& where);

}  // namespace lagtape
