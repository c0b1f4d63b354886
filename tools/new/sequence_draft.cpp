#include "lagtape/tools/new/sequence_draft.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/tasks/registry.h"

namespace lagtape {

namespace {

using Kind = RecordingColumn::Kind;

/// The column or columns that distinguish sequences.
Json sequence_of(const RecordingColumns& found) {
  Json names = Json::array();
  for (const std::int64_t column : found.sequences.sequence)
    names.push_back(found.columns[static_cast<std::size_t>(column)].name);
  return names.size() == 1 ? names[0] : names;
}

/// The same for messages: 'subject' and 'trial'.
std::string names_of_sequence(const RecordingColumns& found) {
  std::string names;
  for (const std::int64_t column : found.sequences.sequence)
    names += (names.empty() ? "" : " and ") + quote(found.columns[static_cast<std::size_t>(column)].name);
  return names;
}

/// The columns of numbers and of words that change within a sequence.
Json inputs_of(const RecordingColumns& found, Draft& draft) {
  constexpr std::size_t kMostInputs = 64;
  const SequenceColumns& sequences = found.sequences;
  Json input = Json::array(), left_out = Json::array();
  std::int64_t missing = 0;
  for (const RecordingColumn& column : found.columns) {
    if (sequences.is_named_by(column.index) || column.index == sequences.time) continue;
    const bool is_fixed = sequences.label(column.index) != nullptr ||
                          std::ranges::find(sequences.fixed, column.index) != sequences.fixed.end();
    if (column.name == draft.data["target"] || column.index == sequences.group) continue;
    const bool is_read = column.kind == Kind::numbers || column.kind == Kind::words;
    if (!is_read || is_fixed || input.size() >= kMostInputs) {
      left_out.push_back(column.name);
      continue;
    }
    input.push_back(column.name);
    if (column.kind == Kind::words) draft.data["categories"][column.name] = column.words;
    missing += column.missing;
  }
  if (!left_out.empty())
    draft.notes.push_back(text_of("Not read, as no numbers or few words that change within a sequence: ",
                                  listed(left_out.get<std::vector<std::string>>(), 8), "."));
  if (missing > 0)
    draft.notes.push_back(
        text_of(missing, " cells are empty: each takes the number before it, or is none of the words."));
  if (missing > 0) draft.data["missing"] = "hold";
  return input;
}

}  // namespace

void add_table_options(Draft& draft, const RecordingColumns& found) {
  const TableOptions& options = found.options;
  if (options.decimal != '.') draft.data["decimal"] = std::string(1, options.decimal);
  if (options.thousands != 0) draft.data["thousands"] = std::string(1, options.thousands);
  if (options.strip_units) draft.data["units"] = "strip";
  std::vector<MissingCode> codes;
  for (const MissingCode& code : found.codes) {
    const bool has_names = found.has_names || !code.is_measured;  // lists by column need them
    const std::string seen = text_of(code.value, " in ", code.cells, " cells of ", listed(code.columns, 5));
    if (code.is_usual && has_names) {
      codes.push_back(code);
      draft.notes.push_back(
          text_of(seen, " is read as a missing number, because it is far from all others. If it is a ",
                  "measurement, leave \"missing_codes\" out."));
    } else {
      draft.notes.push_back(text_of(
          seen, " is far from all other numbers. It is read as a number; if it marks missing ones, write ",
          "\"missing_codes\": ", text_of_codes(missing_codes_json({code})), "."));
    }
  }
  if (codes.empty()) return;
  draft.data["missing_codes"] = missing_codes_json(codes);
  draft.data["missing"] = "hold";
}

const SequenceLabel* label_to_learn(const RecordingColumns& found, const StartingPoint& start) {
  const SequenceColumns& sequences = found.sequences;
  const bool has_sure = !sequences.labels.empty() && sequences.labels.front().is_called_so;
  if (sequences.broken && !has_sure) {
    const std::string& label = found.columns[static_cast<std::size_t>(sequences.broken->column)].name;
    if (start.target.empty() || start.target == label) throw InputError(sequences.broken->problem);
  }
  if (start.target.empty()) return sequences.is_likely() ? &sequences.labels.front() : nullptr;
  const auto target = std::ranges::find(found.columns, start.target, &RecordingColumn::name);
  if (target == found.columns.end()) return nullptr;
  const SequenceLabel* label = sequences.label(target->index);
  const auto name = [&](std::int64_t column) { return found.columns[static_cast<std::size_t>(column)].name; };
  if (label == nullptr && found.time.empty() && sequences.is_likely())
    throw InputError(
        Problem{.place = {.file = start.data, .item = text_of("--target ", quote(start.target))},
                .rule = Rule::conflict,
                .statement = text_of("the table has ", sequences.count, " sequences, told apart by ",
                                     names_of_sequence(found), ", and this column changes within them"),
                .hint = text_of("A column with one value a sequence, such as ",
                                quote(name(sequences.labels.front().column)),
                                ", is learned by the task \"sequences\".")});
  return label;
}

Draft draft_of_sequences(const RecordingColumns& found, const SequenceLabel& label,
                         const StartingPoint& start) {
  const SequenceColumns& sequences = found.sequences;
  const auto name = [&](std::int64_t column) { return found.columns[static_cast<std::size_t>(column)].name; };
  Draft draft;
  draft.name = name_from(start.data);
  draft.about = text_of(sequences.count, " sequences in ", found.rows, " rows, with one ",
                        label.classes.empty() ? "number" : "class", " each");
  draft.data = {
      {"task", "sequences"}, {"path", path_from(start, start.data)}, {"sequence", sequence_of(found)}};
  if (sequences.time >= 0) draft.data["time"] = name(sequences.time);
  draft.data["target"] = name(label.column);
  if (std::ranges::any_of(label.classes, [](const std::string& one) { return is_missing(one); }))
    draft.data["classes"] = label.classes;
  draft.notes = found.notes;
  if (sequences.group >= 0 && sequences.group != label.column) {
    draft.data["group"] = name(sequences.group);
    draft.notes.push_back(text_of("All sequences of one ", quote(name(sequences.group)),
                                  " are in the same set, so scores are for others than in training."));
  }
  const Json input = inputs_of(found, draft);
  if (input.empty())
    throw InputError({start.data}, Rule::missing,
                     "expected a column of numbers that change within a sequence, got none.");
  draft.data["input"] = input;
  draft.notes.push_back(
      label.classes.empty()
          ? text_of("The column ", quote(name(label.column)), " has one number for each sequence of ",
                    names_of_sequence(found), ", which is predicted.")
          : text_of("The column ", quote(name(label.column)), " has one of ", label.classes.size(),
                    " classes for each sequence of ", names_of_sequence(found), ": ",
                    listed(label.classes, 8), ". Another one: lagtape new --target COLUMN."));
  add_table_options(draft, found);
  draft.shape = {.length = found.rows / sequences.count,
                 .input = std::ssize(input),
                 .output = label.classes.empty() ? 1 : 0,
                 .classes = std::ssize(label.classes)};
  draft.needs_loss = true;
  read_data(*find_named(tasks(), "sequences"), draft.data, draft.data_options, nullptr,
            label.classes.empty());
  return draft;
}

}  // namespace lagtape
