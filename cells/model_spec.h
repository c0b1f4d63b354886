#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/cells/cell.h"
#include "lagtape/cells/chain.h"
#include "lagtape/cells/linear.h"
#include "lagtape/cells/registry.h"
#include "lagtape/core/json_reader.h"
#include "lagtape/core/parameter.h"
#include "lagtape/ops/recurrence/sequence.h"

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

/// "model" and "cells" of an experiment as they were read, before the data are known.
struct ModelOptions {
  struct LayerOptions {
    std::string name;     ///< "tau_gru"
    std::string pointer;  ///< /model/layers/0
    BuildLayer build;
    bool takes_tokens = false;
  };
  std::vector<LayerOptions> layers;
  std::int64_t readout_units = 0;  ///< 0: as the data have it
  std::string readout_at;          ///< empty: as the data have it
  bool at_padding = false;         ///< read at the batch's last step instead of the sequence's own
  bool tied = false;               ///< the matrix is the table of the embedding
  Linear::Init readout_init = {"kaiming_normal"};

  Json filled_model;  ///< with every default
  Json filled_cells;  ///< null when there are none
};

/// Reads the objects "model" and "cells" (null when missing):
///
///     "model": { "layers":  [ { "cell": "tau_gru", "units": 16, "tau": 10 }, { "layer": "linear", "units": 4
///     } ],
///                "readout": { "units": 1, "at": "every_step", "at_padding": false, "tied": false,
///                             "init": "kaiming_normal" } }
///
/// A tied read-out (Press and Wolf 2017; Inan et al. 2017) has no matrix of its own: y = E h + W.bias with
/// the table E [vocabulary, units] of the embedding below, one parameter with the gradients of both uses. It
/// has the first values of the embedding; `init` is for the bias alone. The embedding has no padding, whose
/// row could not stay zeros. A token whose vector the embedding leaves out of a batch has its logit
/// nevertheless.
///
/// Notes errors; with any, the result may lack layers.
ModelOptions read_model(const Json& model, const Json& cells, JsonErrors& errors);

/// The options of "readout".
std::vector<OptionDoc> readout_options();

/// A model before its parameters have values.
struct ModelSpec {
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
ModelSpec build_model(const ModelOptions& options, const DataWidths& data, JsonErrors& errors);

/// What is wrong with a value of a parameter: the first number that is not finite, out of its bounds, or not
/// 0 in the row that is zeros. Empty when nothing is.
std::string value_error(const ParameterDefinition& definition, const Tensor& value);

/// The parameters of a model with their first values. Throws InputError for an initialiser whose values the
/// parameter cannot have.
Parameters draw_parameters(const ModelSpec& spec, Dtype dtype, std::uint64_t seed);

}  // namespace lagtape
