#pragma once

#include "lagtape/data/time/instant.h"
#include "lagtape/tools/new/recording_columns.h"
#include "lagtape/tools/new/recording_times.h"
#include "lagtape/tools/new/series_columns.h"

namespace lagtape {

/// Notes the dates as which a column's numbers were read.
void note_count(const NamedTable& table, const RecordingColumn& column, const RecordingTimes& times,
                RecordingColumns& found);
/// Finds year, month and perhaps day in the first columns of a table without names, which are then not inputs.
void find_unnamed_parts(const NamedTable& table, RecordingColumns& found);
/// Omits columns of decimal years, which repeat the times.
void find_decimal_years(const NamedTable& table, RecordingColumns& found);
/// Finds interval and gaps, as training does.
void describe_times(std::vector<Instant> times, RecordingColumns& found);
/// Finds the times of day for a column of dates that repeat, or for the only date of all rows.
void find_clock(const NamedTable& table, RecordingColumns& found);
/// Finds the columns of year, month, day and so on, which form a time.
void find_parts(const NamedTable& table, RecordingColumns& found);
/// Refuses a column that is the first one or has the name of times, and has dates in all rows except a few.
void refuse_broken_times(const NamedTable& table, const RecordingColumns& found);
/// Finds the zone of times with offsets from UTC: one with all of them, where they change, or whose days the rows are.
void find_own_zone(const RecordingTimes& times, RecordingColumns& found);
/// Finds the zone of local times that come twice because clocks are set back.
void find_zone(const NamedTable& table, const FoundSeries& series, RecordingColumns& found);
/// Finds the frequency of the rows of all series together.
void find_frequency(const NamedTable& table, RecordingColumns& found);
/// Uses the first column, which counts evenly, as the time, in the unit of its name.
void take_count(const NamedTable& table, RecordingColumns& found);

}  // namespace lagtape
