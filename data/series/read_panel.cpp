#include "lagtape/data/series/read_panel.h"

#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "lagtape/core/error.h"
#include "lagtape/core/io/folder.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/formats/series_file.h"
#include "lagtape/data/formats/table_file.h"
#include "lagtape/data/series/column_uses.h"
#include "lagtape/data/series/csv_recording.h"

namespace lagtape {

namespace fs = std::filesystem;

bool is_pattern(const fs::path& path) { return path.filename().string().find('*') != std::string::npos; }

std::vector<fs::path> files_of(const fs::path& path) {
  const std::string pattern = path.filename().string();
  if (!is_pattern(path)) return {path};
  std::vector<fs::path> files;
  std::error_code error;
  for (const std::string& name : entries_of(path.parent_path(), error))
    if (::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0) files.push_back(path.parent_path() / name);
  if (files.empty()) throw InputError({path.string()}, Rule::missing, "there are no files of such names.");
  return files;
}

namespace {

Panel read_arrays(const SeriesOptions& options, const fs::path& path) {
  const std::string where = path.string();
  if (fs::is_directory(path))
    throw InputError({where}, Rule::wrong_type,
                     text_of("is a folder. Its files are named by ", (path / "*.csv").string(), "."));
  refuse_foreign_table(path);
  if (!options.time.empty() && options.time.front() != "")
    throw InputError({where}, Rule::conflict, "\"time\" names a column of a .csv file. Arrays have none.");
  if (options.missing != Missing::error)
    throw InputError({where}, Rule::not_finite,
                     "\"missing\" is for .csv files. The numbers of arrays must be finite.");
  const Tensor values = read_series_file(path, options.array);
  const std::int64_t count = values.size(0), rows = values.size(1), columns = values.size(2);
  const auto find = [&](const Json& entry, const std::string& key) {
    const Place place{.file = where, .pointer = "/data/" + key};
    if (entry.is_string())
      throw InputError(place, Rule::shape, "its columns have no names", text_of(entry.dump()));
    const auto column = entry.get<std::int64_t>();
    if (column < columns) return column;
    throw InputError(place, Rule::shape, text_of("columns are 0..", columns - 1), text_of(column));
  };
  const ColumnUses uses = column_uses(options, columns, {}, find, where);
  Panel panel{.target = uses.targets, .rows = count * rows};
  for (std::int64_t i = 0; i < columns; ++i)
    panel.columns.push_back({.name = text_of("column ", i), .values = values, .first = i, .stride = columns});
  for (const std::int64_t target : uses.targets)
    panel.columns[static_cast<std::size_t>(target)].role = ColumnRole::target;
  for (const auto& [column, role] : uses.inputs) {
    panel.columns[static_cast<std::size_t>(column)].role = role;
    panel.add_input(column, options);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string number = count > 1 ? text_of("/", i) : std::string();
    panel.series.push_back({{i * rows, rows}, {path.stem().string() + number}});
  }
  panel.segments.assign(panel.series.begin(), panel.series.end());
  return panel;
}

/// Throws InputError unless a recording has the same columns as the first. With `by_place`, no option refers to
/// them by name.
void check_columns(const Panel& first, const Panel& more, const fs::path& path, bool by_place) {
  if (more.columns.size() != first.columns.size() || more.input != first.input ||
      more.target != first.target) {
    if (more.names.empty() || first.names.empty())
      throw InputError({path.string()}, Rule::shape,
                       text_of("expected the columns of the files before it, ", first.input.size(),
                               " inputs and ", first.target.size(), " targets."));
    throw InputError(
        {path.string()}, Rule::shape,
        text_of("its columns are ", listed(more.names), ", expected those of the files before it in ",
                "their order, ", listed(first.names), R"(. Or name the columns in "input".)"));
  }
  if (more.axis.times.empty() != first.axis.times.empty())
    throw InputError({path.string()}, Rule::conflict,
                     more.axis.times.empty() ? "has no times, unlike the files before it."
                                             : "has times, unlike the files before it.");
  std::vector<std::string> names, wanted;
  for (const Column& column : more.columns) names.push_back(column.name);
  for (const Column& column : first.columns) wanted.push_back(column.name);
  if (by_place && names != wanted)
    throw InputError(
        {path.string()}, Rule::shape,
        text_of("its columns are ", listed(names), ", expected those of the files before it in their order, ",
                listed(wanted), R"(. Or name the columns in "input".)"));
}

/// Throws InputError for files with two frequencies, which no model can treat as one.
void check_frequency(const Panel& first, const Panel& more, const fs::path& path) {
  if (first.axis.grids.empty() || more.axis.grids.empty()) return;
  const Frequency &wanted = first.axis.grids.front().grid.frequency(),
                  &found = more.axis.grids.front().grid.frequency();
  if (!wanted.same_steps(found))
    throw InputError(Problem{.place = {path.string()},
                             .rule = Rule::conflict,
                             .found = found.name(),
                             .expected = text_of("the frequency of the files before it, ", wanted.name()),
                             .hint = R"("frequency": "any" takes files of any.)"});
}

/// The concatenated rows of a column from all recordings; the recordings' own rows are released.
Column joined_column(std::vector<Panel>& parts, std::size_t i, std::int64_t rows) {
  Column all = std::move(parts.front().columns[i]);
  const Tensor first = std::move(all.values);
  all.values = Tensor({rows}, Dtype::f64);
  double* to = all.values.values<double>().data();
  std::int64_t before = 0;
  for (Panel& part : parts) {
    const bool is_first = &part == &parts.front();
    Column& own = is_first ? all : part.columns[i];
    const Tensor values = is_first ? first : std::move(own.values);
    with_scalar(values.dtype(), [&]<class T>() {
      const T* from = values.values<T>().data() + own.first;
      for (std::int64_t row = 0; row < part.rows; ++row) *to++ = static_cast<double>(from[row * own.stride]);
    });
    if (!is_first && (!own.filled.empty() || !all.filled.empty())) {
      all.filled.resize(static_cast<std::size_t>(before), false);
      all.filled.insert(all.filled.end(), own.filled.begin(), own.filled.end());
    }
    before += part.rows;
  }
  if (!all.filled.empty()) all.filled.resize(static_cast<std::size_t>(rows), false);
  all.first = 0;
  all.stride = 1;
  return all;
}

/// The grid of a recording; one with a single row has no frequency and uses that of the others.
std::vector<SeriesGrid> grid_of(const Panel& part, const std::vector<Panel>& parts) {
  const auto known = std::ranges::find_if(parts, [](const Panel& one) { return !one.axis.grids.empty(); });
  if (!part.axis.grids.empty() || known == parts.end()) return part.axis.grids;
  const auto& [grid, is_even] = known->axis.grids.front();
  std::vector<SeriesGrid> grids;
  for (const PanelSeries& series : part.series)
    grids.push_back(
        {TimeGrid(grid.frequency(), part.axis.times[static_cast<std::size_t>(series.first)], grid.calendar()),
         is_even});
  return grids;
}

/// Makes the names of all series unique: if two files with one series each have the same name, their paths name
/// the series. Throws InputError if a column names the same series in two files.
void name_apart(std::vector<Panel>& parts, const std::vector<fs::path>& files) {
  std::unordered_map<std::string, std::size_t> file_of;
  std::unordered_set<std::string> repeated;
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (const PanelSeries& series : parts[i].series) {
      const auto [known, is_new] = file_of.try_emplace(series.name(), i);
      if (is_new) continue;
      if (!parts[i].series_columns.empty())
        throw InputError(
            {files[i].string()}, Rule::conflict,
            text_of("has the series ", quote(series.name(), 40), ", which ", files[known->second].string(),
                    " has too. Expected all rows of a series in one file."));
      repeated.insert(series.name());
    }
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (PanelSeries& series : parts[i].series)
      if (parts[i].series_columns.empty() && repeated.contains(series.name()))
        series.id = {(files[i].parent_path() / series.name()).string()};
}

Panel joined(std::vector<Panel> parts) {
  Panel all;
  all.input = parts.front().input;
  all.target = parts.front().target;
  all.series_columns = parts.front().series_columns;
  all.names = parts.front().names;
  all.axis.format = parts.front().axis.format;
  const auto of_zone = std::ranges::find_if(parts, [](const Panel& part) { return part.axis.has_zone(); });
  all.axis.zone = (of_zone == parts.end() ? parts.begin() : of_zone)->axis.zone;
  const auto has_other = [&](const Panel& part) {
    return !part.axis.times.empty() && !(part.axis.zone == all.axis.zone);
  };
  if (const auto other = std::ranges::find_if(parts, has_other); other != parts.end())
    all.notes.push_back(text_of("clocks of the files differ, as ", all.axis.zone.name(), " and ",
                                other->axis.zone.name(), ": the calendar is by that of ",
                                all.axis.zone.name(), R"( ("timezone" says another one))"));
  for (Panel& part : parts) {
    std::ranges::move(grid_of(part, parts), std::back_inserter(all.axis.grids));
    for (PanelSeries& series : part.series) {
      series.first += all.rows;
      all.series.push_back(std::move(series));
    }
    for (const RowRange& range : part.segments) all.segments.push_back({all.rows + range.first, range.rows});
    all.axis.times.insert(all.axis.times.end(), part.axis.times.begin(), part.axis.times.end());
    all.axis.has_several_offsets = all.axis.has_several_offsets || part.axis.has_several_offsets;
    all.notes.insert(all.notes.end(), part.notes.begin(), part.notes.end());
    all.future_notes.insert(all.future_notes.end(), part.future_notes.begin(), part.future_notes.end());
    all.rows += part.rows;
  }
  for (std::size_t i = 0; i < parts.front().columns.size(); ++i)
    all.columns.push_back(joined_column(parts, i, all.rows));
  return all;
}

Panel read_file(const SeriesOptions& options, const fs::path& path, const PanelReading& reading,
                const FutureFiles* future) {
  if (is_table_file(path)) return read_csv_recording(options, path, reading.allow_future, future);
  if (future != nullptr)
    throw InputError({path.string()}, Rule::not_supported,
                     "is an array; only tables can be followed by a file of rows.");
  return read_arrays(options, path);
}

/// Whether an error may be about dates whose day and month are ambiguous.
bool may_lack_order(const SeriesOptions& options, const InputError& error) {
  return options.date_order == DateOrder::automatic && options.time_format.empty() && !options.time.empty() &&
         error.problems().front().rule == Rule::conflict;
}

/// The recordings in the files. If a recording's rows do not settle the order of day and month, the others'
/// order is used.
std::vector<Panel> read_files(const SeriesOptions& options, const std::vector<fs::path>& files,
                              const PanelReading& reading, const FutureFiles* future) {
  std::vector<std::optional<Panel>> parts;
  std::optional<InputError> first;
  for (const fs::path& path : files) try {
      parts.emplace_back(read_file(options, path, reading, future));
    } catch (const InputError& error) {
      if (files.size() == 1 || !may_lack_order(options, error)) throw;
      if (!first) first = error;
      parts.emplace_back();
    }
  SeriesOptions ordered = options;
  for (const std::optional<Panel>& part : parts) {
    const DateOrder own = part ? date_order_of(part->axis.format) : DateOrder::automatic;
    if (own == DateOrder::automatic) continue;
    if (first && ordered.date_order != DateOrder::automatic && ordered.date_order != own) throw *first;
    ordered.date_order = own;
  }
  if (first && ordered.date_order == DateOrder::automatic) throw *first;
  std::vector<Panel> all;
  for (std::size_t i = 0; i < files.size(); ++i)
    all.push_back(parts[i] ? *std::move(parts[i]) : read_file(ordered, files[i], reading, future));
  return all;
}

}  // namespace

Panel read_panel(const SeriesOptions& options, const fs::path& base, const PanelReading& reading) {
  std::vector<fs::path> files;
  for (const std::string& path : options.paths)
    for (fs::path& file : files_of((base / path).lexically_normal())) files.push_back(std::move(file));
  std::optional<FutureFiles> future;
  if (!reading.future.empty())
    future.emplace(options, files_of(reading.future), files, is_pattern(reading.future));
  std::vector<Panel> parts = read_files(options, files, reading, future ? &*future : nullptr);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const fs::path& path = files[i];
    Panel& part = parts[i];
    if (files.size() > 1)
      for (std::string& note : part.notes) note = text_of(path.filename().string(), ": ", note);
    check_columns(parts.front(), part, path, options.reads_all());
    if (part.series_columns != parts.front().series_columns)
      throw InputError({path.string()}, Rule::conflict,
                       R"(tells its series apart in another way than the files before it. Expected "series" )"
                       "to name a column of all.");
    if (options.frequency != "any") check_frequency(parts.front(), part, path);
  }
  if (parts.size() > 1) name_apart(parts, files);
  if (future) future->check_names(parts);
  Panel all = parts.size() == 1 ? std::move(parts.front()) : joined(std::move(parts));
  if (all.series_columns.empty() && all.series.size() > 1) all.series_columns = {"series"};
  TimeAxis& axis = all.axis;
  axis.season = options.season;
  const auto steps_by_days = [](const SeriesGrid& series) {
    const Frequency& frequency = series.grid.frequency();
    return frequency.is_days() || frequency.count % kOneDay == 0;
  };
  axis.are_days =
      std::ranges::all_of(axis.grids, steps_by_days) && std::ranges::all_of(axis.times, [&](Instant time) {
        return floor_mod(axis.zone.to_local(time), kOneDay) == 0;
      });
  return all;
}

}  // namespace lagtape
