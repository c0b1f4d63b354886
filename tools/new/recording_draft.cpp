#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/io/ending.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/new/draft.h"
#include "lagtape/tools/new/recording_columns.h"

namespace lagtape {

namespace fs = std::filesystem;

namespace {

using Kind = RecordingColumn::Kind;

/// A column as an experiment names it.
Json name_of(const RecordingColumn& column) {
  return column.name.empty() ? Json(static_cast<std::uint64_t>(column.index)) : Json(column.name);
}

std::string name_from(const fs::path& file) {
  std::string name = file.stem().string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-') c = '_';
  return name.empty() || name[0] == '-' ? "mine" : name.substr(0, 100);
}

/// Says that a recording has no numbers to learn from, and which column comes close.
[[noreturn]] void refuse(const RecordingColumns& found, const std::string& file) {
  std::string message = text_of(file, ": expected a column of numbers that change, and found none.");
  const auto has_text = [](const RecordingColumn& column) { return !column.text.empty(); };
  const auto has_both = [](const RecordingColumn& column) {
    return column.has_numbers && !column.text.empty();
  };
  auto close = std::ranges::find_if(found.columns, has_both);
  if (close == found.columns.end()) close = std::ranges::find_if(found.columns, has_text);
  if (close != found.columns.end())
    message += text_of(" Column ", name_of(*close).dump(), " has ", quote(close->text), " in line ",
                       close->text_line, ".");
  throw InputError(message);
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

void add_columns(Draft& draft, const RecordingColumns& found, const std::string& file,
                 const std::string& target) {
  constexpr std::size_t kMostInputs = 16;
  Json input = Json::array(), categories = Json::object();
  for (const RecordingColumn& column : found.columns) {
    const std::string quoted = name_of(column).dump();
    if (column.kind == Kind::constant)
      draft.notes.push_back(text_of("The column ", quoted, " never changes: left out."));
    if (column.kind == Kind::milliseconds)
      draft.notes.push_back(text_of("The column ", quoted,
                                    " counts milliseconds since 1970: left out. Written in ",
                                    "seconds, or as dates, it can be the \"time\"."));
    if (column.kind == Kind::other) {
      const std::string text =
          column.text.empty() ? "dates"
                              : text_of("texts, such as ", quote(column.text), " in line ", column.text_line);
      draft.notes.push_back(text_of("The column ", quoted, " has ", column.has_numbers ? "numbers and " : "",
                                    text, ": left out."));
    }
    const bool chosen =
        name_of(column) == target || (target == std::to_string(column.index) && column.name.empty());
    if ((column.kind == Kind::numbers || column.kind == Kind::words) &&
        (input.size() < kMostInputs || chosen))
      input.push_back(name_of(column));
    if (column.kind == Kind::words && !column.name.empty()) categories[column.name] = column.words;
    if (chosen && column.kind == Kind::numbers) draft.data["target"] = Json::array({name_of(column)});
    if (chosen && column.kind != Kind::numbers) refuse_target(column, file);
  }
  if (found.of_kind(Kind::numbers).empty()) refuse(found, file);
  draft.data["input"] = input;
  if (!target.empty() && !draft.data.contains("target")) {
    std::vector<std::string> names;
    for (const RecordingColumn* column : found.of_kind(Kind::numbers))
      names.push_back(column->name.empty() ? std::to_string(column->index) : column->name);
    throw InputError(unknown_name("column of numbers", target, names));
  }
  for (const RecordingColumn& column : found.columns) {
    const Json name = name_of(column);
    const Json targets = draft.data.value("target", Json());
    const bool is_target = targets.is_null() ? column.kind == Kind::numbers : targets[0] == name;
    if (!is_target && std::ranges::find(input, name) != input.end())
      draft.notes.push_back(
          text_of(name.dump(), " is read and not predicted: a forecast needs rows in which it is known."));
  }
  if (!categories.empty()) draft.data["categories"] = categories;
}

}  // namespace

Draft draft_of_recording(const StartingPoint& start) {
  const fs::path file = fs::path(start.data);
  if (ending_of(file) != ".csv")
    throw InputError(text_of(
        start.data, ": expected a .csv file with a row for each step. Of the tasks, arrays takes .npz, ",
        "audio .wav, ts .ts; `lagtape list tasks arrays` says how."));
  const RecordingColumns found = describe_recording(file);
  Draft draft;
  draft.name = name_from(file);
  draft.about = text_of(found.rows, " rows of a recording; every step predicts the next row");
  const fs::path base = start.base.empty() ? fs::current_path() : fs::absolute(start.base);
  draft.data = {{"task", "series"}, {"path", fs::absolute(file).lexically_relative(base).string()}};
  add_columns(draft, found, start.data, start.target);
  for (const RecordingColumn* time : found.of_kind(Kind::time)) {
    if (time->name.empty()) {
      draft.notes.push_back(text_of("Column ", time->index,
                                    " has times: left out, as a \"time\" needs a name. ",
                                    "Give the file a first line with the names of its columns."));
      continue;
    }
    draft.data["time"] = time->name;
    if (found.interval > 0 && found.interval <= 86400)
      draft.data["calendar"] =
          found.interval < 86400 ? Json::array({"hour", "weekday"}) : Json::array({"weekday", "year"});
  }
  if (found.decimal_comma) draft.data["decimal"] = ",";
  const auto missing_in = [&](Kind kind) {
    std::int64_t missing = 0;
    for (const RecordingColumn* column : found.of_kind(kind)) missing += column->missing;
    return missing;
  };
  const std::int64_t missing = missing_in(Kind::numbers), without_word = missing_in(Kind::words);
  if (missing > 0 || without_word > 0) draft.data["missing"] = "hold";
  if (without_word > 0)
    draft.notes.push_back(text_of(without_word, without_word == 1 ? " cell" : " cells",
                                  " without a word: none of the words stands there."));
  if (missing > 0) {
    draft.notes.push_back(text_of(
        missing,
        " cells are empty: the number before stands for them, and none of them is learnt or scored."));
  }
  if (found.has_gaps) draft.notes.emplace_back("Rows are missing in between: no window crosses such a gap.");
  draft.season = found.season();
  const std::int64_t share =
      found.rows * 15 / 100 - 1;  // rows of the validation set; the test set has as many
  if (share < 2)
    throw InputError(text_of(start.data, ": expected at least 20 rows to learn from. Got ", found.rows, "."));
  // A window that reaches back by a season has some of them; where that were very many steps, the calendar tells the
  // time of day or year.
  constexpr std::int64_t kLongestSeason = 500;
  const std::int64_t longest = std::max<std::int64_t>(share / 2, 1);
  if (draft.season > kLongestSeason || draft.season + 3 > longest) draft.season = 0;
  draft.data["window"] = std::clamp<std::int64_t>(draft.season > 0 ? 7 * draft.season : 64, 1, longest);
  const TaskLoader loader = read_data(*task_named("series"), draft.data, draft.data_options);
  if (loader.shape) draft.shape = *loader.shape;
  return draft;
}

}  // namespace lagtape
