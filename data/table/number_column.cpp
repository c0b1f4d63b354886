#include "lagtape/data/table/number_column.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"
#include "lagtape/data/table/number.h"

namespace lagtape {

namespace {

/// A cell with a unit: its number, and the unit. The number is empty for other texts.
struct NumberWithUnit {
  std::string_view number = {}, unit = {};
};

NumberWithUnit split_unit(std::string_view cell) {
  constexpr std::size_t kLongestUnit = 24;
  constexpr std::string_view kDigits = "0123456789", kOfNumbers = "0123456789.,' \xC2\xA0\xE2\x80\xAF\x99";
  const std::size_t first = cell.find_first_of("0123456789");
  if (first == cell.npos) return {};
  std::size_t begin = first;  // including what belongs to the number before its first digit
  while (begin > 0 && std::string_view("+-.").find(cell[begin - 1]) != std::string_view::npos) --begin;
  if (cell.substr(0, begin).ends_with(kMinusSign)) begin -= kMinusSign.size();
  std::size_t end = std::min(cell.find_first_not_of(kOfNumbers, first), cell.size());
  const std::string_view rest = cell.substr(end);
  if (rest.size() > 1 && (rest[0] == 'e' || rest[0] == 'E')) {
    const std::size_t sign = rest[1] == '-' || rest[1] == '+' ? 2 : 1;
    const std::size_t digits = std::min(rest.find_first_not_of(kDigits, sign), rest.size());
    if (digits > sign) end += digits;
  }
  const std::size_t last = cell.find_last_of(kDigits, end - 1);
  const std::string_view before = trimmed(cell.substr(0, begin)), behind = trimmed(cell.substr(last + 1));
  const std::string_view unit = behind.empty() ? before : behind;
  const bool is_unit = before.empty() != behind.empty() && unit.size() <= kLongestUnit &&
                       unit.find_first_of(":/-.,;0123456789") != 0 && unit.find_first_of("<>~=+(") != 0;
  if (!is_unit) return {};
  return {trimmed(cell.substr(begin, last + 1 - begin)), unit};
}

std::optional<double> finite(std::optional<double> value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// Whether a number with thousands separators is unambiguous: it has two of them or a decimal point.
bool is_sure(std::string_view number, char thousands, char decimal) {
  if (thousands == ' ' || thousands == '\'') return true;
  return std::ranges::count(number, thousands) > 1 || number.find(decimal) != number.npos;
}

/// A thousands separator that may be the column's.
struct ThousandsCandidate {
  char thousands;
  bool fits = true, is_used = false, is_sure = false;
};

/// The style that fits all cells of a column; empty if there is none, and then `refused` is the row that no
/// style fits.
std::optional<NumberStyle> find_style(const ColumnCells& cells, const NamedTable& table,
                                      const TableOptions& options, std::int64_t& refused) {
  NumberStyle style{.decimal = options.decimal};
  std::vector<ThousandsCandidate> candidates;
  for (const char thousands : {',', '.', ' ', '\''})
    if (thousands != options.decimal && (options.thousands == 0 || options.thousands == thousands))
      candidates.push_back({thousands});
  std::int64_t unsure = 0;
  bool is_first = true;
  for (std::int64_t row = 0; row < cells.rows; ++row) {
    std::string_view cell = cells.cell(row);
    if (is_missing(cell)) continue;
    if (options.strip_units) {
      const NumberWithUnit split = split_unit(cell);
      if (is_first) style.unit = split.unit;
      refused = row;
      if (split.unit != style.unit) return {};
      if (!split.unit.empty()) cell = split.number;
      is_first = false;
    }
    if (finite(parse_number(cell, style.decimal))) continue;
    bool fits = false;
    for (ThousandsCandidate& candidate : candidates) {
      const auto plain = without_thousands(cell, candidate.thousands, style.decimal);
      candidate.fits = candidate.fits && plain && finite(parse_number(*plain, style.decimal));
      if (!candidate.fits) continue;
      fits = candidate.is_used = true;
      candidate.is_sure = candidate.is_sure || is_sure(cell, candidate.thousands, style.decimal);
      unsure = row;
    }
    refused = row;
    if (!fits) return {};
  }
  const auto used = std::ranges::find_if(candidates, [](const auto& one) { return one.fits && one.is_used; });
  if (used == candidates.end()) return style;
  style.thousands = used->thousands;
  if (used->is_sure || options.thousands != 0) return style;
  const DecimalVotes votes = count_decimals(table);
  if ((style.decimal == '.' ? votes.points : votes.commas) > 0) return style;
  throw InputError(Problem{
      .place = cells.place(unsure),
      .rule = Rule::conflict,
      .statement = text_of("with ", style.thousands, " as a separator of thousands or as the decimal point ",
                           "this is another number, and no cell decides"),
      .found = quote(cells.cell(unsure), 40),
      .hint = text_of(R"(Write "thousands": ")", style.thousands, R"(" or "decimal": ")", style.thousands,
                      "\".")});
}

}  // namespace

std::optional<double> NumberStyle::read(std::string_view cell,
                                        const std::vector<double>& missing_codes) const {
  if (!unit.empty()) {
    const NumberWithUnit split = split_unit(cell);
    if (split.unit != unit) return {};
    cell = split.number;
  }
  std::optional<double> value = finite(parse_number(cell, decimal));
  if (!value && thousands != 0)
    if (const auto plain = without_thousands(cell, thousands, decimal))
      value = finite(parse_number(*plain, decimal));
  if (value && std::ranges::find(missing_codes, *value) != missing_codes.end())
    value = std::numeric_limits<double>::quiet_NaN();
  return value;
}

NumberColumn read_number_column(std::int64_t rows, const GivenColumn::Numbers& number,
                                const TableOptions& options) {
  NumberColumn result{.values = Tensor({rows}, Dtype::f64), .style = {.decimal = options.decimal}};
  const std::span<double> to = result.values.values<double>();
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto i = static_cast<std::size_t>(row);
    to[i] = number(row);
    const bool is_code = std::ranges::find(options.missing_codes, to[i]) != options.missing_codes.end();
    if (std::isfinite(to[i]) && !is_code) continue;
    if (std::isinf(to[i])) {
      result.refused = row;
      return result;
    }
    result.coded += is_code ? 1 : 0;
    result.missing.resize(to.size());
    result.missing[i] = true;
    to[i] = std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

NumberColumn read_number_column(const NamedTable& table, std::int64_t column, const TableOptions& options) {
  if (const GivenColumn::Numbers* numbers = table.numbers(column))
    return read_number_column(table.rows(), *numbers, options);
  PlainNumbers plain = std::move(read_plain_numbers(
      table.rows(), std::span(&column, 1),
      [&](std::int64_t row, std::int64_t of) { return table.cell(row, of); }, options)[0]);
  return read_number_column({.rows = table.rows(),
                             .cell = [&](std::int64_t row) { return table.cell(row, column); },
                             .place = [&](std::int64_t row) { return table.place(row, column); }},
                            plain.known, std::move(plain.values), table, options);
}

NumberColumn read_number_column(const ColumnCells& cells, std::int64_t known, Tensor values,
                                const NamedTable& table, const TableOptions& options) {
  NumberColumn result{.values = std::move(values), .style = {.decimal = options.decimal}};
  const std::span<double> to = result.values.values<double>();
  bool is_plain = true;  // the most common case, read in a single pass
  for (std::int64_t row = known; row < cells.rows; ++row) {
    const std::string_view cell = cells.cell(row);
    const auto i = static_cast<std::size_t>(row);
    const std::optional<double> value = result.style.read(cell, options.missing_codes);
    const bool is_code = value && std::isnan(*value);
    if (value && !is_code) {
      to[i] = *value;
      continue;
    }
    if (is_code || is_missing(cell)) {
      result.coded += is_code ? 1 : 0;
      result.missing.resize(to.size());
      result.missing[i] = true;
      to[i] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    result.refused = row;
    const std::optional<NumberStyle> style =
        is_plain ? find_style(cells, table, options, result.refused) : std::nullopt;
    if (!style) return result;
    result.refused = -1;
    is_plain = false;
    result.style = *style;
    result.missing.clear();
    result.coded = 0;
    row = -1;
  }
  return result;
}

std::string note_of_numbers(const NumberColumn& numbers, const std::string& name,
                            const TableOptions& options) {
  const NumberStyle& style = numbers.style;
  std::string note;
  if (style.thousands != 0)
    note += text_of(", ", style.thousands == ' ' ? "blanks" : std::string(1, style.thousands),
                    " between thousands left out");
  if (!style.unit.empty()) note += text_of(", the unit ", quote(style.unit), " left out");
  if (numbers.coded > 0) {
    note += text_of(
        ", ", numbers.coded,
        numbers.coded == 1 ? " cell is one of the missing codes" : " cells are one of the missing codes");
    for (std::size_t i = 0; i < options.missing_codes.size(); ++i)
      note += text_of(i == 0 ? " " : ", ", options.missing_codes[i]);
  }
  return note.empty() ? note : quote(name) + ": " + note.substr(2);
}

std::string hint_for_number(std::string_view cell, const TableOptions& options) {
  if (parse_number(cell, options.decimal))
    return R"(A cell without a measurement is left empty, and "missing" says what takes its place.)";
  const char other = options.decimal == '.' ? ',' : '.';
  if (parse_number(cell, other) || has_thousands(cell, other))
    return options.decimal == '.' ? R"(With "decimal": "," commas are decimal points.)"
                                  : R"(Without "decimal": "," points are decimal points.)";
  if (const NumberWithUnit split = split_unit(cell);
      !options.strip_units &&
      (parse_number(split.number, options.decimal) || has_thousands(split.number, options.decimal)))
    return text_of(R"(With "units": "strip" the unit )", quote(split.unit),
                   " is left out, if all cells of the column have it.");
  return {};
}

DecimalVotes count_decimals(const NamedTable& table) {
  DecimalVotes votes;
  const auto is_number = [](std::string_view cell, char decimal) {
    return parse_number(cell, decimal).has_value() || has_thousands(cell, decimal);
  };
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (std::int64_t column = 0; column < table.columns(); ++column) {
      std::string_view cell = table.cell(row, column);
      if (const NumberWithUnit split = split_unit(cell); !split.unit.empty()) cell = split.number;
      if (cell.find_first_of(".,") == cell.npos || cell.find_first_of("0123456789") == cell.npos) continue;
      const bool point = is_number(cell, '.');
      const bool comma = is_number(cell, ',');
      votes.points += point && !comma ? 1 : 0;
      votes.commas += comma && !point ? 1 : 0;
      if (point && comma) ++(cell.find(',') == cell.npos ? votes.either_point : votes.either_comma);
    }
  }
  return votes;
}

}  // namespace lagtape
