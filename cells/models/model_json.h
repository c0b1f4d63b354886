#pragma once

#include <string>
#include <vector>

#include "lagtape/cells/models/model_definition.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/option_table.h"

namespace lagtape {

/// The "cells" of an experiment, as written.
struct CellEquations {
  Json json;
};

/// Reads the objects "model" and "cells" (null when missing):
///
///     "model": { "layers":  [ { "cell": "tau_gru", "units": 16, "tau": 10 }, { "layer": "linear", "units": 4 } ],
///                "readout": { "units": 1, "at": "every_step", "at_padding": false, "tied": false,
///                             "init": "kaiming_normal" },
///                "rest": { "input": 0 } }
///
/// Notes errors; if there are any, layers may be missing. Loss and precision are elsewhere in an experiment and
/// left to the caller.
ModelDefinition read_model(const Json& model, const Json& cells, JsonErrors& errors);

/// The "model" of an experiment, with every default, from which read_model makes the same definition. Throws
/// InputError for initial values of the read-out that no file could have.
Json json_of(const ModelDefinition& definition);
/// The "cells" of an experiment; null when there are none.
Json cells_json_of(const ModelDefinition& definition);

/// The loss and the precision given in an experiment, or the defaults of a definition. Notes errors in the
/// loss.
LossFunction loss_in(const Json& experiment, JsonErrors& errors);
Precision precision_in(const Json& experiment);

/// The options of "readout", with their documentation.
std::vector<OptionDoc> readout_options();

/// The keys of "model" other than "layers" and "readout".
extern const OptionTable kOtherModelOptions;

}  // namespace lagtape
