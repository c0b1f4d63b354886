#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lagtape {

/// An input computed from the time of a row: sin or cos of 2 pi (t - origin) / period.
struct CalendarTerm {
  std::int64_t input = 0;         ///< its index among the inputs of a step
  double period = 0, origin = 0;  ///< in seconds; t in seconds since 1970 on the model's clock
  bool is_sine = false;
  bool is_ahead = false;  ///< of the row that the step predicts, else of the step's row

  bool operator==(const CalendarTerm&) const = default;
};

/// The names of a step's inputs and outputs, if known, and of the exported series.
struct StepNames {
  std::vector<std::string> inputs = {};
  std::vector<std::string> meanings = {};  ///< [inputs], "" for a column; empty: there are none
  std::vector<std::string> outputs = {};   ///< empty: those of the model
  std::string series = {};  ///< the series whose scaling is exported; empty: one scaling for all
  std::vector<std::string> classes = {};    ///< the words that the model distinguishes
  std::vector<CalendarTerm> calendar = {};  ///< the last inputs, in order
  std::string clock = {};                   ///< the clock of their times: "UTC", "Europe/Berlin"

  /// Input i with its definition: "sine of hour: sin(2 pi t / 86400)".
  std::string described_input(std::size_t i) const;
  /// Sentences about inputs that are not simply a column at the step's row; "" if all are.
  std::string note_of_inputs() const;
};

}  // namespace lagtape
