#pragma once

#include <filesystem>
#include <unordered_map>
#include <vector>

#include "lagtape/data/series/column_uses.h"
#include "lagtape/data/series/future_files.h"
#include "lagtape/data/table/named_table.h"

namespace lagtape {

/// The rows of a file in the order of their times, and after them the rows of a second file with inputs that are known
/// ahead. Columns that the second file lacks are empty there, and so are the targets.
class CsvSource {
 public:
  /// `future`: null where there is no second file.
  CsvSource(const SeriesOptions& options, const std::filesystem::path& path, const FutureFiles* future);

  const SeriesOptions& options;
  NamedTable table;
  ColumnUses uses = {};
  std::vector<std::int64_t> order = {};  ///< rows of the files; empty: as they are
  /// By row of the files: others of the same time, of which the mean is taken.
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> alike = {};
  /// The names of the series in the order of their first rows, and for each row of the files the number of its series;
  /// empty: one series.
  std::vector<std::vector<std::string>> ids = {};
  std::vector<std::int32_t> series = {};
  std::string future_format = {};  ///< the second file's format of times, where it differs
  std::int64_t duplicates = 0;     ///< omitted rows, whose times other rows have

  std::int64_t rows() const { return order.empty() ? all_rows() : std::ssize(order); }
  std::int64_t all_rows() const { return table.rows() + std::ssize(future_.rows); }
  std::string_view cell(std::int64_t row, std::int64_t column) const {
    return cell_in_file(in_file(row), column);
  }
  /// The cell of a row by its number in the files.
  std::string_view cell_in_file(std::int64_t row, std::int64_t column) const {
    return row < table.rows() ? table.cell(row, column) : future_cell(row, column);
  }
  std::int64_t in_file(std::int64_t row) const {
    return order.empty() ? row : order[static_cast<std::size_t>(row)];
  }
  /// The number of the series of a row.
  std::int32_t series_of(std::int64_t row) const {
    return series.empty() ? 0 : series[static_cast<std::size_t>(in_file(row))];
  }
  /// The numbers of a column, by row, where they are in memory; empty where they are read from cells.
  GivenColumn::Numbers numbers(std::int64_t column) const;
  Place place(std::int64_t row, std::int64_t column) const;
  std::int64_t line(std::int64_t row) const;
  /// Notes on the second file: parts that are not read, and how others are, where a user may not expect it.
  /// For rows in their order.
  std::vector<std::string> notes_of_future() const;
  /// Omits rows of the second file, by their place among the remaining ones.
  void leave_out_future(const std::vector<std::int64_t>& places);
  /// The number of a column in a key of the data, by its name or number.
  std::int64_t column(const Json& entry, const std::string& key) const;
  /// The columns of a time: none, one, or a date and a time of day. The name "" is that of the first column, if that has dates and no
  /// name.
  std::vector<std::int64_t> time_columns() const;
  /// The numbers of the columns that name series; of a .tsf file the first one, if the options name none.
  std::vector<std::int64_t> series_columns() const;
  /// Whether all columns are read except the first one, the index that pandas writes.
  bool leaves_out_index() const { return options.reads_all() && table.has_index(); }

 private:
  void find_future_columns();
  std::string_view future_cell(std::int64_t row, std::int64_t column) const;

  /// The row in the second file of a row after those of the first file.
  std::int64_t row_in_future(std::int64_t row) const {
    return future_.rows[static_cast<std::size_t>(row - table.rows())];
  }

  FutureRows future_ = {};
  std::vector<std::int64_t> future_columns_ =
      {};  ///< the column of the second file for each of the first, or -1
};

}  // namespace lagtape
