#include "lagtape/tools/new/recording_columns.h"

#include <cmath>

namespace lagtape {

std::vector<const RecordingColumn*> RecordingColumns::of_kind(RecordingColumn::Kind kind) const {
  std::vector<const RecordingColumn*> found;
  for (const RecordingColumn& column : columns)
    if (column.kind == kind) found.push_back(&column);
  return found;
}

std::int64_t RecordingColumns::season() const {
  constexpr double kDay = 86400;
  if (interval <= 0) return 0;
  if (interval < kDay) return std::llround(kDay / interval);
  if (interval < 6 * kDay) return 7;
  return interval < 20 * kDay ? 52 : 12;
}

}  // namespace lagtape
