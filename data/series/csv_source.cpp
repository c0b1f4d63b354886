#include "lagtape/data/series/csv_source.h"

#include <algorithm>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/data/formats/table_file.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/time_format.h"

namespace lagtape {

CsvSource::CsvSource(const SeriesOptions& given, const std::filesystem::path& path, const FutureFiles* future)
    : options(given), table(read_table_file(path, given.table)) {
  std::vector<std::int64_t> apart = time_columns();
  for (const std::int64_t column : series_columns()) apart.push_back(column);
  if (leaves_out_index()) apart.push_back(0);
  uses = column_uses(
      options, table.columns(), apart,
      [&](const Json& entry, const std::string& key) { return column(entry, key); }, table.where());
  for (const auto& [name, codes] : options.table.codes_by_column)
    table.column(name, {.pointer = "/data/missing_codes"});
  if (future == nullptr) return;
  if (auto rows = future->rows_of(table)) {
    future_ = *std::move(rows);
    find_future_columns();
  }
}

void CsvSource::find_future_columns() {
  const std::vector<std::string>& names = future_.table->names();
  if (names.empty() != table.names().empty())
    throw InputError({future_.table->where()}, Rule::shape,
                     text_of(names.empty() ? "its columns have no names, unlike those of "
                                           : "its columns have names, unlike those of ",
                             table.where(), "."));
  for (std::int64_t i = 0; i < table.columns(); ++i) {
    const auto found = std::ranges::find(names, table.name_of(i)) - names.begin();
    const std::int64_t there = names.empty() ? i : found;
    future_columns_.push_back(there < future_.table->columns() && !uses.is_target(i) ? there : -1);
  }
  const auto need = [&](std::int64_t column, const char* role) {
    if (future_columns_[static_cast<std::size_t>(column)] < 0)
      throw InputError({future_.table->where()}, Rule::missing,
                       text_of("has no column \"", table.name_of(column), "\", which ", table.where(),
                               " has as ", role, "."));
  };
  for (const std::int64_t column : time_columns()) need(column, "its \"time\"");
  for (const std::int64_t column : series_columns()) need(column, "its \"series\"");
  if (options.future.is_array())
    for (const Json& entry : options.future) need(column(entry, "future"), "a \"future\" input");
}

std::vector<std::int64_t> CsvSource::time_columns() const {
  std::vector<std::int64_t> columns;
  for (const std::string& name : options.time)
    if (!name.empty()) columns.push_back(table.column(name, {.pointer = "/data/time"}));
  if (options.time.size() != 1 || !options.time.front().empty()) return columns;
  const bool is_unnamed = !table.names().empty() && table.names().front().empty();
  if (is_unnamed && (!options.time_format.empty() || read_time(table.cell(0, 0)))) return {0};
  if (!options.calendar.empty())
    throw InputError({table.where()}, Rule::missing,
                     "\"time\": \"\" is a first column with dates and without a name, and there is none.");
  return {};
}

std::vector<std::int64_t> CsvSource::series_columns() const {
  std::vector<std::int64_t> columns;
  for (const std::string& name : options.series)
    columns.push_back(table.column(name, {.pointer = "/data/series"}));
  if (columns.empty() && is_tsf_file(table.where())) columns = {0};
  return columns;
}

GivenColumn::Numbers CsvSource::numbers(std::int64_t column) const {
  const GivenColumn::Numbers* known = table.numbers(column);
  if (known == nullptr) return {};
  if (!future_.table) return [this, known](std::int64_t row) { return (*known)(in_file(row)); };
  const std::int64_t there = future_columns_[static_cast<std::size_t>(column)];
  const GivenColumn::Numbers* later = there < 0 ? nullptr : future_.table->numbers(there);
  if (there >= 0 && later == nullptr) return {};
  return [this, known, later](std::int64_t row) {
    const std::int64_t at = in_file(row);
    if (at < table.rows()) return (*known)(at);
    return later != nullptr ? (*later)(row_in_future(at)) : std::numeric_limits<double>::quiet_NaN();
  };
}

std::string_view CsvSource::future_cell(std::int64_t row, std::int64_t column) const {
  const std::int64_t there = future_columns_[static_cast<std::size_t>(column)];
  return there < 0 ? std::string_view() : future_.table->cell(row_in_future(row), there);
}

Place CsvSource::place(std::int64_t row, std::int64_t column) const {
  const std::int64_t at = in_file(row);
  if (at < table.rows()) return table.place(at, column);
  return future_.table->place(row_in_future(at),
                              std::max<std::int64_t>(future_columns_[static_cast<std::size_t>(column)], 0));
}

std::int64_t CsvSource::line(std::int64_t row) const {
  const std::int64_t at = in_file(row);
  return at < table.rows() ? table.line(at) : future_.table->line(row_in_future(at));
}

std::vector<std::string> CsvSource::notes_of_future() const {
  std::vector<std::string> notes;
  if (future_.rows.empty()) return notes;
  const NamedTable& later = *future_.table;
  std::vector<std::int64_t> kept;  // rows of the second file
  for (std::int64_t row = order.empty() ? table.rows() : 0; row < rows(); ++row)
    if (in_file(row) >= table.rows()) kept.push_back(row_in_future(in_file(row)));
  if (const std::int64_t left_out = std::ssize(future_.rows) - std::ssize(kept); left_out > 0)
    notes.push_back(text_of(later.where(), ": ", left_out, left_out == 1 ? " row is" : " rows are",
                            " not after the last one of ", table.where(), ": left out"));
  if (!future_format.empty())
    notes.push_back(text_of(later.where(), ": its times are read as ", future_format));
  for (const std::int64_t target : uses.targets) {
    const auto place = std::ranges::find(later.names(), table.name_of(target)) - later.names().begin();
    const std::int64_t there = later.names().empty() ? target : place;
    if (there < later.columns() &&
        std::ranges::any_of(kept, [&](std::int64_t row) { return !is_missing(later.cell(row, there)); }))
      notes.push_back(text_of(later.where(), ": the values of ", table.name_of(target),
                              " are not read, as a forecast predicts them; rows of which they are known are "
                              "to be added to ",
                              table.where()));
  }
  return notes;
}

void CsvSource::leave_out_future(const std::vector<std::int64_t>& places) {
  auto left_out = places.begin();
  std::int64_t place = 0;
  std::erase_if(future_.rows, [&](std::int64_t) {
    const bool is_left_out = left_out != places.end() && *left_out == place;
    ++place;
    if (is_left_out) ++left_out;
    return is_left_out;
  });
}

std::int64_t CsvSource::column(const Json& entry, const std::string& key) const {
  const Place place{.file = table.where(), .pointer = "/data/" + key};
  if (entry.is_string()) return table.column(entry.get<std::string>(), place);
  const auto number = entry.get<std::int64_t>();
  if (number < table.columns()) return number;
  throw InputError(place, Rule::shape, text_of("columns are 0..", table.columns() - 1), text_of(number));
}

}  // namespace lagtape
