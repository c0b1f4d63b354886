#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "lagtape/core/json/json_pointer.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/train/experiment_paths.h"

namespace lagtape {

/// An experiment file, parsed but not read yet, from which all runs with other seeds or settings start.
struct ExperimentFile {
  Json document;               ///< as the user wrote it, without comments
  std::string where;           ///< its name in messages
  std::filesystem::path base;  ///< the absolute folder to which paths are relative
};

/// Parses a file, or a row of one that has several, for any number of reads with other assignments. Throws
/// InputError.
ExperimentFile parse_experiment_file(const std::filesystem::path& file, const std::string& row = {});

/// Applies the assignments and reads a parsed experiment, as read_experiment does for the file. Throws
/// InputError.
Experiment read_experiment(const ExperimentFile& file, std::span<const std::string> assignments = {});

/// Reads an experiment's document; `base` is absolute. Throws InputError with all its errors.
Experiment read_document(const Json& document, const std::string& where, const std::filesystem::path& base);

/// The document after applying the assignments of `--set` ("train.epochs=3"). Throws InputError.
Json assigned(Json document, std::span<const std::string> assignments);

/// An experiment's document. Throws InputError for one filled in by C++ code.
const Json& document_of(const Experiment& experiment);

/// Removes the training options that only add to the reports: no weight depends on them.
void leave_out_reports(Json& experiment);

}  // namespace lagtape
