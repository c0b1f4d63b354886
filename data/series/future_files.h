#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lagtape/data/series/panel.h"
#include "lagtape/data/table/named_table.h"

namespace lagtape {

/// Rows of a table that follow those of a recording, with the inputs that are known ahead.
struct FutureRows {
  std::shared_ptr<const NamedTable> table;
  std::vector<std::int64_t> rows = {};
};

/// The rows that follow one or several recordings: in one file, which names the series of each row, or in a file for
/// each, with the recording's name.
class FutureFiles {
 public:
  /// Reads the files, which are for one recording each where there are several, or `are_paired`. Where recordings are series without a column that names them, the column "series" of one file has the
  /// names of theirs. Throws InputError where the recording of the rows is unknown.
  FutureFiles(const SeriesOptions& options, const std::vector<std::filesystem::path>& files,
              const std::vector<std::filesystem::path>& recordings, bool are_paired);

  /// The rows of a recording; with a column of series they may be of other series too. None where there is no file for
  /// it.
  std::optional<FutureRows> rows_of(const NamedTable& recording) const;
  /// Throws InputError for a row of a series that is not among those of all recordings.
  void check_names(const std::vector<Panel>& recordings) const;

 private:
  const SeriesOptions& options_;
  std::vector<std::shared_ptr<const NamedTable>> tables_ = {};
  std::vector<std::string> names_ = {};  ///< of the files, where each is for one recording
  /// By the name of a recording: the rows of the only file. Empty unless the file names recordings.
  std::unordered_map<std::string, std::vector<std::int64_t>> by_name_ = {};
};

}  // namespace lagtape
