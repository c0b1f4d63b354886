#include "lagtape/data/series/csv_recording.h"

#include "lagtape/data/series/csv_columns.h"
#include "lagtape/data/series/csv_times.h"

namespace lagtape {

Panel read_csv_recording(const SeriesOptions& options, const std::filesystem::path& path,
                         const PanelReading& reading) {
  CsvSource csv(options, path, reading.future);
  Panel panel{.rows = csv.rows(), .notes = csv.table.notes()};
  if (csv.leaves_out_index())
    panel.notes.emplace_back("the first column has no name and counts the rows: left out");
  if (!csv.time_columns().empty()) read_times(csv, panel);
  panel.rows = csv.rows();
  panel.series = {{0, panel.rows}};
  if (panel.segments.empty()) panel.segments = panel.series;
  read_columns(csv, reading.allow_future, panel);
  return panel;
}

}  // namespace lagtape
