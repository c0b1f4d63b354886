#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/cells/build/cell.h"
#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/cells/models/model_definition.h"
#include "lagtape/core/parameter.h"

namespace lagtape {

class JsonErrors;

/// A model with known widths whose parameters do not have values yet.
struct FittedModel {
  ModelDefinition definition;         ///< completed by the data: read-out and vocabulary
  std::vector<std::string> names;     ///< names of the layers: "lstm"; "unicornn.1" inside another layer
  std::vector<std::string> prefixes;  ///< prefixes of their parameters' names: "layers.0.", "layers.0.1."
  /// For each layer, the index of its entry in the definition and its index among the layers of that entry.
  std::vector<std::pair<std::size_t, std::int64_t>> origins;
  std::vector<Layer> layers;
  /// units [output, d] for the top layer's d; if it is tied, its matrix is the first layer's table, which
  /// precedes its own parameters
  Layer readout;
  std::int64_t classes = 0;  ///< number of classes in the data

  ReadAt at() const { return *definition.readout.at; }
  std::int64_t input_width() const;
  std::int64_t output_width() const;
  std::int64_t target_width() const;  ///< numbers per target; several outputs may belong to one
  ChainDefinition chain() const;
  /// The parameters layers.0.W1, layers.0.W1.bias, ..., layers.1.0.V, ..., readout.W (unless tied),
  /// readout.W.bias.
  std::vector<ParameterDefinition> parameters() const;
  std::int64_t parameter_count() const;
};

/// Fits a model to its data: the widths of the layers, and of the read-out if the model leaves it out. Notes
/// contradictions and errors in a user's equations; if there are any, the result is invalid.
FittedModel fit(const ModelDefinition& model, const DataWidths& data, JsonErrors& errors);

/// The same without a read-out, which then has no parameters: the layers from the input up. After an error,
/// some are missing.
FittedModel fit_layers(const ModelDefinition& model, const DataWidths& data, JsonErrors& errors);

/// The error of the first number in a parameter's value that is not finite, out of bounds, or nonzero in the
/// row that stays zero. Empty if there is none.
std::string value_error(const ParameterDefinition& definition, const Tensor& value);

/// Draws the initial value of a parameter. Throws InputError as draw_parameters does.
Tensor first_value(const ParameterDefinition& definition, Dtype dtype, std::uint64_t seed);

/// Adds a parameter with that value.
Parameter& add_parameter(Parameters& parameters, const ParameterDefinition& definition, Tensor value);

/// The parameters of a model, all zeros.
Parameters zero_parameters(const FittedModel& model, Dtype dtype);

/// Draws the initial values of a model's parameters. Throws InputError for an initializer whose values the
/// parameter cannot have.
Parameters draw_parameters(const FittedModel& model, Dtype dtype, std::uint64_t seed);

}  // namespace lagtape
