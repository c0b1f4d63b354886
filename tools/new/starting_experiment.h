#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lagtape {

/// The input of a beginner: data and a goal.
struct StartingPoint {
  std::string data;  ///< the name of a task, or a recording of the user's own (.csv)
  std::string cell = "tau_gru";
  std::int64_t units = 0;                ///< 0: chosen by the data
  std::string path = {};                 ///< the files of a task, which are read; empty: those of its name
  std::string target;                    ///< the column of a recording to predict; empty: all
  std::vector<std::string> future = {};  ///< columns that are known for later rows
  std::filesystem::path base;            ///< the folder at which relative paths of the experiment begin
};

/// The text of an experiment with sizes that suit the data, commented. `lagtape check` accepts it, except for files of
/// a task that the user has yet to fetch: a recording is read and checked. Throws InputError, with the reason if a
/// recording passes no check.
std::string starting_experiment(const StartingPoint& start);

}  // namespace lagtape
