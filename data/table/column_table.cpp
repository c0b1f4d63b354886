#include "lagtape/data/table/column_table.h"

#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {

ColumnTable::ColumnTable(std::vector<GivenColumn> columns)
    : columns_(std::move(columns)), written_(columns_.size()) {
  for (const GivenColumn& column : columns_)
    if (column.rows != rows())
      throw InputError({.item = text_of("column '", column.name, "'")}, Rule::shape,
                       text_of("expected ", rows(), " rows, as the columns before it have"),
                       text_of(column.rows));
}

std::vector<std::string> ColumnTable::names() const {
  std::vector<std::string> names;
  for (const GivenColumn& column : columns_) names.push_back(column.name);
  return names;
}

const GivenColumn::Numbers* ColumnTable::numbers(std::int64_t column) const {
  const GivenColumn& found = columns_[static_cast<std::size_t>(column)];
  return found.number ? &found.number : nullptr;
}

std::string_view ColumnTable::cell(std::int64_t row, std::int64_t column) const {
  const GivenColumn& found = columns_[static_cast<std::size_t>(column)];
  if (!found.number) return found.texts[static_cast<std::size_t>(row)];
  std::vector<std::string>& written = written_[static_cast<std::size_t>(column)];
  for (std::int64_t next = std::ssize(written); next < found.rows; ++next)
    written.push_back(found.write(next));
  return written[static_cast<std::size_t>(row)];
}

}  // namespace lagtape
