#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "lagtape/core/json/json_pointer.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/train/experiment_paths.h"

namespace lagtape {

/// The file of an experiment, parsed but not read yet, from which all runs with other seeds or settings begin.
struct ExperimentFile {
  Json document;               ///< as the user wrote it, without comments
  std::string where;           ///< its name in messages
  std::filesystem::path base;  ///< the absolute folder at which relative paths begin
};

/// Parses a file, or a row of one that has several, for any number of reads with other assignments. Throws InputError.
ExperimentFile parse_experiment_file(const std::filesystem::path& file, const std::string& row = {});

/// Reads a parsed experiment after the assignments, as read_experiment of the file does. Throws InputError.
Experiment read_experiment(const ExperimentFile& file, std::span<const std::string> assignments = {});

/// Reads the document of an experiment; `base` is absolute. Throws InputError with all of its errors.
Experiment read_document(const Json& document, const std::string& where, const std::filesystem::path& base);

/// The document after the assignments of `--set` ("train.epochs=3"). Throws InputError.
Json assigned(Json document, std::span<const std::string> assignments);

/// The document of an experiment. Throws InputError for one that was filled in C++.
const Json& document_of(const Experiment& experiment);

/// Removes the options of training that only add to what is reported: no weight depends on them.
void leave_out_reports(Json& experiment);

}  // namespace lagtape
