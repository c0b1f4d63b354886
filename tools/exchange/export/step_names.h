#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lagtape {

/// An input that is made from the time of a row: sin or cos of 2 pi (t - origin) / period.
struct CalendarTerm {
  std::int64_t input = 0;         ///< its place among the inputs of a step
  double period = 0, origin = 0;  ///< in seconds; t in seconds since 1970 by the model's clock
  bool is_sine = false;
  bool is_ahead = false;  ///< of the row that the step predicts, else of the row of the step

  bool operator==(const CalendarTerm&) const = default;
};

/// The names of a step's inputs and outputs, where they are known, and of the exported series.
struct StepNames {
  std::vector<std::string> inputs = {};
  std::vector<std::string> meanings = {};  ///< [inputs], "" for a column; empty: there are none
  std::vector<std::string> outputs = {};   ///< empty: those of the model
  std::string series = {};  ///< the series whose scaling is exported; empty: one scaling for all
  std::vector<std::string> classes = {};    ///< the words that the model tells apart
  std::vector<CalendarTerm> calendar = {};  ///< the last inputs, in their order
  std::string clock = {};                   ///< by which their times are: "UTC", "Europe/Berlin"

  /// Input i with what it is: "sine of hour: sin(2 pi t / 86400)".
  std::string described_input(std::size_t i) const;
  /// Sentences about inputs that are not simply a column at the row of the step; "" where all are.
  std::string note_of_inputs() const;
};

}  // namespace lagtape
