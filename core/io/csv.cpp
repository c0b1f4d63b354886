#include "lagtape/core/io/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t start = 0;;) {
    const std::size_t comma = line.find(',', start);
    fields.push_back(trim(line.substr(start, comma - start)));
    if (comma == std::string_view::npos) return fields;
    start = comma + 1;
  }
}

/// The value of a field that is written as a number, even an infinite one or NaN.
std::optional<double> number_in(std::string_view field) {
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (field.empty() || end != field.data() + field.size() || error == std::errc::invalid_argument) return {};
  return error == std::errc::result_out_of_range ? std::nan("") : value;
}

double finite_number_in(std::string_view field, const std::string& place) {
  const std::optional<double> value = number_in(field);
  if (value && std::isfinite(*value)) return *value;
  const std::string got = quote(field);
  const bool other_separator = field.find_first_of(";\t") != std::string_view::npos;
  throw InputError(text_of(place, ": expected a finite number, got ", field.empty() ? "nothing" : got,
                           other_separator ? "; commas separate columns" : ""));
}

std::string shortest(const Tensor& values, std::int64_t index) {
  char text[32];
  return with_scalar(values.dtype(), [&]<class T>() {
    const auto [end, error] = std::to_chars(text, text + sizeof(text), values.values<T>()[index]);
    return std::string(text, end);
  });
}

}  // namespace

Csv parse_csv(std::string_view text, const std::string& where) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Csv csv;
  std::vector<double> numbers;
  std::size_t columns = 0;
  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    const std::size_t newline = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(std::min(newline + 1, text.size()));
    if (trim(line).empty()) continue;

    const std::string place = text_of(where, ": line ", line_number);
    const std::vector<std::string_view> fields = fields_of(line);
    if (columns == 0) {
      columns = fields.size();
      if (std::ranges::none_of(fields, [](std::string_view field) { return number_in(field).has_value(); })) {
        csv.header.assign(fields.begin(), fields.end());
        continue;
      }
    }
    if (fields.size() != columns) {
      throw InputError(
          text_of(place, ": expected ", columns, " numbers as in the lines before, got ", fields.size()));
    }
    for (std::size_t i = 0; i < columns; ++i) {
      numbers.push_back(finite_number_in(fields[i], text_of(place, ", column ", i + 1)));
    }
  }
  if (numbers.empty()) throw InputError(text_of(where, ": no numbers"));
  const auto rows = static_cast<std::int64_t>(numbers.size() / columns);
  csv.values = Tensor::from({rows, static_cast<std::int64_t>(columns)}, numbers, Dtype::f64);
  return csv;
}

Csv read_csv(const std::filesystem::path& path) { return parse_csv(read_file(path), path.string()); }

std::int64_t column_named(const std::string& name, const std::vector<std::string>& header,
                          const std::string& where) {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) throw InputError(text_of(where, ": ", unknown_name("column", name, header)));
  if (std::find(found + 1, header.end(), name) != header.end())
    throw InputError(text_of(where, ": has several columns ", quote(name), "."));
  return found - header.begin();
}

std::string serialize_csv(const Csv& csv) {
  const Tensor& values = csv.values;
  if (values.rank() != 2 || values.numel() == 0) {
    throw InputError(text_of("[csv] values are [rows, columns]. Got ", to_string(values.shape())));
  }
  const std::int64_t columns = values.size(1);
  if (!csv.header.empty() && static_cast<std::int64_t>(csv.header.size()) != columns) {
    throw InputError(
        text_of("[csv] a name a column. Got ", csv.header.size(), " for ", to_string(values.shape())));
  }
  std::string text;
  for (std::size_t i = 0; i < csv.header.size(); ++i) {
    const std::string& name = csv.header[i];
    if (name.find_first_of(",\r\n") != std::string::npos || trim(name) != name || number_in(name)) {
      throw InputError(
          text_of("[csv] a name has no comma, no line break and is no number. Got ", quote(name)));
    }
    text += text_of(i ? "," : "", name);
  }
  if (!csv.header.empty()) text += '\n';
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    if (!std::isfinite(values.at(i))) {
      throw InputError(text_of("[csv] numbers are finite. Got ", values.at(i), " in row ", i / columns + 1,
                               ", column ", i % columns + 1));
    }
    text += shortest(values, i);
    text += (i + 1) % columns == 0 ? '\n' : ',';
  }
  return text;
}

void write_csv(const std::filesystem::path& path, const Csv& csv) {
  write_file_atomically(path, serialize_csv(csv));
}

}  // namespace lagtape
