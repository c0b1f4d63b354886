#pragma once

#include "lagtape/data/time/instant.h"
#include "lagtape/tools/new/recording_columns.h"
#include "lagtape/tools/new/recording_times.h"
#include "lagtape/tools/new/series_columns.h"

namespace lagtape {

/// Says for which dates the numbers of a column were taken.
void note_count(const NamedTable& table, const RecordingColumn& column, const RecordingTimes& times,
                RecordingColumns& found);
/// Finds year, month and perhaps day in the first columns of a table without names, which are then no inputs.
void find_unnamed_parts(const NamedTable& table, RecordingColumns& found);
/// Leaves out columns of the years of the rows with a fraction, which are times once more.
void find_decimal_years(const NamedTable& table, RecordingColumns& found);
/// Finds interval and gaps, as a training takes them.
void describe_times(std::vector<Instant> times, RecordingColumns& found);
/// Finds the times of day of a column of dates that come again, or of the only date, which all rows have.
void find_clock(const NamedTable& table, RecordingColumns& found);
/// Finds the columns of year, month, day and so on, which are a time together.
void find_parts(const NamedTable& table, RecordingColumns& found);
/// Refuses a column that is the first one or is called as times are and has dates in all rows but few.
void refuse_broken_times(const NamedTable& table, const RecordingColumns& found);
/// Finds the zone of times with offsets from UTC: one that has all of them where they change, or whose days the rows are.
void find_own_zone(const RecordingTimes& times, RecordingColumns& found);
/// Finds the zone of local times of which some come twice, as clocks are set back.
void find_zone(const NamedTable& table, const FoundSeries& series, RecordingColumns& found);
/// Finds the frequency of the rows of all series together.
void find_frequency(const NamedTable& table, RecordingColumns& found);
/// Takes the first column, which counts evenly, as the time, in the unit that its name has.
void take_count(const NamedTable& table, RecordingColumns& found);

}  // namespace lagtape
