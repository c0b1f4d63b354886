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

  std::string text() const;                    ///< its place in messages: "enso/rows.json, row lem"
  std::vector<std::string> arguments() const;  ///< command-line arguments: FILE --row NAME
};

/// The name of the file with rows in a folder with the experiments of one task.
constexpr const char* kRowsFile = "rows.json";

/// An experiment's document, unchecked. Throws InputError, with the names of the rows if one is missing or
/// unknown.
Json read_experiment_document(const ExperimentPlace& place);

/// The sorted names of the experiments in a folder: its rows, and its files except rows.json and table.json.
std::vector<std::string> experiments_in(const std::filesystem::path& folder);
/// The experiment with that name: files take precedence over rows.
ExperimentPlace experiment_in(const std::filesystem::path& folder, const std::string& name);

/// Modifies a value with a JSON merge patch (RFC 7396).
void merge_patch(Json& target, const Json& patch);

}  // namespace lagtape
