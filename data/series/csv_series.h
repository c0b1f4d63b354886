#pragma once

#include "lagtape/data/series/csv_source.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// Reads the columns that name the series of each row, if the file has some. Leaves out the rows of the second file that are of
/// series that the first one does not have. Returns a note on the names, or "". Throws InputError for an empty cell.
std::string read_series(CsvSource& csv);

/// Puts the rows of a series next to each other, in the order in which the file names the series first. `times` are the
/// times of the files' rows, which order the rows of a series; none: rows stay in their order. A row of the second file
/// is left out where its series already has that time.
void order_rows(CsvSource& csv, std::vector<Instant>& times);

/// The series of ordered rows.
std::vector<PanelSeries> series_in(const CsvSource& csv);

/// The rows of the files from `begin` to before `end` by the number of their series.
std::vector<std::vector<std::int64_t>> rows_by_series(const CsvSource& csv, std::int64_t begin,
                                                      std::int64_t end);

}  // namespace lagtape
