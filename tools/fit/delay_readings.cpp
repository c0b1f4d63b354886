#include "lagtape/tools/fit/delay_readings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/table/named_table.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/table/number_column.h"

namespace lagtape {
namespace {

constexpr Option kRows[] = {
    option<&DelayData::task>("task", Choices{"series"}, "readings at times"),
    required<&DelayData::paths>("path", "a .csv file, or a list of files, each from t = 0 on").at_least_one(),
    option<&DelayData::time>("time", "column of the times, in the units of t"),
    option<&DelayData::begin>("begin", Range{},
                              "the time of t = 0; rows up to it are the histories that are \"observed\""),
    required<&DelayData::targets>("target", "columns of the states' readings, called like the states")
        .at_least_one(),
    option<&DelayData::inputs>("input", "columns of the inputs"),
};

/// The numbers of a column, NaN where a cell has none.
std::vector<double> numbers_of(const NamedTable& table, const std::string& name) {
  const std::int64_t column = table.column(name);
  const NumberColumn numbers = read_number_column(table, column, TableOptions());
  if (numbers.refused >= 0)
    throw InputError(table.place(numbers.refused, column), Rule::wrong_type, "expected a number",
                     quote(table.cell(numbers.refused, column)));
  std::vector<double> all;
  for (std::int64_t row = 0; row < table.rows(); ++row) all.push_back(numbers.values.at(row));
  return all;
}

/// Throws for the first number that is not as it must be.
template <class Holds>
void check(const std::string& file, const std::string& column, const std::vector<double>& numbers,
           const std::string& rule, Holds holds) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!holds(i))
      throw InputError({.file = file, .item = text_of("column '", column, "'")}, Rule::out_of_range, rule,
                       std::isnan(numbers[i]) ? "no number" : text_of(numbers[i]));
}

/// Reads the inputs, which have numbers at all times of the readings.
void read_inputs(const std::string& file, const NamedTable& table, const DelayData& data,
                 DelayReadings& readings) {
  const std::vector<double>& times = readings.times;
  readings.input = {.times = times, .values = {}, .width = std::ssize(data.inputs)};
  std::vector<std::vector<double>> columns;
  for (const std::string& name : data.inputs) {
    columns.push_back(numbers_of(table, name));
    check(file, name, columns.back(), "an input has a number at all times",
          [&](std::size_t i) { return std::isfinite(columns.back()[i]); });
  }
  for (std::size_t row = 0; row < times.size(); ++row)
    for (const std::vector<double>& column : columns) readings.input.values.push_back(column[row]);
}

/// Makes the past of the readings up to t = 0.
void split_past(const std::string& file, DelayReadings& readings) {
  const auto past = std::ranges::upper_bound(readings.times, 0.0) - readings.times.begin();
  if (past == std::ssize(readings.times))
    throw InputError({.file = file}, Rule::missing, "no reading is after t = 0",
                     text_of("the last at ", readings.times.back()));
  const auto cut = [&](std::vector<double>& all) {
    std::vector<double> first(all.begin(), all.begin() + past);
    all.erase(all.begin(), all.begin() + past);
    return first;
  };
  for (std::vector<double>& values : readings.values) readings.past.push_back(cut(values));
  for (std::vector<double>& deviation : readings.deviations) cut(deviation);
  readings.past_times = cut(readings.times);
}

}  // namespace

constinit const OptionTable kDelayDataOptions = kRows;

std::pair<std::vector<double>, std::vector<double>> known_readings(const DelayReadings& readings,
                                                                   std::size_t state) {
  std::pair<std::vector<double>, std::vector<double>> known;
  for (std::size_t t = 0; t < readings.times.size(); ++t) {
    if (std::isnan(readings.values[state][t])) continue;
    known.first.push_back(readings.times[t]);
    known.second.push_back(readings.values[state][t]);
  }
  return known;
}

DelayReadings read_delay_readings(const std::string& file, const DelayData& data,
                                  const std::vector<std::string>& deviations, bool has_past) {
  TextTable cells(read_file(file), file, ',');
  TableHead head = plain_head(cells, ".");
  const NamedTable table(std::move(cells), file, std::move(head));
  DelayReadings readings{.times = numbers_of(table, data.time), .states = data.targets, .values = {}};
  const std::vector<double>& times = readings.times;
  for (double& time : readings.times) time -= data.begin;
  check(file, data.time, times,
        has_past ? "times ascend"
                 : "times ascend from 0 or later; earlier ones are for histories that are \"observed\"",
        [&](std::size_t i) { return (has_past || times[i] >= 0) && (i == 0 || times[i] > times[i - 1]); });
  for (std::size_t s = 0; s < data.targets.size(); ++s) {
    readings.values.push_back(numbers_of(table, data.targets[s]));
    if (deviations.empty()) continue;
    const std::string& of = deviations[std::min(s, deviations.size() - 1)];
    const std::optional<double> number = parse_number<double>(of);
    readings.deviations.push_back(number ? std::vector<double>(times.size(), *number)
                                         : numbers_of(table, of));
    check(file, of, readings.deviations.back(), "a standard deviation is above 0", [&](std::size_t i) {
      return readings.deviations.back()[i] > 0 || std::isnan(readings.values.back()[i]);
    });
  }
  if (!data.inputs.empty()) read_inputs(file, table, data, readings);
  if (has_past) split_past(file, readings);
  return readings;
}

}  // namespace lagtape
