#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/cells/cell.h"
#include "lagtape/cells/models/chain_definition.h"
#include "lagtape/cells/models/model_options.h"
#include "lagtape/core/parameter.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// What the data say about a model. Targets are `output` real numbers, or one of `classes`; 0: not known.
struct DataWidths {
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t classes = 0;
  std::optional<bool> every_step = {};      ///< whether there is a target a step, or one a sequence
  std::optional<std::int64_t> tokens = {};  ///< inputs are 0 .. tokens - 1, one a step; 0: real numbers
};

/// A model before its parameters have values.
struct ModelDefinition {
  std::vector<std::string> names;     ///< of the layers: "lstm"; "unicornn.1" inside another
  std::vector<std::string> prefixes;  ///< of their parameters: "layers.0."; "layers.0.1." inside another
  std::vector<Layer> layers;
  Layer readout;      ///< units [output, d] of the top layer's d
  bool tied = false;  ///< the read-out's matrix is the first layer's table, given before its own parameters
  ReadAt at = ReadAt::every_step;
  Json filled_model;  ///< with every default, and what the data decided
  Json filled_cells;  ///< null when there are none

  std::int64_t input_width() const;
  std::int64_t output_width() const;
  ChainDefinition chain(Loss loss = Loss::none) const;
  /// layers.0.W1, layers.0.W1.bias, ..., layers.1.0.V, ..., readout.W (unless tied), readout.W.bias.
  std::vector<ParameterDefinition> parameters() const;
  std::int64_t parameter_count() const;
};

/// Fits a model that was read without errors to its data: widths of the layers, and the read-out's from the
/// data where the model leaves it out. Notes contradictions and what is wrong with a user's equations; with
/// any error, the result is of no use.
ModelDefinition build_model(const ModelOptions& options, const DataWidths& data, JsonErrors& errors);

/// What is wrong with a value of a parameter: the first number that is not finite, out of its bounds, or not
/// 0 in the row that is zeros. Empty when nothing is.
std::string value_error(const ParameterDefinition& definition, const Tensor& value);

/// The parameters of a model with their first values. Throws InputError for an initialiser whose values the
/// parameter cannot have.
Parameters draw_parameters(const ModelDefinition& spec, Dtype dtype, std::uint64_t seed);

}  // namespace lagtape
