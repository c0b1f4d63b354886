#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "lagtape/cells/models/model.h"
#include "lagtape/core/json/json.h"

namespace lagtape {

/// A model that was trained elsewhere, in lagtape's terms.
struct ModelContent {
  Json experiment;         ///< "name", "model" with its read-out, "loss", "cells", and "precision" in "train"
  std::int64_t input = 0;  ///< numbers of a step; 1 for tokens
  std::map<std::string, Tensor> values = {};  ///< each parameter by its name, in any precision
  Normalization normalization = {};
};

/// The model of that content. Throws InputError that begins with `where` for an experiment that contradicts itself, and
/// for values of other names or shapes, that are not finite, or out of their bounds.
Model built_model(const ModelContent& content, const std::string& where);

}  // namespace lagtape
