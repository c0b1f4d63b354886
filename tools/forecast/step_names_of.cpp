#include "lagtape/tools/forecast/step_names_of.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_pointer.h"
#include "lagtape/data/time/calendar.h"
#include "lagtape/tools/forecast/recording_model.h"
#include "lagtape/tools/forecast/sequence_prediction.h"
#include "lagtape/tools/train/provenance.h"

namespace lagtape {
namespace {

/// The formula of a calendar term: "sin(2 pi (t - 345600) / 604800)".
std::string formula_of(const CalendarTerm& term) {
  const std::string time = term.origin == 0 ? "t" : text_of("(t - ", term.origin, ")");
  return text_of(term.is_sine ? "sin" : "cos", "(2 pi ", time, " / ", std::llround(term.period), ")");
}

/// The terms are the last inputs: for each row that is read, sine and cosine of each period.
std::vector<CalendarTerm> calendar_of(const SeriesOptions& options, std::int64_t inputs) {
  std::vector<CalendarTerm> terms;
  for (const std::int64_t shift : options.shifts_of(ColumnRole::future))
    for (const std::string& name : options.calendar)
      for (const bool is_sine : {true, false}) {
        const CalendarInput& input = calendar_input(name);
        terms.push_back(
            {.period = input.seconds, .origin = input.origin, .is_sine = is_sine, .is_ahead = shift > 0});
      }
  for (std::size_t i = 0; i < terms.size(); ++i)
    terms[i].input = inputs - std::ssize(terms) + static_cast<std::int64_t>(i);
  return terms;
}

/// The inputs other than columns: masks and words come after the columns, calendar terms last.
std::vector<std::string> meanings_of(const StepNames& names, std::int64_t columns, bool has_masks) {
  std::vector<std::string> meanings(names.inputs.size());
  const std::int64_t words = has_masks ? 2 * columns : columns,
                     end = std::ssize(meanings) - std::ssize(names.calendar);
  for (std::int64_t i = columns; i < end; ++i)
    meanings[static_cast<std::size_t>(i)] =
        i < words ? "1 where there is a number, else 0" : "1 for that word, else 0";
  for (const CalendarTerm& term : names.calendar)
    meanings[static_cast<std::size_t>(term.input)] = formula_of(term);
  return meanings;
}

/// The columns of numbers, each as often as it is read.
std::int64_t columns_of(const SeriesOptions& options) {
  if (options.reads_nothing()) return 1;
  std::int64_t count = 0;
  for (const auto& [column, role] : options.inputs())
    if (!options.is_category(column)) count += std::ssize(options.shifts_of(role));
  return count;
}

/// The targets of a recording at the row that a step predicts, each with what the loss makes of it: "q0.1 of y[+1]".
std::vector<std::string> targets_of(const SeriesOptions& options, const Model& model) {
  const Json& targets = options.target.is_null() ? options.past : options.target;
  const LossFunction& loss = model.loss();
  std::vector<std::string> names, parts = loss.output_names();
  if (parts.empty()) parts.emplace_back();
  for (const Json& target : targets)
    for (const std::string& part : parts) {
      if (!target.is_string()) return {};
      const std::string name = name_of_input(target.get<std::string>(), options.horizon);
      names.push_back(part.empty() ? name : text_of(part, " of ", name));
    }
  if (std::ssize(names) != model.output_width()) names.clear();
  return names;
}

std::vector<std::string> classes_of(const Model& model) {
  const Json data = data_of(model);
  const Json& classes = value_at(data, "/classes");
  std::vector<std::string> names;
  if ((model.loss() != Loss::cross_entropy && model.loss() != Loss::binary_cross_entropy) ||
      !classes.is_array())
    return names;
  for (const Json& name : classes) names.push_back(name.get<std::string>());
  return names;
}

}  // namespace

StepNames step_names_of(const Model& model) {
  StepNames names{
      .inputs = input_names_of(model), .outputs = class_outputs_of(model), .classes = classes_of(model)};
  const std::string task = data_of(model).value("task", "");
  if (task == "sequences" && !names.inputs.empty()) {
    const SequenceOptions options = sequence_options_of(model);
    names.meanings = meanings_of(names, std::ssize(options.numbers()), options.missing == Missing::mask);
  }
  if (task != "series") return names;
  const SeriesOptions options = series_options_of(model);
  names.calendar = calendar_of(options, model.input_width());
  names.clock = options.timezone.empty() ? "UTC" : options.timezone;
  if (!names.inputs.empty())
    names.meanings = meanings_of(names, columns_of(options), options.missing == Missing::mask);
  if (names.outputs.empty()) names.outputs = targets_of(options, model);
  return names;
}

}  // namespace lagtape
