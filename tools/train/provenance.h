#pragma once

#include <filesystem>
#include <memory>

#include "lagtape/cells/models/model.h"
#include "lagtape/cells/models/provenance.h"

namespace lagtape {

/// The provenance of a model from an experiment with absolute paths. In the model's files they are relative to
/// the files' folders.
std::shared_ptr<const Provenance> provenance_of(Json document);

/// The experiment that a model comes from, with absolute paths; for a model that was made in C++ or imported,
/// only its "model", "cells", "loss" and precision.
Json document_of(const Model& model);

/// The "data" of that experiment; null if there is none.
Json data_of(const Model& model);

}  // namespace lagtape
