#pragma once

#include "lagtape/data/time/instant.h"
#include "lagtape/tools/new/recording_columns.h"
#include "lagtape/tools/new/recording_times.h"
#include "lagtape/tools/new/series_columns.h"

namespace lagtape {

/// Notes as which dates a column's numbers were read.
void note_count(const NamedTable& table, const RecordingColumn& column, const RecordingTimes& times,
                RecordingColumns& found);
/// Finds year, month and possibly day in the first columns of a table without names; these are then not inputs.
void find_unnamed_parts(const NamedTable& table, RecordingColumns& found);
/// Omits columns of decimal years, which repeat the times.
void find_decimal_years(const NamedTable& table, RecordingColumns& found);
/// Finds the interval and gaps, as training does.
void describe_times(std::vector<Instant> times, RecordingColumns& found);
/// Finds the times of day for a date column with repeated dates, or for the only date of all rows.
void find_clock(const NamedTable& table, RecordingColumns& found);
/// Finds the columns of year, month, day and so on that form a time.
void find_parts(const NamedTable& table, RecordingColumns& found);
/// Rejects a column that comes first or is named like a time column, and has dates in all rows except a few.
void refuse_broken_times(const NamedTable& table, const RecordingColumns& found);
/// Finds the zone of times with UTC offsets: one that matches them all, if they change, or the one whose days
/// the rows are.
void find_own_zone(const RecordingTimes& times, RecordingColumns& found);
/// Finds the zone of local times that occur twice because clocks are set back.
void find_zone(const NamedTable& table, const FoundSeries& series, RecordingColumns& found);
/// Finds the frequency of the rows of all series together.
void find_frequency(const NamedTable& table, RecordingColumns& found);
/// Uses the first column, which counts evenly, as the time, in the unit of its name.
void take_count(const NamedTable& table, RecordingColumns& found);

}  // namespace lagtape
