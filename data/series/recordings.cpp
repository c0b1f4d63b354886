#include "lagtape/data/series/recordings.h"

#include <fnmatch.h>

#include <algorithm>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/core/io/ending.h"
#include "lagtape/core/io/folder.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/formats/series_file.h"
#include "lagtape/data/series/csv_recording.h"
#include "lagtape/data/series/time_stamp.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

/// The files that a path with a * in its last part names, in the order of their names; else the path itself.
std::vector<fs::path> files_of(const fs::path& path) {
  const std::string pattern = path.filename().string();
  if (pattern.find('*') == std::string::npos) return {path};
  std::vector<fs::path> files;
  std::error_code error;
  for (const std::string& name : entries_of(path.parent_path(), error))
    if (::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0) files.push_back(path.parent_path() / name);
  if (files.empty()) throw InputError(text_of(path.string(), ": there are no files of such names."));
  return files;
}

/// The columns that a list of numbers names, or all columns without a list.
std::vector<std::int64_t> columns_of(const Json& list, std::int64_t present, const std::string& where) {
  std::vector<std::int64_t> columns;
  if (list.is_null()) {
    for (std::int64_t column = 0; column < present; ++column) columns.push_back(column);
    return columns;
  }
  for (const Json& entry : list) {
    if (entry.is_string())
      throw InputError(text_of(where, ": its columns have no names. Got ", entry.dump(), "."));
    const auto column = entry.get<std::int64_t>();
    if (column >= present)
      throw InputError(text_of(where, ": columns are 0..", present - 1, ". Got ", column, "."));
    columns.push_back(column);
  }
  return columns;
}

Recordings read_arrays(const SeriesOptions& options, const fs::path& path) {
  if (fs::is_directory(path))
    throw InputError(
        text_of(path.string(), ": is a folder. Its files are named by ", (path / "*.csv").string(), "."));
  if (!options.time.empty())
    throw InputError(text_of(path.string(), ": \"time\" names a column of a .csv file. Arrays have none."));
  if (options.missing != Missing::error)
    throw InputError(
        text_of(path.string(), ": \"missing\" is for .csv files. The numbers of arrays must be finite."));
  const Tensor values = read_series_file(path, options.array);
  const std::int64_t count = values.size(0), rows = values.size(1), columns = values.size(2);
  Recordings result{.values = values.reshaped({count * rows, columns}),
                    .input = columns_of(options.input, columns, path.string())};
  result.target =
      options.target.is_null() ? result.input : columns_of(options.target, columns, path.string());
  result.measured = result.target;
  result.is_mask.assign(result.input.size(), false);
  result.is_scaled.assign(static_cast<std::size_t>(columns), true);
  for (std::int64_t i = 0; i < count; ++i) result.recordings.push_back({i * rows, rows});
  result.stretches = result.recordings;
  return result;
}

/// Adds the places of the targets that were filled in another recording.
void append_filled(Recordings& all, const Recordings& more, std::int64_t before) {
  const std::size_t targets = all.target.size();
  if (all.is_filled.empty() && more.is_filled.empty()) return;
  all.is_filled.resize(static_cast<std::size_t>(before) * targets, false);
  std::vector<bool> added = more.is_filled;
  added.resize(static_cast<std::size_t>(more.values.size(0)) * targets, false);
  all.is_filled.insert(all.is_filled.end(), added.begin(), added.end());
}

void add_numbers(std::vector<double>& numbers, const Tensor& values) {
  for (std::int64_t i = 0; i < values.numel(); ++i) numbers.push_back(values.at(i));
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += text_of(list.empty() ? "" : ", ", name);
  return names.empty() ? "without names" : shortened(list, 200);
}

/// Adds a recording to those before it, whose values are in `numbers`. With `by_place` no option names their columns.
void append(Recordings& all, std::vector<double>& numbers, const Recordings& more, const fs::path& path,
            bool by_place) {
  const std::int64_t width = all.values.size(1), before = std::ssize(numbers) / width;
  if (more.values.size(1) != width || more.input != all.input || more.target != all.target) {
    throw InputError(text_of(path.string(), ": expected the columns of the files before it, ",
                             all.input.size(), " inputs and ", all.target.size(), " targets."));
  }
  if (by_place && more.names != all.names)
    throw InputError(text_of(path.string(), ": its columns are ", list_of(more.names),
                             ", expected those of the files ", "before it in their order, ",
                             list_of(all.names), R"(. Or name the columns in "input".)"));
  append_filled(all, more, before);
  add_numbers(numbers, more.values);
  for (const auto list : std::initializer_list<std::vector<Stretch> Recordings::*>{&Recordings::recordings,
                                                                                   &Recordings::stretches})
    for (const Stretch& stretch : more.*list) (all.*list).push_back({before + stretch.first, stretch.rows});
  all.times.insert(all.times.end(), more.times.begin(), more.times.end());
  all.has_offsets = all.has_offsets || more.has_offsets;
  if (all.offset != more.offset) all.offset = {};
  for (const std::string& note : more.notes) all.notes.push_back(note);
}

}  // namespace

double Recordings::truth(std::int64_t row, std::int64_t i) const {
  const auto place = static_cast<std::size_t>(row * std::ssize(target) + i);
  if (!is_filled.empty() && is_filled[place]) return std::numeric_limits<double>::quiet_NaN();
  return values.at(row * values.size(1) + target[static_cast<std::size_t>(i)]);
}

Recordings read_recordings(const SeriesOptions& options, const fs::path& base, bool allow_future) {
  std::vector<fs::path> files;
  for (const std::string& path : options.paths)
    for (fs::path& file : files_of((base / path).lexically_normal())) files.push_back(std::move(file));
  Recordings all;
  std::vector<double> numbers;  // of all files, if there are several
  for (const fs::path& path : files) {
    Recordings one = ending_of(path) == ".csv" ? read_csv_recording(options, path, allow_future)
                                               : read_arrays(options, path);
    if (files.size() > 1)
      for (std::string& note : one.notes) note = text_of(path.filename().string(), ": ", note);
    if (&path == &files.front()) {
      all = std::move(one);
      if (files.size() > 1) add_numbers(numbers, all.values);
    } else {
      append(all, numbers, one, path, options.input.is_null());
    }
  }
  if (files.size() > 1) {
    const std::int64_t width = all.values.size(1);
    all.values = Tensor::from({std::ssize(numbers) / width, width}, numbers, Dtype::f64);
  }
  all.are_days = std::ranges::all_of(
      all.times, [&](double seconds) { return is_midnight(seconds + all.offset.value_or(0)); });
  return all;
}

}  // namespace lagtape
