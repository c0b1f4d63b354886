#include "lagtape/tools/new/wide_table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/text_cursor.h"
#include "lagtape/data/time/time_format.h"

namespace lagtape {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Whether a name is a date, a month or a year: 2020-01-31, 1/31/20, 2010-01, 1960.
bool is_date(std::string_view name) {
  name = trimmed(name);
  if (name.empty() || !is_digit(name.front())) return false;
  if (read_time(name)) return true;
  const bool is_whole = name.find_first_not_of("0123456789") == name.npos;
  if (is_whole) return name.size() == 4 && (name.starts_with("19") || name.starts_with("20"));
  return name.size() >= 6 && name.find_first_not_of("0123456789/-.QM") == name.npos && !parse_number(name);
}

/// The number at the end of a name such as d_12, without which names are alike; -1: there is none.
std::int64_t count_of(std::string_view name, std::string_view& before) {
  std::size_t begin = name.size();
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  constexpr std::size_t kMostDigits = 6;
  if (begin == 0 || begin == name.size() || name.size() - begin > kMostDigits) return -1;
  before = name.substr(0, begin);
  return std::stoll(std::string(name.substr(begin)));
}

/// The first columns of a run of those whose names count, and how many there are.
struct NamedSteps {
  std::size_t first = 0, count = 0;
};

template <class Follows>
NamedSteps longest_run(std::size_t columns, const Follows& follows) {
  NamedSteps longest, run;
  for (std::size_t i = 0; i < columns; ++i) {
    run = i > 0 && run.count > 0 && follows(i) ? NamedSteps{run.first, run.count + 1} : NamedSteps{i, 1};
    if (run.count > longest.count) longest = run;
  }
  return longest;
}

NamedSteps counting_names(const std::vector<std::string>& names) {
  return longest_run(names.size(), [&](std::size_t i) {
    std::string_view before, own;
    const std::int64_t count = count_of(names[i - 1], before);
    return count >= 0 && count_of(names[i], own) == count + 1 && own == before;
  });
}

NamedSteps month_names(const std::vector<std::string>& names) {
  const auto month_of = [&](std::size_t i) {
    const auto is_called = [&](std::string_view month) {
      return begins_with_word(names[i], names[i].size() == 3 ? month.substr(0, 3) : month);
    };
    return std::ranges::find_if(kMonths, is_called) - kMonths.begin();
  };
  return longest_run(names.size(), [&](std::size_t i) {
    return month_of(i) < std::ssize(kMonths) && month_of(i) == month_of(i - 1) + 1;
  });
}

/// Whether numbers change less from a column to the next than from a row to the next, as those of a series in a row do.
bool run_along_rows(const NamedTable& table, const NamedSteps& steps) {
  const auto number = [&](std::int64_t row, std::size_t column) {
    return parse_number(table.cell(row, static_cast<std::int64_t>(column))).value_or(std::nan(""));
  };
  constexpr std::int64_t kMostRows = 1000;
  constexpr double kSmoother = 0.8;
  double along = 0, across = 0;
  for (std::int64_t row = 1; row < std::min(table.rows(), kMostRows); ++row)
    for (std::size_t i = steps.first + 1; i < steps.first + steps.count; ++i) {
      const double here = number(row, i), left = number(row, i - 1), above = number(row - 1, i);
      if (std::isnan(here) || std::isnan(left) || std::isnan(above)) continue;
      along += std::abs(here - left);
      across += std::abs(here - above);
    }
  return across > 0 && along < kSmoother * across;
}

/// Whether a column of texts has another in each row, as names of series are.
bool has_unique_names(const NamedTable& table, const NamedSteps& steps) {
  for (std::int64_t column = 0; column < table.columns(); ++column) {
    const auto i = static_cast<std::size_t>(column);
    if (i > steps.first && i < steps.first + steps.count) continue;
    std::set<std::string_view> cells;
    bool are_texts = true;
    for (std::int64_t row = 0; row < table.rows() && are_texts; ++row) {
      const std::string_view cell = table.cell(row, column);
      are_texts = !parse_number(cell) && !is_missing(cell) && !read_time(cell) && cells.insert(cell).second;
    }
    if (are_texts) return true;
  }
  return false;
}

/// The lines of Python that make a long table of it.
std::string way_out(const NamedTable& table, const std::vector<std::string>& names, const NamedSteps& steps,
                    bool are_months) {
  Json ids = Json::array(), values = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_value = i >= steps.first && i < steps.first + steps.count;
    if (is_value || !are_months || i < steps.first) (is_value ? values : ids).push_back(names[i]);
  }
  std::string read = text_of("pandas.read_csv(", Json(table.where()).dump());
  if (table.separator() != ',') read += text_of(", sep=", Json(std::string(1, table.separator())).dump());
  if (names.empty())
    return text_of(read, ", header=None).rename(columns={", steps.first > 0 ? 0 : steps.count,
                   ": \"label\"}).rename_axis(\"id\")",
                   ".reset_index().melt([\"id\", \"label\"], var_name=\"t\", value_name=\"x\")",
                   ".to_csv(\"long.csv\", index=False)");
  if (table.line(0) > 2) read += text_of(", skiprows=", table.line(0) - 2);
  return text_of(read, ").melt(", ids.dump(), are_months ? ", " + values.dump() : "", ", var_name=\"",
                 are_months ? "month" : "time",
                 "\", value_name=\"value\").to_csv(\"long.csv\", index=False)");
}

}  // namespace

void refuse_wide_table(const NamedTable& table, const RecordingColumns& found) {
  constexpr std::size_t kFewestDates = 4, kFewestSteps = 12;
  const bool has_names = !table.names().empty();
  std::vector<std::string> names = table.names();
  for (std::int64_t i = 0; !has_names && i < table.columns(); ++i) names.emplace_back(table.cell(0, i));
  const auto is_named_by_date = [&](std::size_t i) { return is_date(names[i]); };
  NamedSteps steps = longest_run(
      names.size(), [&](std::size_t i) { return is_named_by_date(i) && is_named_by_date(i - 1); });
  const NamedSteps months = month_names(names);
  const bool are_months = has_names && months.count == kMonths.size() && months.first > 0;
  if (are_months) steps = months;
  const bool are_dates = are_months || (steps.count >= kFewestDates && 2 * steps.count > names.size());
  if (!are_dates && (!found.time.empty() || found.rows < 2)) return;
  if (!are_dates && has_names) {
    steps = counting_names(names);
    const bool all_count = steps.count == names.size();
    if (all_count) steps = {1, names.size() - 1};
    // Beside the steps a row has its name or its class; columns of numbers that all count are an ordinary table.
    if (steps.count < kFewestSteps || 2 * steps.count < names.size()) return;
    if (all_count && !has_unique_names(table, steps)) return;
    if (!has_unique_names(table, steps) && !run_along_rows(table, steps)) return;
  }
  if (!are_dates && !has_names) {
    // The class of a row is its first or its last number.
    const auto may_be_class = [&](std::int64_t column) {
      constexpr std::size_t kMostClasses = 20;
      std::set<std::string_view> classes;
      for (std::int64_t row = 0; row < table.rows() && classes.size() <= kMostClasses; ++row)
        classes.emplace(table.cell(row, column));
      return classes.size() <= kMostClasses && 2 * std::ssize(classes) <= found.rows;
    };
    const bool is_first = may_be_class(0);
    if (!is_first && !may_be_class(table.columns() - 1)) return;
    steps = {is_first ? 1U : 0U, names.size() - 1};
    if (steps.count < kFewestSteps || !run_along_rows(table, steps)) return;
  }
  if (!are_dates && !has_names) names.clear();
  throw InputError(
      Problem{.place = {.file = table.where()},
              .rule = Rule::shape,
              .statement = text_of(are_months ? "each row is a year" : "each row is a series",
                                   ", with its times in ", steps.count, " columns",
                                   !names.empty() ? text_of(", ", quote(names[steps.first]), " to ",
                                                            quote(names[steps.first + steps.count - 1]))
                                                  : ""),
              .expected = "a row for each time",
              .hint = text_of("Python makes it: ", way_out(table, names, steps, are_months), ".")});
}

}  // namespace lagtape
