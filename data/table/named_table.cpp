#include "lagtape/data/table/named_table.h"

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/table/table_start.h"

namespace lagtape {

NamedTable::NamedTable(TextTable cells, std::string where, TableHead head)
    : cells_(std::move(cells)), where_(std::move(where)), head_(std::move(head)) {
  find_places();
}

NamedTable::NamedTable(std::shared_ptr<const ColumnTable> given, std::string where)
    : given_(std::move(given)), where_(std::move(where)), head_(head_of(given_->names())) {
  find_places();
}

void NamedTable::find_places() {
  for (std::int64_t i = 0; i < std::ssize(names()); ++i)
    if (const auto [known, fresh] = places_.emplace(name_of(i), i); !fresh) known->second = -1;
  if (rows() == 0) throw InputError({where_}, Rule::missing, "contains names and no numbers.");
}

std::int64_t NamedTable::column(const std::string& name, Place named_by) const {
  named_by.file = where_;
  if (names().empty())
    throw InputError(named_by, Rule::missing, "its columns have no names", text_of("\"", name, "\""));
  const auto known = places_.find(name);
  if (known == places_.end()) throw InputError(unknown_name("column", name, names()).within(named_by));
  if (known->second < 0)
    throw InputError(named_by, Rule::conflict, text_of("has several columns ", quote(name), "."));
  return known->second;
}

std::vector<std::string> NamedTable::names_with_units(const std::vector<std::int64_t>& columns) const {
  std::vector<std::string> names;
  for (const std::int64_t column : columns) names.push_back(text_of(name_of(column), " ", unit(column)));
  return names;
}

std::string NamedTable::name_of(std::int64_t column) const {
  return names().empty() ? text_of("column ", column) : names()[static_cast<std::size_t>(column)];
}

bool NamedTable::has_index() const {
  if (names().empty() || !names().front().empty() || columns() < 2) return false;
  double before = 0;
  for (std::int64_t row = 0; row < rows(); ++row) {
    const std::optional<double> number = parse_number(cell(row, 0));
    if (!number || (row > 0 && *number != before + 1)) return false;
    before = *number;
  }
  return true;
}

Place NamedTable::place(std::int64_t row, std::int64_t column) const {
  return {.file = where_,
          .line = line(row),
          .column = column + 1,
          .item = names().empty() ? "" : name_of(column)};
}

NamedTable parse_table(std::string text, const std::string& where, const TableOptions& options,
                       std::vector<std::string> decode_notes) {
  std::vector<std::string>& notes = decode_notes;
  const TableStart start = find_table_start(text, options, notes);
  TextTable cells(std::move(text), where, options.separator, options.decimal, start);
  if (cells.comments() > 0)
    notes.push_back(text_of(cells.comments(), cells.comments() == 1 ? " comment" : " comments",
                            " among the rows passed over"));
  if (cells.columns() == 1 && cells.blank_lines() > 0)
    notes.push_back(text_of(cells.blank_lines(), cells.blank_lines() == 1 ? " blank line" : " blank lines",
                            " among the rows passed over. A missing number is \"\" or NA"));
  TableHead head = find_head(cells, ".,", {.where = where, .has_lines_above = options.skip_rows < 0});
  head.notes.insert(head.notes.begin(), notes.begin(), notes.end());
  return {std::move(cells), where, std::move(head)};
}

}  // namespace lagtape
