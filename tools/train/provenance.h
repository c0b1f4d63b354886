#pragma once

#include <filesystem>
#include <memory>

#include "lagtape/cells/models/model.h"
#include "lagtape/cells/models/provenance.h"

namespace lagtape {

/// The provenance of a model of an experiment whose paths are absolute. In the model's files they begin at the files'
/// folders.
std::shared_ptr<const Provenance> provenance_of(Json document);

/// The experiment that a model comes from, with absolute paths; for a model that was made in C++ or imported, its
/// "model", "cells", "loss" and precision alone.
Json document_of(const Model& model);

/// The "data" of that experiment; null where there is none.
Json data_of(const Model& model);

}  // namespace lagtape
