// Reads requests from stdin, and answers each with a line: a test compares the answers with those of pandas. A request is a
// word, its arguments up to an empty line, and its values up to another empty line.
#include <iostream>

#include "lagtape/core/error.h"
#include "lagtape/data/time/find_grid.h"
#include "lagtape/data/time/time_detector.h"

using namespace lagtape;

namespace {

using Lines = std::vector<std::string>;

Lines lines_up_to_empty() {
  Lines lines;
  for (std::string line; std::getline(std::cin, line) && !line.empty();) lines.push_back(line);
  return lines;
}

std::vector<Instant> instants_of(const Lines& values) {
  std::vector<Instant> times;
  for (const std::string& value : values) times.push_back(std::stoll(value));
  return times;
}

void write(const std::vector<Instant>& times) {
  for (const Instant time : times) std::cout << '\t' << time;
}

Place place_of(std::int64_t row) { return {.line = row + 1}; }

/// A zone, and holidays as days since 1970.
TimeCalendar calendar_of(const Lines& arguments, std::size_t first = 0) {
  TimeCalendar calendar{.zone = TimeZone::named(arguments.at(first))};
  for (std::size_t i = first + 1; i < arguments.size(); ++i)
    calendar.holidays.push_back(std::stoll(arguments[i]));
  return calendar;
}

/// The name, the gaps, 40 steps after the last row and 40 before the first.
void write(const FoundGrid& found, std::size_t rows) {
  std::cout << '\t' << found.grid.frequency().name() << '\t' << found.gaps.size();
  std::int64_t last = static_cast<std::int64_t>(rows) - 1;
  for (const auto& [row, missing] : found.gaps) {
    std::cout << '\t' << row << '\t' << missing;
    last += missing;
  }
  for (std::int64_t step = 1; step <= 40; ++step) std::cout << '\t' << found.grid.time(last + step);
  for (std::int64_t step = 1; step <= 40; ++step) std::cout << '\t' << found.grid.time(-step);
}

void answer(const std::string& request, const Lines& arguments, const Lines& values) {
  if (request == "detect") {
    TimeDetector detector = arguments.empty() ? TimeDetector() : TimeDetector(TimeFormat(arguments[0]));
    for (const std::string& value : values) detector.add(value);
    const TimeColumn column = detector.finish(place_of);
    std::cout << '\t' << column.format.text() << '\t' << column.zone.name();
    write(column.times);
  } else if (request == "write") {
    const TimeFormat format(arguments.at(0));
    const TimeZone zone = TimeZone::named(arguments.at(1));
    for (const Instant time : instants_of(values)) std::cout << '\t' << format.write(time, zone);
  } else if (request == "to_utc") {
    write(TimeZone::named(arguments.at(0)).to_utc(instants_of(values), place_of));
  } else if (request == "to_local") {
    write(TimeZone::named(arguments.at(0)).to_local(instants_of(values)));
  } else if (request == "find") {
    write(find_grid(instants_of(values), calendar_of(arguments), place_of), values.size());
  } else if (request == "fit") {
    write(
        fit_grid(Frequency::parse(arguments.at(0)), instants_of(values), calendar_of(arguments, 1), place_of),
        values.size());
  } else if (request == "name") {
    std::cout << '\t' << Frequency::parse(arguments.at(0)).name();
  } else {
    throw Error("unknown request " + request);
  }
}

}  // namespace

int main() {
  for (std::string request; std::getline(std::cin, request);) {
    const Lines arguments = lines_up_to_empty(), values = lines_up_to_empty();
    try {
      std::cout << "found";
      answer(request, arguments, values);
    } catch (const InputError& error) {
      std::cout << "\nproblem\t" << error.what();
    }
    std::cout << "\ndone" << std::endl;
  }
}
