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

/// Rows of a table that follow a recording's rows, with the inputs that are known ahead.
struct FutureRows {
  std::shared_ptr<const NamedTable> table;
  std::vector<std::int64_t> rows = {};
};

/// The rows that follow one or several recordings: in one file that names each row's series, or in one file per
/// recording, with the recording's name.
class FutureFiles {
 public:
  /// Reads the files, one per recording if there are several recordings or `are_paired`. If recordings are
  /// series without a column that names them, the column "series" of a single file contains their names. Throws
  /// InputError if the recording of the rows is unknown.
  FutureFiles(const SeriesOptions& options, const std::vector<std::filesystem::path>& files,
              const std::vector<std::filesystem::path>& recordings, bool are_paired);

  /// The rows of a recording; with a series column, they may include other series. None if there is no file for
  /// it.
  std::optional<FutureRows> rows_of(const NamedTable& recording) const;
  /// Throws InputError if a row names a series that no recording contains.
  void check_names(const std::vector<Panel>& recordings) const;

 private:
  const SeriesOptions& options_;
  std::vector<std::shared_ptr<const NamedTable>> tables_ = {};
  std::vector<std::string> names_ = {};  ///< of the files, if there is one per recording
  /// By recording name: the rows of the only file. Empty unless the file names recordings.
  std::unordered_map<std::string, std::vector<std::int64_t>> by_name_ = {};
};

}  // namespace lagtape
