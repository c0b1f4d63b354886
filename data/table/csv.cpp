#include "lagtape/data/table/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/table/named_table.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/time_format.h"

namespace lagtape {

namespace {

double finite_number_in(std::string_view cell, const NamedTable& table, std::int64_t row,
                        std::int64_t column) {
  const std::optional<double> value = parse_number(cell);
  if (value && std::isfinite(*value)) return *value;
  const bool other_separator = cell.find_first_of(";\t") != std::string_view::npos;
  throw InputError(Problem{.place = table.place(row, column),
                           .rule = Rule::wrong_type,
                           .found = cell.empty() ? "nothing" : quote(cell),
                           .expected = "a finite number",
                           .hint = other_separator ? "Commas separate columns." : ""});
}

}  // namespace

Csv parse_csv(std::string text, const std::string& where, const std::vector<std::string>& wanted,
              const std::string& wanted_by) {
  TextTable cells(std::move(text), where, ',');
  TableHead head = plain_head(cells, ".");
  const NamedTable table(std::move(cells), where, std::move(head));
  Csv csv{.header = table.names(), .values = {}};
  std::vector<std::int64_t> columns;
  if (!csv.header.empty() && !wanted.empty()) {
    csv.header = wanted;
    for (const std::string& name : wanted) columns.push_back(table.column(name, {.item = wanted_by}));
  } else {
    for (std::int64_t i = 0; i < table.columns(); ++i) columns.push_back(i);
  }
  csv.values = Tensor({table.rows(), std::ssize(columns)}, Dtype::f64);
  double* to = csv.values.values<double>().data();
  for (std::int64_t row = 0; row < table.rows(); ++row)
    for (const std::int64_t column : columns)
      *to++ = finite_number_in(table.cell(row, column), table, row, column);
  return csv;
}

Csv read_csv(const std::filesystem::path& path) { return parse_csv(read_file(path), path.string()); }

std::string serialize_csv(const Csv& csv) {
  const Tensor& values = csv.values;
  if (values.rank() != 2 || values.numel() == 0) {
    throw InputError({.op = "csv"}, Rule::shape, "values are [rows, columns]", to_string(values.shape()));
  }
  const std::int64_t columns = values.size(1);
  if (!csv.header.empty() && static_cast<std::int64_t>(csv.header.size()) != columns) {
    throw InputError({.op = "csv"}, Rule::shape, "a name a column",
                     text_of(csv.header.size(), " for ", to_string(values.shape())));
  }
  if (!csv.header.empty() && std::ranges::all_of(csv.header, is_missing))
    throw InputError({.op = "csv"}, Rule::conflict, "some name is more than a sign of a missing number",
                     text_of(listed(csv.header)));
  std::string text;
  for (std::size_t i = 0; i < csv.header.size(); ++i) {
    const std::string& name = csv.header[i];
    const bool is_trimmed = name.empty() || (name.find_first_not_of(" \t") == 0 &&
                                             name.find_last_not_of(" \t") + 1 == name.size());
    if (name.find_first_of(",\"\r\n") != std::string::npos || !is_trimmed || parse_number(name) ||
        read_time(name)) {
      throw InputError({.op = "csv"}, Rule::syntax,
                       "a name has no comma, quote or line break, and is neither a number nor a time",
                       quote(name));
    }
    text += text_of(i ? "," : "", name);
  }
  if (!csv.header.empty()) text += '\n';
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    if (!std::isfinite(values.at(i))) {
      throw InputError({.op = "csv"}, Rule::not_finite, "numbers are finite",
                       text_of(values.at(i), " in row ", i / columns + 1, ", column ", i % columns + 1));
    }
    text += csv_cell(values, i);
    text += (i + 1) % columns == 0 ? '\n' : ',';
  }
  return text;
}

void write_csv(const std::filesystem::path& path, const Csv& csv) {
  write_file_atomically(path, serialize_csv(csv));
}

std::string csv_cell(std::string_view text) {
  // A spreadsheet interprets an unquoted text that starts like this as a formula, unless it is a number.
  const bool is_formula = !text.empty() &&
                          std::string_view("=+-@").find(text.front()) != std::string_view::npos &&
                          text.find_first_not_of("0123456789.eE+-") != std::string_view::npos;
  if (!is_formula && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted(1, '"');
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  quoted += '"';
  return quoted;
}

std::string csv_cell(const Tensor& numbers, std::int64_t index) {
  char text[32];
  return with_scalar(numbers.dtype(), [&]<class T>() {
    return std::string(text, std::to_chars(text, text + sizeof(text), numbers.values<T>()[index]).ptr);
  });
}

}  // namespace lagtape
