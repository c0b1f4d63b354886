#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lagtape {

/// What a user who begins has: data and a wish.
struct StartingPoint {
  std::string data;  ///< the name of a task, or a recording of the user's own (.csv)
  std::string cell = "tau_gru";
  std::int64_t units = 0;  ///< 0: chosen by the data
  std::string path = {};   ///< the files of a task, which are looked at; empty: its name stands for them
  std::string target;      ///< the column of a recording that is to be predicted; empty: all of them
  std::vector<std::string> future = {};  ///< columns that are known for later rows
  std::filesystem::path base;            ///< the folder at which relative paths of the experiment begin
};

/// The text of an experiment with sizes that suit the data, commented. `lagtape check` accepts it, but for files of a task
/// that the user has yet to fetch: a recording is read and checked. Throws InputError, and says for a recording that passes
/// no check why not.
std::string starting_experiment(const StartingPoint& start);

}  // namespace lagtape
