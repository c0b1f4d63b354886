#pragma once

#include "lagtape/data/series/csv_source.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// Reads the columns that name each row's series, if the file has them. Leaves out rows of the second file
/// whose series is not in the first. Returns a note about the names, or "". Throws InputError for an empty
/// cell.
std::string read_series(CsvSource& csv);

/// Groups the rows by series, in the order in which series first appear in the file. `times` are the times of
/// the files' rows, by which the rows of a series are sorted; none: rows keep their order. A row of the second
/// file is left out if its series already has that time.
void order_rows(CsvSource& csv, std::vector<Instant>& times);

/// The series of the sorted rows.
std::vector<PanelSeries> series_in(const CsvSource& csv);

/// The files' rows from `begin` up to but not including `end`, by series number.
std::vector<std::vector<std::int64_t>> rows_by_series(const CsvSource& csv, std::int64_t begin,
                                                      std::int64_t end);

}  // namespace lagtape
