#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lagtape/tools/sweep/table/paper_table.h"

namespace lagtape::table {

/// A file of finished runs, one JSON object per line, so a table can grow over days and machines even if the
/// run folders are gone:
///     {"model": "lem", "seed": 0, "experiment": "5f0c...", "state": "done", "metric": "rmse",
///      "value": 0.00115, "params": 1233, "seconds": 21.5, "date": "2026-11-20", "machine": "...",
///      "version": "0.1.0", "arithmetic": 2}
/// An experiment is identified by a hash of its content (see `experiment_number`). Runs of an experiment that
/// has changed since stay in the file, but not in the table. Several processes may append to one file at once.
class Results {
 public:
  /// A missing file counts as empty, but its folder must exist. Throws InputError with the line.
  explicit Results(std::filesystem::path file);

  /// Completes trials that are not finished in their folders from the entries of this file.
  void fill(std::vector<Trial>& trials, const PaperTable& table) const;
  /// The number of entries for these trials' models that are in no row of the table, by the first difference
  /// from all trials: "2 of other settings (--set), 1 of another seed (--seeds)". Empty if there are none.
  std::string others(const std::vector<Trial>& trials, const PaperTable& table) const;
  /// Adds the trials that are done or diverged and not in the file yet. Writes the file if there are any, or if
  /// it does not exist yet. Throws InputError if a trial's value differs from the file's.
  void add(const std::vector<Trial>& trials, const PaperTable& table);

 private:
  /// Model, seed, experiment, and metric, which is empty for a run that diverged.
  using Key = std::tuple<std::string, std::int64_t, std::string, std::string>;
  static Key key_of(const Trial& trial, const std::string& metric, RunState state);
  /// Throws InputError unless two finished runs have the same value.
  static void require_same(const Key& key, const Trial& here, const Trial& there, const std::string& where,
                           const std::string& elsewhere);
  void read();

  std::filesystem::path file_;
  std::map<Key, Trial> entries_;
};

}  // namespace lagtape::table
