#include "lagtape/core/json/normalization_json.h"

#include <algorithm>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {
namespace {

std::vector<double> read_numbers(const Json& object, const char* key, const std::string& where) {
  std::vector<double> numbers;
  const auto found = object.find(key);
  bool fits = found != object.end() && found->is_array();
  for (std::size_t i = 0; fits && i < found->size(); ++i) {
    fits = (*found)[i].is_number();
    if (fits) numbers.push_back((*found)[i].get<double>());
  }
  if (!fits)
    throw unexpected({.file = where, .item = text_of("normalization.", key)}, Rule::wrong_type,
                     "an array of numbers");
  return numbers;
}

/// Mean and scale of an input column or, after the inputs, of an output column.
struct ColumnScaling {
  double mean = 0, scale = 1;
  bool operator==(const ColumnScaling&) const = default;
};

std::size_t columns_of(const Normalization& of) { return of.input.mean.size() + of.output.mean.size(); }

ColumnScaling column_of(const Normalization& of, std::size_t column) {
  const std::size_t inputs = of.input.mean.size();
  const Scaling& scaling = column < inputs ? of.input : of.output;
  const std::size_t at = column < inputs ? column : column - inputs;
  return {scaling.mean[at], scaling.scale[at]};
}

void set_column(Normalization& of, std::size_t column, const ColumnScaling& to) {
  const std::size_t inputs = of.input.mean.size();
  Scaling& scaling = column < inputs ? of.input : of.output;
  const std::size_t at = column < inputs ? column : column - inputs;
  scaling.mean[at] = to.mean;
  scaling.scale[at] = to.scale;
}

constexpr int kAsAll = -1;

/// For each column, the number of the first column with the same numbers in all series, counted among such;
/// kAsAll if these are the numbers of `all`.
std::vector<int> groups_of(const SeriesNormalizations& series, const Normalization& all,
                           std::vector<std::size_t>& firsts) {
  const auto is_alike = [&](std::size_t column, const auto& other) {
    for (const auto& [name, of] : series)
      if (column_of(of, column) != other(of)) return false;
    return true;
  };
  std::vector<int> groups;
  for (std::size_t column = 0; column < columns_of(all); ++column) {
    int group = kAsAll;
    if (!is_alike(column, [&](const Normalization&) { return column_of(all, column); }))
      for (group = 0; group < static_cast<int>(firsts.size()); ++group)
        if (is_alike(column, [&](const Normalization& of) {
              return column_of(of, firsts[static_cast<std::size_t>(group)]);
            }))
          break;
    if (group == static_cast<int>(firsts.size())) firsts.push_back(column);
    groups.push_back(group);
  }
  return groups;
}

}  // namespace

std::string json_of(const Normalization& normalization) {
  return Json{{"input_mean", normalization.input.mean},
              {"input_scale", normalization.input.scale},
              {"output_mean", normalization.output.mean},
              {"output_scale", normalization.output.scale}}
      .dump();
}

Normalization normalization_from(const std::string& json, const std::string& where) {
  const Json object = parse_json(json, where.empty() ? "normalization" : where + ": normalization");
  const auto numbers = [&](const char* key) { return read_numbers(object, key, where); };
  return {.input = {.mean = numbers("input_mean"), .scale = numbers("input_scale")},
          .output = {.mean = numbers("output_mean"), .scale = numbers("output_scale")}};
}

std::string json_of(const SeriesNormalizations& series, const Normalization& all) {
  std::vector<std::size_t> firsts;
  Json json = {{"columns", groups_of(series, all, firsts)}, {"series", Json::object()}};
  for (const auto& [name, of] : series) {
    Json& numbers = json["series"][name] = Json::array();
    for (const std::size_t column : firsts) {
      const ColumnScaling scaling = column_of(of, column);
      numbers.push_back(scaling.mean);
      numbers.push_back(scaling.scale);
    }
  }
  return json.dump();
}

SeriesNormalizations series_normalizations_from(const std::string& json, const Normalization& all,
                                                const std::string& where) {
  const Json object = parse_json(json, where + ": series");
  const auto refuse = [&](const std::string& expected) {
    throw unexpected({.file = where, .item = "series"}, Rule::damaged, expected);
  };
  const Json &columns = object.value("columns", Json()), &series = object.value("series", Json());
  if (!columns.is_array() || columns.size() != columns_of(all) || !series.is_object())
    refuse("a place for each input and output, and an object of series");
  std::size_t groups = 0;
  for (const Json& group : columns) {
    if (!group.is_number_integer() || group.get<int>() < kAsAll || group.get<int>() > 1'000'000)
      refuse("places from -1");
    groups = std::max(groups, static_cast<std::size_t>(group.get<int>() + 1));
  }
  SeriesNormalizations result;
  for (const auto& [name, numbers] : series.items()) {
    const auto is_number = [](const Json& number) { return number.is_number(); };
    if (!numbers.is_array() || numbers.size() != 2 * groups || !std::ranges::all_of(numbers, is_number))
      refuse(text_of(2 * groups, " numbers for each series"));
    Normalization& of = result.emplace(name, all).first->second;
    for (std::size_t column = 0; column < columns.size(); ++column)
      if (const auto group = columns[column].get<int>(); group != kAsAll)
        set_column(of, column,
                   {numbers[static_cast<std::size_t>(2 * group)].get<double>(),
                    numbers[static_cast<std::size_t>(2 * group + 1)].get<double>()});
  }
  return result;
}

}  // namespace lagtape
