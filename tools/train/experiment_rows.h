#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/core/json/json_reader.h"

namespace lagtape {

/// An experiment's file, and its row if it has several:
///
///     { "base": { "data": {"task": "enso"}, "model": {"readout": {"units": 1}}, ... },
///       "rows": { "lem": { "name": "enso-lem", "model": {"layers": [{"cell": "lem", "units": 16}]} },
///                 ... } }
///
/// A row is the difference from the base: a JSON merge patch (RFC 7396), in which null removes a key and lists are
/// replaced as a whole. The base may also be the name of an experiment file in the same folder.
struct ExperimentPlace {
  std::filesystem::path file;
  std::string row = {};  ///< empty for a file without rows

  std::string text() const;                    ///< the place in messages: "enso/rows.json, row lem"
  std::vector<std::string> arguments() const;  ///< arguments of a command: FILE --row NAME
};

/// The name of the file with rows in a folder with the experiments of one task.
constexpr const char* kRowsFile = "rows.json";

/// The document of an experiment, which nothing has checked. Throws InputError, with the names of the rows where
/// one is missing or unknown.
Json read_experiment_document(const ExperimentPlace& place);

/// The names of the experiments of a folder, sorted: its rows, and its files except for rows.json and table.json.
std::vector<std::string> experiments_in(const std::filesystem::path& folder);
/// The experiment of that name: a file before a row.
ExperimentPlace experiment_in(const std::filesystem::path& folder, const std::string& name);

/// Changes a value by a JSON merge patch (RFC 7396).
void merge_patch(Json& target, const Json& patch);

}  // namespace lagtape
