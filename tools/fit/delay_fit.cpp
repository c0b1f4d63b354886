#include "lagtape/tools/fit/delay_fit.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/table/csv.h"
#include "lagtape/tools/fit/forced_past.h"

namespace lagtape {
namespace {

constexpr Option kFitRows[] = {
    option<&FitSection::force>(
        "force", Choices{"none", "data"},
        "\"data\": a first fit reads past values from smoothing splines of the readings"),
    option<&FitSection::own>("own", "params of which each file has its own"),
    option<&FitSection::deviation>("deviation",
                                   "column of the readings' standard deviations; \"\": from the residuals"),
};

/// "data" of equations in continuous time.
struct DelayData {
  std::string task = "series", time = "t";
  std::vector<std::string> paths, targets, inputs;
};

constexpr Option kDataRows[] = {
    option<&DelayData::task>("task", Choices{"series"}, "readings at times"),
    required<&DelayData::paths>("path", "a .csv file, or a list of files, each from t = 0 on").at_least_one(),
    option<&DelayData::time>("time", "column of the times, in the units of t"),
    required<&DelayData::targets>("target", "columns of the states' readings, called like the states")
        .at_least_one(),
    option<&DelayData::inputs>("input", "columns of the inputs"),
};
constexpr OptionTable kDataOptions = kDataRows;

/// The object with names alone as lists of one.
Json with_lists(Json object) {
  for (const char* key : {"path", "target", "input"})
    if (object.is_object() && object.contains(key) && object[key].is_string())
      object[key] = Json::array({object[key]});
  return object;
}

std::size_t column_of(const Csv& table, const std::string& name, const std::string& where) {
  const auto found = std::ranges::find(table.header, name);
  if (found == table.header.end())
    throw InputError(unknown_name("column", name, table.header).within({.file = where}));
  return static_cast<std::size_t>(found - table.header.begin());
}

DelayReadings read_readings(const std::string& file, const DelayData& data, const std::string& deviation) {
  const Csv table = read_csv(file);
  const std::int64_t rows = table.values.size(0), width = table.values.size(1);
  const auto numbers = [&](const std::string& name) {
    const auto column = static_cast<std::int64_t>(column_of(table, name, file));
    std::vector<double> all;
    for (std::int64_t row = 0; row < rows; ++row) all.push_back(table.values.at(row * width + column));
    return all;
  };
  DelayReadings readings{.times = numbers(data.time), .states = data.targets, .values = {}};
  for (std::size_t i = 0; i < readings.times.size(); ++i)
    if (readings.times[i] < 0 || (i > 0 && !(readings.times[i] > readings.times[i - 1])))
      throw InputError({.file = file, .item = text_of("column '", data.time, "'")}, Rule::out_of_range,
                       "times ascend from 0 or later", text_of(readings.times[i]));
  for (const std::string& target : data.targets) readings.values.push_back(numbers(target));
  if (!deviation.empty()) readings.deviations = numbers(deviation);
  for (const double one : readings.deviations)
    if (!(one > 0))
      throw InputError({.file = file, .item = text_of("column '", deviation, "'")}, Rule::out_of_range,
                       "a standard deviation is above 0", text_of(one));
  if (data.inputs.empty()) return readings;
  readings.input = {.times = readings.times, .values = {}, .width = std::ssize(data.inputs)};
  std::vector<std::vector<double>> columns;
  for (const std::string& name : data.inputs) columns.push_back(numbers(name));
  for (std::size_t row = 0; row < readings.times.size(); ++row)
    for (const std::vector<double>& column : columns) readings.input.values.push_back(column[row]);
  return readings;
}

template <class T>
T read_section(const Json& given, const std::string& pointer, const OptionTable& table, JsonErrors& errors) {
  T section;
  const Json none = Json::object();
  JsonReader reader(given.is_null() ? none : given, pointer, errors);
  read_options(reader, table, section);
  reader.finish();
  return section;
}

}  // namespace

constinit const OptionTable kFitOptions = kFitRows;

bool DelayFit::applies(const Json& document) {
  if (!document.is_object() || !document.contains("cells") || !document["cells"].is_object()) return false;
  for (const auto& [name, cell] : document["cells"].items())
    if (cell.is_object() && cell.contains("ode")) return true;
  return false;
}

DelayFit::DelayFit(const ExperimentFile& file) : document_(file.document) {
  JsonErrors errors;
  section_ = read_section<FitSection>(document_.value("fit", Json()), "/fit", kFitOptions, errors);
  const Json given = with_lists(document_.value("data", Json::object()));
  const DelayData data = read_section<DelayData>(given, "/data", kDataOptions, errors);
  errors.raise(file.where);
  for (const std::string& path : data.paths) {
    const std::string whole = (file.base / path).string();
    files_.push_back({path, read_readings(whole, data, section_.deviation),
                      DelayEquations(document_, "", std::max<std::int64_t>(1, std::ssize(data.inputs)))});
    readings_ += std::ssize(files_.back().readings.times) * std::ssize(data.targets);
  }
  find_numbers();
}

void DelayFit::find_numbers() {
  std::vector<std::string> known;
  for (const DelayEquations::Param& param : files_[0].equations.params()) {
    known.push_back(param.name);
    if (!param.trained) continue;
    const bool is_own =
        files_.size() > 1 && std::ranges::find(section_.own, param.name) != section_.own.end();
    for (std::size_t f = 0; f < (is_own ? files_.size() : 1); ++f)
      for (std::size_t i = 0; i < param.values.size(); ++i) {
        const std::string name = param.is_scalar ? param.name : text_of(param.name, "[", i, "]");
        numbers_.push_back({name, is_own ? f : kAll});
        params_.push_back({is_own ? text_of(name, " of ", files_[f].name) : name, param.values[i],
                           param.bounds, param.unit});
      }
  }
  for (const std::string& name : section_.own)
    if (std::ranges::find(known, name) == known.end())
      throw InputError(unknown_name("param", name, known).within({.pointer = "/fit/own"}));
}

SolvedEquations DelayFit::solve(std::size_t file, std::span<const double> values, bool derivatives) {
  File& of = files_[file];
  for (std::size_t i = 0; i < numbers_.size(); ++i)
    if (numbers_[i].file == kAll || numbers_[i].file == file) of.equations.set(numbers_[i].param, values[i]);
  return of.equations.solve(of.readings.times, derivatives, of.readings.input);
}

/// Calls visit(file, series, state, time, deviation) for every reading.
template <class Visit>
void DelayFit::visit(std::span<const double> values, bool derivatives, Visit visit_reading) {
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const DelayReadings& readings = files_[f].readings;
    const SolvedEquations solved = solve(f, values, derivatives);
    std::vector<std::string> known;
    for (const SolvedEquations::Series& series : solved.states) known.push_back(series.name);
    for (std::size_t s = 0; s < readings.states.size(); ++s) {
      const auto series = std::ranges::find(known, readings.states[s]) - known.begin();
      if (series == std::ssize(known))
        throw InputError(
            unknown_name("state", readings.states[s], known).within({.pointer = "/data/target"}));
      for (std::size_t t = 0; t < readings.times.size(); ++t)
        visit_reading(f, solved, solved.states[series], s, t,
                      readings.deviations.empty() ? 1 : readings.deviations[t]);
    }
  }
}

std::vector<double> DelayFit::residuals(std::span<const double> values) {
  std::vector<double> residuals;
  try {
    visit(values, false,
          [&](std::size_t f, const SolvedEquations&, const SolvedEquations::Series& series, std::size_t s,
              std::size_t t, double deviation) {
            residuals.push_back((series.y[t] - files_[f].readings.values[s][t]) / deviation);
          });
  } catch (const InputError& error) {
    if (error.problems().front().rule != Rule::not_finite) throw;
    residuals.assign(static_cast<std::size_t>(readings_), NAN);  // a trial step that is turned back
  }
  return residuals;
}

DenseMatrix DelayFit::jacobian(std::span<const double> values) {
  const auto count = static_cast<std::int64_t>(numbers_.size());
  DenseMatrix jacobian(readings_, count);
  std::int64_t row = 0;
  visit(values, true,
        [&](std::size_t f, const SolvedEquations& solved, const SolvedEquations::Series& series, std::size_t,
            std::size_t t, double deviation) {
          for (std::int64_t i = 0; i < count; ++i) {
            if (numbers_[i].file != kAll && numbers_[i].file != f) continue;
            const auto by = std::ranges::find(solved.params, numbers_[i].param) - solved.params.begin();
            jacobian.at(row, i) = series.d[by][t] / deviation;
          }
          ++row;
        });
  return jacobian;
}

void DelayFit::read_past(bool forced) {
  for (File& file : files_) {
    if (forced) {
      ForcedPast past = force_past(document_, file.readings);
      file.equations = DelayEquations(past.document, "", past.readings.input.width);
      file.free_input = std::exchange(file.readings.input, std::move(past.readings.input));
    } else {
      file.readings.input = std::move(file.free_input);
      file.equations = DelayEquations(document_, "", std::max<std::int64_t>(1, file.readings.input.width));
    }
  }
}

void DelayFit::start_from(std::span<const double> values) {
  for (std::size_t i = 0; i < params_.size(); ++i) params_[i].start = values[i];
}

FitResult fit_delay_equations(DelayFit& problem, const FitOptions& options) {
  if (problem.section().force == "data") {
    FitOptions plain = options;
    plain.profile.clear();
    problem.read_past(true);
    std::vector<double> values;
    for (const FitResult::Row& row : fit_params(problem, plain).rows) values.push_back(row.estimate.value);
    problem.read_past(false);
    problem.start_from(values);
  }
  return fit_params(problem, options);
}

}  // namespace lagtape
