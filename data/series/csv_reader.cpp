#include "lagtape/data/series/csv_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "lagtape/core/error.h"
#include "lagtape/core/io/csv.h"
#include "lagtape/core/io/file.h"
#include "lagtape/data/series/fill.h"
#include "lagtape/data/series/time_stamp.h"

namespace lagtape {

namespace {

std::optional<double> number_in(std::string_view cell, char decimal) {
  std::string text(cell);
  if (text.starts_with('+') && !text.starts_with("+-")) text.erase(0, 1);
  if (decimal != '.') {
    if (text.find('.') != std::string::npos) return {};
    std::ranges::replace(text, decimal, '.');
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// Whether a text is a number with separators of thousands, such as 1,000.50, 1 000 or 1'000.
bool has_thousands(std::string_view text, char decimal) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == decimal || std::string_view(",. '").find(c) == std::string_view::npos) {
      plain += c;
      continue;
    }
    const std::string_view group = text.substr(i + 1, 4);  // three digits, and what follows them
    const auto digits = std::ranges::find_if_not(group, is_digit) - group.begin();
    if (plain.empty() || digits != 3) return false;
  }
  return plain.size() < text.size() && number_in(plain, decimal);
}

}  // namespace

CsvReader::CsvReader(const SeriesOptions& options, const std::filesystem::path& path)
    : options_(options),
      where_(path.string()),
      table_(parse_text_table(read_file(path), where_, options.separator, options.decimal)) {
  const auto row = std::span(table_.cells).first(static_cast<std::size_t>(table_.columns));
  const bool has_names = std::ranges::any_of(row, [](auto cell) { return !is_missing(cell); }) &&
                         std::ranges::none_of(row, [&](auto cell) {
                           return number_in(cell, options.decimal) || parse_time(cell);
                         });
  if (has_names) names_.assign(row.begin(), row.end());
  first_ = has_names ? 1 : 0;
  for (std::int64_t i = 0; i < std::ssize(names_); ++i)
    if (const auto [known, fresh] = places_.emplace(names_[static_cast<std::size_t>(i)], i); !fresh)
      known->second = -1;
  if (rows() == 0) throw InputError(text_of(where_, ": contains names and no numbers."));
}

std::int64_t CsvReader::column(const Json& entry) const {
  if (entry.is_string()) {
    if (names_.empty())
      throw InputError(text_of(where_, ": its columns have no names. Got ", entry.dump(), "."));
    const auto name = entry.get<std::string>();
    const auto known = places_.find(name);
    return known != places_.end() && known->second >= 0 ? known->second : column_named(name, names_, where_);
  }
  const auto number = entry.get<std::int64_t>();
  if (number >= columns())
    throw InputError(text_of(where_, ": columns are 0..", columns() - 1, ". Got ", number, "."));
  return number;
}

bool CsvReader::is_date(std::int64_t row, std::int64_t column) const {
  return !number_in(cell(row, column), '.');
}

std::string CsvReader::place(std::int64_t row, std::int64_t column) const {
  const std::string name = names_.empty() ? "" : text_of(" (", names_[static_cast<std::size_t>(column)], ")");
  return text_of(where_, ": line ", line(row), ", column ", column + 1, name);
}

CsvReader::Column CsvReader::numbers(std::int64_t column) const {
  Column values;
  values.reserve(static_cast<std::size_t>(rows()));
  for (std::int64_t row = 0; row < rows(); ++row) {
    const std::string_view text = cell(row, column);
    const std::optional<double> value = number_in(text, options_.decimal);
    if (value && std::isfinite(*value)) {
      values.push_back(*value);
    } else if (is_missing(text)) {
      values.push_back(std::numeric_limits<double>::quiet_NaN());
    } else {
      refuse(row, column, text);
    }
  }
  return values;
}

CsvReader::Column CsvReader::times() const {
  const std::int64_t column = this->column(options_.time);
  Column values;
  for (std::int64_t row = 0; row < rows(); ++row) {
    const std::optional<double> time = parse_time(cell(row, column));
    if (!time || std::abs(*time) > kLatestTime) {
      throw InputError(text_of(place(row, column),
                               ": expected a date such as 2024-01-31 13:00, or seconds since ", "1970. Got '",
                               cell(row, column).substr(0, 40), "'."));
    }
    values.push_back(*time);
  }
  return values;
}

void CsvReader::refuse(std::int64_t row, std::int64_t column, std::string_view text) const {
  std::string hint;
  const auto is_this = [&](const Json& entry) { return CsvReader::column(entry) == column; };
  if (number_in(text, options_.decimal)) {
    hint = R"( A cell without a measurement is left empty, and "missing" says what takes its place.)";
  } else if (has_thousands(text, options_.decimal)) {
    hint = " Write thousands without separators.";
    if (options_.decimal == '.' && number_in(text, ','))
      hint += R"( If the comma is a decimal point: "decimal": ",".)";
  } else if (options_.decimal == '.' && number_in(text, ',')) {
    hint = R"( With "decimal": "," commas are decimal points.)";
  } else if (options_.decimal != '.' && number_in(text, '.')) {
    hint = R"( Without "decimal": "," points are decimal points.)";
  } else if (options_.target.is_array() && std::ranges::any_of(options_.target, is_this)) {
    hint = R"( The targets of a recording are numbers; classes are learnt by the task "arrays".)";
  } else if (options_.input.is_null()) {
    hint = R"( Name the columns to read in "input"; all others are ignored.)";
  } else if (!names_.empty()) {
    hint = R"( Columns of words are named in "categories".)";
  }
  throw InputError(
      text_of(place(row, column), ": expected a finite number, got '", text.substr(0, 40), "'.", hint));
}

}  // namespace lagtape
