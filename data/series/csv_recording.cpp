#include "lagtape/data/series/csv_recording.h"

#include "lagtape/data/series/csv_columns.h"
#include "lagtape/data/series/csv_series.h"
#include "lagtape/data/series/csv_times.h"

namespace lagtape {

Panel read_csv_recording(const SeriesOptions& options, const std::filesystem::path& path, bool allow_future,
                         const FutureFiles* future) {
  CsvSource csv(options, path, future);
  Panel panel{.rows = csv.rows(), .names = csv.table.names(), .notes = csv.table.notes()};
  if (csv.leaves_out_index())
    panel.notes.emplace_back("the first column has no name and counts the rows: left out");
  if (std::string note = read_series(csv); !note.empty()) panel.notes.push_back(std::move(note));
  if (!csv.time_columns().empty()) {
    read_times(csv, panel);
  } else {
    std::vector<Instant> no_times;
    order_rows(csv, no_times);
    panel.series = series_in(csv);
  }
  panel.rows = csv.rows();
  for (std::string& note : csv.notes_of_future()) panel.future_notes.push_back(std::move(note));
  for (const std::int64_t column : csv.series_columns())
    panel.series_columns.push_back(csv.table.name_of(column));
  if (panel.segments.empty()) panel.segments.assign(panel.series.begin(), panel.series.end());
  read_columns(csv, allow_future, panel);
  return panel;
}

}  // namespace lagtape
