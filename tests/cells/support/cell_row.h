#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/cells/registry.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape::test {

/// The row of a cell in the table of tests/cells/rows, a file NAME.json for each cell:
///
///     { "options":    [ {"units": 5, "tau": 3}, ... ],    small layers; together they set every option
///       "parameters": "W1 W1.bias U1 ...",                names of the first layer's parameters, in order
///       "not_of_the_step": ["chrono"],                    options that do not change the recorded step
///       "no_gradient": ["tau"],                           numbers that have no gradient
///       "counts":     [ {"options": {...}, "input": 1, "outputs": 10, "count": 1233}, ... ],
///       "equations":  [ {"options": {...}, "layer": 0, "real": ["alpha"], "definition": {...}}, ... ] }
///
/// "counts" are numbers of parameters as papers print them, with an affine read-out of that many outputs, or
/// without a read-out where there are 0. "equations" are the same cell as a user would write it; the options
/// that occur in them are "hyper" there. "real" names those options that have a gradient, and "layer" the
/// layer that is meant where there are several. Lists that would be empty may be missing, and "equations" are missing
/// where the cell is written as such (cells/written).
struct CellRow {
  struct Count {
    Json options;
    std::int64_t input = 0, outputs = 0, count = 0;
  };
  struct Equations {
    Json options;
    std::int64_t layer = 0;
    std::vector<std::string> real;
    Json definition;
  };
  std::vector<Json> options;
  std::string parameters;
  std::vector<std::string> not_of_the_step, no_gradient;
  std::vector<Count> counts;
  std::vector<Equations> equations;
};

/// The root of the project's sources.
std::filesystem::path source_folder();

/// Throws InputError when there is no such row, or when a key of it is missing or unknown.
CellRow read_row(const std::string& cell);

/// The names of all rows, in alphabetical order.
std::vector<std::string> row_names();

/// Reads the options of a layer; a layer inside it is a built-in cell.
BuildLayer read_entry(const LayerEntry& entry, JsonReader& reader);

/// The layers of a built-in cell, from the input up. Throws InputError for wrong options.
std::vector<Layer> build_cell(const std::string& cell, const Json& options, std::int64_t input);

/// The layer of the equations, with those options that occur in them. On request the hyper-parameters `real`
/// become weights of shape [].
Layer build_equations(const CellRow::Equations& equations, std::int64_t input, bool real_as_weights = false);

}  // namespace lagtape::test
