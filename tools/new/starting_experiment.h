#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lagtape {

/// A beginner's input: data and a goal.
struct StartingPoint {
  std::string data;  ///< the name of a task, or the user's own recording (.csv)
  std::string cell = "tau_gru";
  std::int64_t units = 0;  ///< 0: chosen from the data
  /// a task's files, which are read; empty: those with its default name
  std::string path = {};
  std::string target;                    ///< the column of a recording to predict; empty: all
  std::vector<std::string> future = {};  ///< columns that are known for later rows
  std::filesystem::path base;            ///< the folder to which the experiment's paths are relative
};

/// The commented text of an experiment with sizes that suit the data. `lagtape check` accepts it, except for a
/// task's files that the user has yet to download: a recording is read and checked. Throws InputError, with the
/// reason if a recording passes no check.
std::string starting_experiment(const StartingPoint& start);

}  // namespace lagtape
