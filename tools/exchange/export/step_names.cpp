#include "lagtape/tools/exchange/export/step_names.h"

#include "lagtape/core/error.h"

namespace lagtape {

std::string StepNames::described_input(std::size_t i) const {
  return i >= meanings.size() || meanings[i].empty() ? inputs[i] : text_of(inputs[i], ": ", meanings[i]);
}

std::string StepNames::note_of_inputs() const {
  std::string note;
  for (const std::string& name : inputs)
    if (const std::size_t shift = name.rfind("[+"); shift != std::string::npos && name.ends_with(']')) {
      note = text_of(name, " is ", name.substr(0, shift), " of the row ",
                     name.substr(shift + 2, name.size() - shift - 3),
                     " later than the step's, which is known ahead: the row that the step predicts.");
      break;
    }
  if (!calendar.empty())
    note +=
        text_of(note.empty() ? "" : " ",
                "t is the time of the row in seconds since 1970-01-01 00:00, by the clock of ", clock, ".");
  return note;
}

}  // namespace lagtape
