#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lagtape/core/problem.h"
#include "lagtape/data/table/column_table.h"
#include "lagtape/data/table/table_head.h"
#include "lagtape/data/table/table_options.h"
#include "lagtape/data/table/text_table.h"

namespace lagtape {

/// A table whose columns may have names.
class NamedTable {
 public:
  /// `where` starts messages. Throws InputError for a table with only names.
  NamedTable(TextTable cells, std::string where, TableHead head);
  /// A table in memory with these names.
  NamedTable(std::shared_ptr<const ColumnTable> given, std::string where);

  std::int64_t rows() const { return given_ ? given_->rows() : cells_->rows() - head_.first; }
  std::int64_t columns() const { return head_.columns; }
  const std::vector<std::string>& names() const { return head_.names; }  ///< empty: columns have no names
  /// Notes about how the file was read, if a user may not expect it, one sentence each.
  const std::vector<std::string>& notes() const { return head_.notes; }
  const std::string& where() const { return where_; }
  char separator() const { return given_ ? ',' : cells_->separator(); }
  /// The line in the file; for a table in memory, the line that it would have in a file.
  std::int64_t line(std::int64_t row) const { return given_ ? row + 2 : cells_->line(row + head_.first); }
  std::string_view cell(std::int64_t row, std::int64_t column) const {
    return given_ ? given_->cell(row, column) : cells_->cell(row + head_.first, column);
  }
  /// The numbers of a numeric column in memory; null: its cells are texts.
  const GivenColumn::Numbers* numbers(std::int64_t column) const {
    return given_ ? given_->numbers(column) : nullptr;
  }

  bool has_blanks_around(std::int64_t row, std::int64_t column) const {
    return cells_ && cells_->has_blanks_around(row + head_.first, column);
  }

  /// The number of a column, given its name. Throws InputError with the nearest name, and with the setting or
  /// command-line part that contains it.
  std::int64_t column(const std::string& name, Place named_by = {}) const;
  /// The name of a column, or "column 2".
  std::string name_of(std::int64_t column) const;
  /// The names of columns, each followed by its unit.
  std::vector<std::string> names_with_units(const std::vector<std::int64_t>& columns) const;
  /// Whether the first column has no name and counts the rows, as the index that pandas writes.
  bool has_index() const;
  /// The unit of a column, from a row of units, or "".
  std::string unit(std::int64_t column) const {
    return head_.units.empty() ? "" : head_.units[static_cast<std::size_t>(column)];
  }
  /// "own.csv: line 3, column 2 (load)".
  Place place(std::int64_t row, std::int64_t column) const;

 private:
  void find_places();

  std::optional<TextTable> cells_ = {};  ///< of a text
  std::shared_ptr<const ColumnTable> given_ = {};
  std::string where_;
  TableHead head_;
  std::unordered_map<std::string, std::int64_t> places_;  ///< by name: the column; -1: several have that name
};

/// The table in a UTF-8 text, which may have other lines above it. `decode_notes` become notes of the table.
/// Throws InputError "WHERE: ...".
NamedTable parse_table(std::string text, const std::string& where, const TableOptions& options,
                       std::vector<std::string> decode_notes = {});

}  // namespace lagtape
