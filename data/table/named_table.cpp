#include "lagtape/data/table/named_table.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/time_format.h"

namespace lagtape {

NamedTable::NamedTable(TextTable cells, std::string where, std::string_view decimals)
    : cells_(std::move(cells)), where_(std::move(where)) {
  const std::vector<std::string_view> row = cells_.row(0);
  const auto is_value = [&](std::string_view cell) {
    return std::ranges::any_of(decimals,
                               [&](char decimal) { return parse_number(cell, decimal).has_value(); }) ||
           read_time(cell).has_value();
  };
  if (!std::ranges::all_of(row, is_missing) && std::ranges::none_of(row, is_value)) {
    names_.assign(row.begin(), row.end());
    first_ = 1;
  }
  for (std::int64_t i = 0; i < std::ssize(names_); ++i)
    if (const auto [known, fresh] = places_.emplace(names_[static_cast<std::size_t>(i)], i); !fresh)
      known->second = -1;
  if (rows() == 0) throw InputError({where_}, Rule::missing, "contains names and no numbers.");
}

std::int64_t NamedTable::column(const std::string& name, const std::string& wanted_by) const {
  const std::string where = text_of(where_, wanted_by.empty() ? "" : ": ", wanted_by);
  if (names_.empty())
    throw InputError({where}, Rule::missing, "its columns have no names", text_of("\"", name, "\""));
  const auto known = places_.find(name);
  if (known == places_.end()) throw InputError(unknown_name("column", name, names_).within({where}));
  if (known->second < 0)
    throw InputError({where}, Rule::conflict, text_of("has several columns ", quote(name), "."));
  return known->second;
}

std::string NamedTable::name_of(std::int64_t column) const {
  return names_.empty() ? text_of("column ", column) : names_[static_cast<std::size_t>(column)];
}

Place NamedTable::place(std::int64_t row, std::int64_t column) const {
  return {
      .file = where_, .line = line(row), .column = column + 1, .item = names_.empty() ? "" : name_of(column)};
}

}  // namespace lagtape
