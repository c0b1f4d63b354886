#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/data/table/missing_code.h"
#include "lagtape/data/table/table_options.h"
#include "lagtape/tools/new/recording_column.h"
#include "lagtape/tools/new/sequence_columns.h"

namespace lagtape {

/// Facts found in a table without any settings.
struct RecordingColumns {
  std::vector<RecordingColumn> columns = {};
  std::int64_t rows = 0;
  bool has_names = false;
  TableOptions options = {};             ///< how all numbers are written
  std::vector<MissingCode> codes = {};   ///< numbers that probably mark missing values
  std::vector<std::string> notes = {};   ///< sentences about the file
  std::vector<std::string> series = {};  ///< columns that name a row's series
  std::int64_t series_count = 0;
  SequenceColumns sequences = {};      ///< the columns of a table of sequences with one label each
  std::int64_t usual_rows = 0;         ///< at least three in four series have this many rows or more
  std::vector<std::string> time = {};  ///< the names of the column of times, or of dates and times of day
  std::string time_format = {};        ///< the format of times that are numbers
  /// the zone of the times' clock, or the one whose midnights the times are, in UTC
  std::string timezone = {};
  double interval = 0;         ///< median number of seconds between rows; 0 without dates
  bool has_gaps = false;       ///< some time differences are larger
  bool is_uneven = false;      ///< the differences change repeatedly
  std::string frequency = {};  ///< frequency of all times together; "" if they have none, or there are none

  std::vector<const RecordingColumn*> of_kind(RecordingColumn::Kind kind) const;
  /// The steps of a day, a week or a year; 0 without times.
  std::int64_t season() const;
};

}  // namespace lagtape
