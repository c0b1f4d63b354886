#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/task.h"
#include "lagtape/tools/new/starting_experiment.h"

namespace lagtape {

/// The experiment so far, and the facts that determine its parts.
struct Draft {
  Json data = Json::object();
  std::vector<OptionDoc> data_options;
  std::string name;                ///< the experiment's name
  std::string about;               ///< one line about its data
  std::vector<std::string> notes;  ///< notes about the data
  DataShape shape{.length = 100};  ///< as far as known before the data are read
  std::int64_t season = 0;         ///< steps in a period; 0: unknown
  bool has_gaps = false;           ///< rows are missing between other rows
  bool is_uneven = false;          ///< the distance between rows varies
  std::string frequency =
      {};  ///< frequency of the rows of several series together, each of which may lack most; "": none
  bool is_known = true;     ///< whether the shape is certain
  bool needs_loss = false;  ///< an experiment must specify it, because its options do not reveal the targets
  bool fresh = false, has_valid = true;
};

/// The options of a task read from `data`, and its loader. `missing` receives the required keys that are
/// missing.
TaskLoader read_data(const TaskEntry& entry, const Json& data, std::vector<OptionDoc>& options,
                     std::vector<std::string>* missing = nullptr, bool real_loss = true);

/// "line 2 has units" -> "Line 2 has units."
std::string sentence_of(std::string text);
/// An experiment's name for a file, and the file's path in it.
std::string name_from(const std::filesystem::path& file);
std::string path_from(const StartingPoint& start, const std::filesystem::path& file);

/// An object with an initial value for each option without a default.
Json with_required(Json object, const std::vector<OptionDoc>& options, const Draft& draft,
                   std::int64_t units);

/// The draft of an experiment on a task; if its files are given, they are read. Throws InputError.
Draft draft_of_task(const TaskEntry& entry, const StartingPoint& start);
/// The draft of an experiment on a recording, or on a table of sequences. Throws InputError.
Draft draft_of_recording(const StartingPoint& start);
/// The draft of an experiment on the arrays of an .npz file. Throws InputError.
Draft draft_of_arrays(const std::filesystem::path& file, const StartingPoint& start);

}  // namespace lagtape
