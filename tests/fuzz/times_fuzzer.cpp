#include "lagtape/core/text_lines.h"
#include "lagtape/data/time/find_grid.h"
#include "lagtape/data/time/time_detector.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

/// The lines are times of a column: where a format is found, it writes times that it reads as the same ones, and a grid of the
/// rows has their first and last time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view text) {
    const auto place_of = [](std::int64_t row) { return Place{.line = row + 1}; };
    TimeDetector detector;
    for (std::string line; take_line(text, line);) detector.add(line);
    const TimeColumn column = detector.finish(place_of);
    require(TimeFormat(column.format.text()) == column.format);
    const bool is_local = !column.format.is_absolute();
    for (const Instant time : column.times) {
      if (!is_local) break;  // offsets are written as those of the zone
      const std::string written = column.format.write(time);
      const auto read = column.format.read(written);
      require(read.has_value() && column.format.write(read->time) == written);
    }
    const FoundGrid found = find_grid(column.times, {}, place_of);
    require(found.grid.time(0) == column.times.front());
  });
}
