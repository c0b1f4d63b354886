#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lagtape/tools/table/run.h"

namespace lagtape::table {

/// A file of runs that ended, a JSON object a line, so that a table can grow over days and machines when the
/// folders of its runs are gone:
///     {"model": "lem", "seed": 0, "experiment": "5f0c...", "state": "done", "metric": "rmse",
///      "value": 0.00115, "params": 1233, "seconds": 21.5, "date": "2026-11-20", "machine": "...",
///      "version": "0.1.0", "arithmetic": 2}
/// An experiment is known by a number of what is in its file (see `experiment_number`); runs of one that was
/// changed since are kept, and have no part in the table. Several tables may add to one file at once.
class Results {
 public:
  /// A file that is not there is empty, but its folder must be. Throws InputError that names the line.
  explicit Results(std::filesystem::path file);

  /// Gives the runs that have not ended in their folders the end they have here.
  void fill(std::vector<Run>& runs, const PaperTable& table) const;
  /// How many it has of the models of these runs, of experiments or seeds that are not theirs.
  std::int64_t others(const std::vector<Run>& runs, const PaperTable& table) const;
  /// Takes in the runs that are done or diverged and not here yet, and writes the file if there were any
  /// or it is not there yet.
  void add(const std::vector<Run>& runs, const PaperTable& table);

 private:
  /// Model, seed, experiment, and metric: none of a run that diverged.
  using Key = std::tuple<std::string, std::int64_t, std::string, std::string>;
  struct Entry {
    RunState state = RunState::done;
    double value = 0, seconds = 0;
    std::int64_t params = 0, arithmetic = 0;
    std::string date, machine, version, message;
  };
  static Key key_of(const Run& run, const PaperTable& table, RunState state);
  static std::string line_of(const Key& key, const Entry& entry);
  void read();
  void read_line(const std::string& line, const std::string& where);

  std::filesystem::path file_;
  std::map<Key, Entry> entries_;
};

}  // namespace lagtape::table
