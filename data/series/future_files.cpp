#include "lagtape/data/series/future_files.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "lagtape/core/error.h"
#include "lagtape/data/formats/table_file.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSeries =
    "series";  // the column with the names of recordings, as in tables of predictions

bool has_column(const NamedTable& table, const std::string& name) {
  return std::ranges::find(table.names(), name) != table.names().end();
}

bool name_series(const SeriesOptions& options, const std::string& file) {
  return !options.series.empty() || is_tsf_file(file);
}

std::string stem_of(const std::string& file) { return fs::path(file).stem().string(); }

/// Throws InputError unless each file is named after a recording.
void check_pairs(const std::vector<fs::path>& files, const std::vector<fs::path>& recordings) {
  std::vector<std::string> names;
  for (const fs::path& recording : recordings) names.push_back(recording.filename().string());
  for (const fs::path& file : files)
    if (std::ranges::find(names, file.filename().string()) == names.end())
      throw InputError(unknown_name("recording", file.filename().string(), names).within({file.string()}))
          .with_hint("Each of several files of rows that follow has the name of the recording.");
}

}  // namespace

FutureFiles::FutureFiles(const SeriesOptions& options, const std::vector<fs::path>& files,
                         const std::vector<fs::path>& recordings, bool are_paired)
    : options_(options) {
  are_paired = are_paired || files.size() > 1;
  if (are_paired) check_pairs(files, recordings);
  for (const fs::path& file : files)
    tables_.push_back(std::make_shared<const NamedTable>(read_table_file(file, options.table)));
  if (are_paired) {
    for (const fs::path& file : files) names_.push_back(file.filename().string());
    return;
  }
  const NamedTable& table = *tables_.front();
  if (name_series(options, recordings.front().string())) return;
  if (!has_column(table, kSeries)) {
    if (recordings.size() == 1) return;
    throw InputError(
        {table.where()}, Rule::missing,
        text_of("does not say which of the ", recordings.size(), " recordings its rows follow."), {},
        "Name them without their ending in a column \"series\", or give a file of its name for each, as "
        "in --future 'next/*.csv'.");
  }
  const std::int64_t column = table.column(kSeries);
  for (std::int64_t row = 0; row < table.rows(); ++row)
    by_name_[std::string(table.cell(row, column))].push_back(row);
}

std::optional<FutureRows> FutureFiles::rows_of(const NamedTable& recording) const {
  std::size_t file = 0;
  if (!names_.empty())
    file = static_cast<std::size_t>(
        std::ranges::find(names_, fs::path(recording.where()).filename().string()) - names_.begin());
  if (file == tables_.size()) return std::nullopt;
  FutureRows future{tables_[file]};
  if (by_name_.empty()) {
    future.rows.resize(static_cast<std::size_t>(future.table->rows()));
    std::iota(future.rows.begin(), future.rows.end(), std::int64_t{0});
    return future;
  }
  const auto own = by_name_.find(stem_of(recording.where()));
  if (own == by_name_.end()) return std::nullopt;
  future.rows = own->second;
  return future;
}

void FutureFiles::check_names(const std::vector<Panel>& recordings) const {
  const bool are_named = name_series(options_, options_.paths.front());
  if (!are_named && by_name_.empty()) return;
  std::vector<std::string> names;
  for (const Panel& recording : recordings)
    for (const PanelSeries& series : recording.series) names.push_back(series.name());
  const std::unordered_set<std::string> known(names.begin(), names.end());
  const std::vector<std::string> columns =
      are_named ? recordings.front().series_columns : std::vector<std::string>{kSeries};
  for (const std::shared_ptr<const NamedTable>& table : tables_) {
    std::vector<std::int64_t> places;
    for (const std::string& column : columns) places.push_back(table->column(column));
    PanelSeries series;
    for (std::int64_t row = 0; row < table->rows(); ++row) {
      series.id.clear();
      for (const std::int64_t place : places) series.id.emplace_back(table->cell(row, place));
      if (!known.contains(series.name()))
        throw InputError(unknown_name(text_of("series of ", options_.where()), series.name(), names)
                             .within(table->place(row, places.front())));
    }
  }
}

}  // namespace lagtape
