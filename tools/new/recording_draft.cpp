#include <algorithm>
#include <cctype>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/formats/table_file.h"
#include "lagtape/data/series/read_panel.h"
#include "lagtape/data/tasks/registry.h"
#include "lagtape/data/time/time_names.h"
#include "lagtape/tools/new/describe_recording.h"
#include "lagtape/tools/new/draft.h"
#include "lagtape/tools/new/sequence_draft.h"

namespace lagtape {

namespace fs = std::filesystem;

namespace {

using Kind = RecordingColumn::Kind;

/// A column as an experiment names it.
Json name_of(const RecordingColumn& column) {
  return column.name.empty() ? Json(static_cast<std::uint64_t>(column.index)) : Json(column.name);
}

/// Says that a recording has no numbers to learn from, and which column comes close.
[[noreturn]] void refuse(const RecordingColumns& found, const std::string& file) {
  std::string hint;
  const auto has_text = [](const RecordingColumn& column) { return !column.text.empty(); };
  const auto has_both = [](const RecordingColumn& column) {
    return column.has_numbers && !column.text.empty();
  };
  auto close = std::ranges::find_if(found.columns, has_both);
  if (close == found.columns.end()) close = std::ranges::find_if(found.columns, has_text);
  if (close != found.columns.end())
    hint = text_of("Column ", name_of(*close).dump(), " has ", quote(close->text), " in line ",
                   close->text_line, ".");
  throw unexpected({file}, Rule::missing, "a column of numbers that change", "none", hint);
}

/// Says why a column cannot be predicted.
[[noreturn]] void refuse_target(const RecordingColumn& column, const std::string& file) {
  const std::string text =
      column.text.empty() ? "no numbers" : text_of(quote(column.text), " in line ", column.text_line);
  throw InputError(
      {file}, Rule::wrong_type,
      text_of("--target ", name_of(column).dump(), ": expected a column of numbers that change, ",
              column.kind == Kind::constant ? "and this one never does."
              : column.kind == Kind::time   ? "and this one has the times."
                                            : text_of("got ", text, ".")));
}

/// The column of a name, or of a number where columns have no names.
bool is_called(const RecordingColumn& column, const std::string& name) {
  return column.name.empty() ? name == std::to_string(column.index) : name == column.name;
}

/// Says why a column is not read; "" where it is.
std::string why_left_out(const RecordingColumn& column) {
  switch (column.kind) {
    case Kind::constant: return " never changes: left out.";
    case Kind::counter: return " counts the rows: left out.";
    case Kind::other: {
      const std::string text =
          column.text.empty() ? "dates"
                              : text_of("texts, such as ", quote(column.text), " in line ", column.text_line);
      return text_of(" has ", column.has_numbers ? "numbers and " : "", text, ": left out.");
    }
    default: return {};
  }
}

/// Throws InputError for a column of --target or --future that is none of the columns that can be read.
[[noreturn]] void refuse_name(const std::string& what, const std::string& name, const RecordingColumns& found,
                              bool with_words) {
  std::vector<std::string> names;
  for (const RecordingColumn& column : found.columns)
    if (column.kind == Kind::numbers || (with_words && column.kind == Kind::words))
      names.push_back(column.name.empty() ? std::to_string(column.index) : column.name);
  for (const SequenceLabel& label : found.sequences.labels)
    if (const std::string& own = found.columns[static_cast<std::size_t>(label.column)].name;
        !with_words && std::ranges::find(names, own) == names.end())
      names.push_back(own);
  throw InputError(unknown_name(what, name, names));
}

/// Says which columns are taken as known up to now.
void add_past_note(Draft& draft, const Json& only_past) {
  std::string names;
  for (const Json& name : only_past) names += text_of(names.empty() ? "" : ", ", name.dump());
  if (!names.empty())
    draft.notes.push_back(text_of(
        names, only_past.size() == 1 ? " is" : " are",
        " read and not predicted: a forecast needs rows in which ",
        only_past.size() == 1 ? "it is" : "they are",
        " known. Read as known up to now; for columns that are known ahead, such as weather forecasts: "
        "lagtape new --future COLUMN,..."));
}

void add_columns(Draft& draft, const RecordingColumns& found, const StartingPoint& start) {
  constexpr std::size_t kMostInputs = 16;
  Json input = Json::array(), future = Json::array(), categories = Json::object(), only_past = Json::array();
  Json fixed = Json::array();
  std::vector<std::string> beyond;
  for (const RecordingColumn& column : found.columns) {
    const Json name = name_of(column);
    if (std::ranges::find(found.series, column.name) != found.series.end()) continue;
    if (const std::string why = why_left_out(column); !why.empty())
      draft.notes.push_back(text_of("The column ", name.dump(), why));
    const bool is_target = is_called(column, start.target);
    const bool is_future =
        std::ranges::any_of(start.future, [&](auto& one) { return is_called(column, one); });
    if (is_target && column.kind != Kind::numbers) refuse_target(column, start.data);
    if (is_target) draft.data["target"] = Json::array({name});
    if (is_target && is_future)
      throw InputError({.item = "--future"}, Rule::conflict,
                       "is also the --target, whose later values are not known", name.dump());
    if (column.kind != Kind::numbers && column.kind != Kind::words) continue;
    if (column.kind == Kind::words && column.name.empty()) continue;
    if (input.size() + future.size() >= kMostInputs && !is_target && !is_future) {
      beyond.push_back(name.dump());
      continue;
    }
    const bool is_fixed = column.is_fixed && !is_target && !is_future;
    (is_fixed ? fixed : is_future ? future : input).push_back(name);
    if (column.kind == Kind::words) categories[column.name] = column.words;
    if (is_fixed) continue;
    const bool is_predicted = start.target.empty() ? column.kind == Kind::numbers : is_target;
    if (!is_predicted && !is_future) only_past.push_back(name);
  }
  if (found.of_kind(Kind::numbers).empty()) refuse(found, start.data);
  if (!start.target.empty() && !draft.data.contains("target"))
    refuse_name("column of numbers", start.target, found, false);
  for (const std::string& name : start.future)
    if (std::ranges::none_of(future, [&](const Json& one) {
          return one.is_string() ? one.get<std::string>() == name : one.dump() == name;
        }))
      refuse_name("column of --future", name, found, true);
  draft.data["input"] = input;
  if (!future.empty()) draft.data["future"] = future;
  if (!fixed.empty()) draft.data["static"] = fixed;
  if ((!future.empty() || !fixed.empty()) && !draft.data.contains("target")) {
    draft.data["target"] = Json::array();
    for (const Json& name : input)
      if (!name.is_string() || !categories.contains(name.get<std::string>()))
        draft.data["target"].push_back(name);
  }
  if (!beyond.empty())
    draft.notes.push_back(
        text_of("Only the first ", kMostInputs, " columns are read. Left out: ", listed(beyond, 8), "."));
  add_past_note(draft, only_past);
  if (!categories.empty()) draft.data["categories"] = categories;
}

/// Names the column or columns of times, and the inputs from the calendar.
void add_times(Draft& draft, const RecordingColumns& found) {
  for (const RecordingColumn* time : found.of_kind(Kind::time)) {
    if (time->name.empty() && !(found.has_names && time->index == 0)) {
      draft.notes.push_back(text_of("Column ", time->index,
                                    " has times: left out, as a \"time\" needs a name. ",
                                    "Give the file a first line with the names of its columns."));
      continue;
    }
    draft.data["time"] = found.time.size() == 1 ? Json(found.time[0]) : Json(found.time);
    if (!found.time_format.empty()) draft.data["time_format"] = found.time_format;
    if (!found.timezone.empty()) draft.data["timezone"] = found.timezone;
    if (found.interval > 0 && found.interval <= 86400)
      draft.data["calendar"] =
          found.interval < 86400 ? Json::array({"hour", "weekday"}) : Json::array({"weekday", "year"});
  }
}

/// Says that rows have no times, where a column looks as if it had some.
void add_lack_of_times(Draft& draft, const RecordingColumns& found) {
  if (!found.time.empty()) return;
  for (const RecordingColumn& column : found.columns) {
    const bool is_text = column.kind == Kind::other && !column.text.empty() && !column.has_numbers;
    const bool may_be_time = is_text && std::isdigit(static_cast<unsigned char>(column.text.front())) != 0;
    if (!may_be_time && !(is_text && has_time_name(column.name))) continue;
    draft.notes.push_back(
        text_of("Rows have no times, only numbers: those of ", name_of(column).dump(),
                " are in no format that is found. Write them as 2024-01-31 13:00 or with an offset "
                "(+01:00), or name the column in \"time\" and its \"time_format\"."));
    return;
  }
}

/// Says which column names the series of a table that has several.
void add_series(Draft& draft, const RecordingColumns& found) {
  if (found.series.empty()) return;
  draft.data["series"] = found.series.size() == 1 ? Json(found.series[0]) : Json(found.series);
  draft.notes.push_back(text_of(
      listed(found.series), found.series.size() == 1 ? " names" : " name", " the ", found.series_count,
      " series of the rows. Each is divided in time and scaled by itself, and all train one model."));
}

/// Chooses the window, which has some seasons. Throws InputError for a table that is too short for any.
void choose_window(Draft& draft, const RecordingColumns& found, const StartingPoint& start) {
  // Rows of the validation set; the test set has as many. Windows of several series begin before it, and those of training fit
  // into the training rows of all but the shortest series.
  const std::int64_t share = found.series.empty() ? found.rows * 15 / 100 - 1 : found.usual_rows * 6 / 10;
  if (share < 2)
    throw unexpected({start.data}, Rule::shape,
                     found.series.empty() ? "at least 20 rows to learn from"
                                          : "at least 4 rows of most series to learn from",
                     text_of(found.series.empty() ? found.rows : found.usual_rows));
  // Where seasons would be very many steps, inputs of the calendar show the time of day or year.
  constexpr std::int64_t kLongestSeason = 500;
  const std::int64_t longest = std::max<std::int64_t>(share / 2, 1);
  if (draft.season > kLongestSeason || draft.season + 3 > longest) draft.season = 0;
  draft.data["window"] = std::clamp<std::int64_t>(draft.season > 0 ? 7 * draft.season : 64, 1, longest);
}

}  // namespace

Draft draft_of_recording(const StartingPoint& start) {
  const fs::path file = fs::path(start.data);
  refuse_foreign_table(file);
  if (!is_table_file(file))
    throw unexpected({start.data}, Rule::wrong_type, "a .csv file with a row for each step", {},
                     "Of the tasks, audio takes .wav, ts .ts; `lagtape list tasks audio` says how.");
  const std::vector<fs::path> files = files_of(file);
  const RecordingColumns found = describe_recording(files.front());
  const SequenceLabel* label = label_to_learn(found, start);
  if (label != nullptr && files.size() == 1) return draft_of_sequences(found, *label, start);
  Draft draft;
  draft.name = name_from(is_pattern(file) ? fs::absolute(file).parent_path() : file);
  const std::string whose =
      !found.series.empty() ? text_of(found.series_count, " series, one below the other")
      : files.size() > 1
          ? text_of(files.front().filename().string(), ", the first of ", files.size(), " series")
          : "a recording";
  draft.about = text_of(found.rows, " rows of ", whose, "; every step predicts the next row");
  draft.data = {{"task", "series"}, {"path", path_from(start, file)}};
  draft.notes = found.notes;
  add_series(draft, found);
  add_columns(draft, found, start);
  add_times(draft, found);
  add_lack_of_times(draft, found);
  add_table_options(draft, found);
  const auto missing_in = [&](Kind kind) {
    std::int64_t missing = 0;
    for (const RecordingColumn* column : found.of_kind(kind)) missing += column->missing;
    for (std::size_t i = 1; i < files.size(); ++i)
      for (const RecordingColumn& column : describe_recording(files[i]).columns)
        if (column.kind == kind) missing += column.missing;
    return missing;
  };
  const std::int64_t missing = missing_in(Kind::numbers), without_word = missing_in(Kind::words);
  if (missing > 0 || without_word > 0) draft.data["missing"] = "hold";
  if (without_word > 0)
    draft.notes.push_back(text_of(without_word, without_word == 1 ? " cell" : " cells",
                                  " without a word: all inputs of its column are 0 there."));
  if (missing > 0) {
    draft.notes.push_back(text_of(
        missing, " cells are empty: each gets the number before it, and is excluded from loss and metrics."));
  }
  draft.has_gaps = found.has_gaps || !found.series.empty();
  draft.is_uneven = found.is_uneven;
  if (!found.series.empty()) draft.frequency = found.frequency;
  if (found.has_gaps && found.series.empty())
    draft.notes.emplace_back(
        "Rows are missing: no window crosses such a gap, unless \"across_gaps\" is true.");
  draft.season = found.season();
  choose_window(draft, found, start);
  const TaskLoader loader = read_data(*find_named(tasks(), "series"), draft.data, draft.data_options);
  if (loader.shape) draft.shape = *loader.shape;
  return draft;
}

}  // namespace lagtape
