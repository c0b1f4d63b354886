#pragma once

#include <filesystem>
#include <unordered_map>
#include <vector>

#include "lagtape/data/series/column_uses.h"
#include "lagtape/data/series/future_files.h"
#include "lagtape/data/table/named_table.h"

namespace lagtape {

/// The rows of a file in time order, followed by the rows of a second file with inputs that are known ahead. In
/// the latter, targets and columns that the second file lacks are empty.
class CsvSource {
 public:
  /// `future`: null if there is no second file.
  CsvSource(const SeriesOptions& options, const std::filesystem::path& path, const FutureFiles* future);

  const SeriesOptions& options;
  NamedTable table;
  ColumnUses uses = {};
  std::vector<std::int64_t> order = {};  ///< rows of the files; empty: in their original order
  /// By row of the files: other rows with the same time, to be averaged.
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> alike = {};
  /// The names of the series in order of first appearance, and for each row of the files the number of its
  /// series; empty: one series.
  std::vector<std::vector<std::string>> ids = {};
  std::vector<std::int32_t> series = {};
  std::string future_format = {};  ///< the second file's time format, if it differs
  std::int64_t duplicates = 0;     ///< omitted rows, whose times duplicate those of other rows

  std::int64_t rows() const { return order.empty() ? all_rows() : std::ssize(order); }
  std::int64_t all_rows() const { return table.rows() + std::ssize(future_.rows); }
  std::string_view cell(std::int64_t row, std::int64_t column) const {
    return cell_in_file(in_file(row), column);
  }
  /// The cell of a row, given its number in the files.
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
  /// The numbers of a column, by row, if they are in memory; empty if they are read from cells.
  GivenColumn::Numbers numbers(std::int64_t column) const;
  Place place(std::int64_t row, std::int64_t column) const;
  std::int64_t line(std::int64_t row) const;
  /// Notes about the second file: parts that are not read, and how others are, if a user may not expect it. For
  /// rows in their order.
  std::vector<std::string> notes_of_future() const;
  /// Omits rows of the second file, given by their positions among the remaining rows.
  void leave_out_future(const std::vector<std::int64_t>& places);
  /// The number of a column in a key of the data, given its name or number.
  std::int64_t column(const Json& entry, const std::string& key) const;
  /// The time columns: none, one, or a date and a time of day. The name "" means the first column, if that
  /// contains dates and has no name.
  std::vector<std::int64_t> time_columns() const;
  /// The numbers of the columns that name series; for a .tsf file the first column, if the options select none.
  std::vector<std::int64_t> series_columns() const;
  /// Whether all columns are read except the first, the index that pandas writes.
  bool leaves_out_index() const { return options.reads_all() && table.has_index(); }

 private:
  void find_future_columns();
  std::string_view future_cell(std::int64_t row, std::int64_t column) const;

  /// The second file's row for a row that comes after those of the first file.
  std::int64_t row_in_future(std::int64_t row) const {
    return future_.rows[static_cast<std::size_t>(row - table.rows())];
  }

  FutureRows future_ = {};
  std::vector<std::int64_t> future_columns_ =
      {};  ///< for each column of the first file, the column of the second, or -1
};

}  // namespace lagtape
