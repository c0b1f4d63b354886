#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/model.h"
#include "lagtape/cells/models/predictors.h"
#include "lagtape/cells/models/provenance.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

/// The insides of a Model, shared by its sources: model.cpp, model_file.cpp and model_prediction.cpp.
struct Model::Implementation {
  FittedModel fitted;
  std::vector<Layer> evaluated;  // the layers as evaluation runs them
  ChainDefinition chain, evaluation_chain;
  std::shared_ptr<const Provenance> provenance;
  Parameters parameters = {};
  Normalization normalization = {};
  SeriesNormalizations series = {};
  Predictors predictors = {};  // a cache that affects no result

  /// Without a provenance, the model's definition becomes its provenance.
  Implementation(FittedModel model, std::shared_ptr<const Provenance> from);

  Dtype dtype() const { return fitted.definition.precision; }
};

/// The definition fitted to its data. Throws InputError whose lines start with `where`.
FittedModel fitted_to(const ModelDefinition& definition, const DataWidths& data, const std::string& where);

}  // namespace lagtape
