#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/cells/layers/linear.h"
#include "lagtape/cells/registry.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

// Internal: includes nlohmann/json.

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

}  // namespace lagtape
