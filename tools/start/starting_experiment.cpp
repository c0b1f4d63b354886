#include "lagtape/tools/start/starting_experiment.h"

#include <algorithm>
#include <map>
#include <optional>

#include "lagtape/cells/registry.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/ending.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/registry.h"
#include "lagtape/tools/start/commented_json.h"
#include "lagtape/tools/start/recording_columns.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;
using Kind = RecordingColumn::Kind;

/// The experiment that is being made, and what its parts are chosen by.
struct Draft {
  Json data = Json::object();
  std::vector<OptionDoc> data_options;
  std::string name, about;         ///< of the experiment; one line about its data
  std::vector<std::string> notes;  ///< sentences about what was seen in the data
  DataShape shape{.length = 100};  ///< as far as it is known before the data are read
  std::int64_t season = 0;         ///< steps after which things come again; 0: unknown
  bool is_known = true;            ///< whether the shape is more than a guess
  bool needs_loss = false;         ///< an experiment has to name it, as its options do not tell the targets
  bool fresh = false, has_valid = true;
};

const TaskEntry* task_named(const std::string& name) {
  for (const TaskEntry* entry : tasks())
    if (entry->name == name) return entry;
  return nullptr;
}

/// The options of a task that is read from `data`, and its loader. `missing` receives the keys that must be there.
TaskLoader read_data(const TaskEntry& entry, const Json& data, std::vector<OptionDoc>& options,
                     std::vector<std::string>* missing = nullptr) {
  JsonErrors errors;
  JsonReader reader(data, "/data", errors);
  reader.raw("task", "");
  TaskLoader loader = entry.read(reader, {.batch = 16, .every_step = true, .real_loss = true});
  options = reader.documentation();
  if (missing == nullptr) return loader;
  try {
    errors.raise("");
  } catch (const InputError& error) {
    const std::string text = error.what();
    for (const OptionDoc& option : options)
      if (text.find(text_of("/", option.key, ": is missing")) != text.npos) missing->push_back(option.key);
  }
  return loader;
}

/// First values of options that have no default, by their names; any other is the smallest that is allowed.
Json first_value(const OptionDoc& option, const Draft& draft, std::int64_t units) {
  const std::int64_t length = std::max<std::int64_t>(draft.shape.length, 1);
  const std::int64_t lag = draft.season > 0 ? draft.season : std::clamp<std::int64_t>(length / 20, 1, 50);
  const std::map<std::string, Json> known = {{"units", units},
                                             {"path", draft.name},
                                             {"tau", lag},
                                             {"dt", 0.1},
                                             {"gamma", 2},
                                             {"epsilon", 2},
                                             {"length", std::min<std::int64_t>(length, 65536)},
                                             {"order", 16},
                                             {"theta", length},
                                             {"rate", 0.1},
                                             {"dilations", Json::array({1, 2, 4, 8})},
                                             {"window", 100}};
  if (option.type == "object") return Json{{"cell", "gru"}, {"units", units}};
  const auto found = known.find(option.key);
  if (found != known.end()) return found->second;
  return option.type == "string" ? Json(option.key) : Json(1);
}

/// An object with a first value for each option that has no default.
Json with_required(Json object, const std::vector<OptionDoc>& options, const Draft& draft,
                   std::int64_t units) {
  for (const OptionDoc& option : options)
    if (option.fallback.empty() && !object.contains(option.key))
      object[option.key] = first_value(option, draft, units);
  return object;
}

/// Looks at the files of a task, which alone tell some of its shapes.
void look_at_files(Draft& draft, const TaskLoader& loader, const StartingPoint& start) {
  ThreadPool pool(1);
  const Task task =
      loader.load({.base = start.base.empty() ? fs::current_path() : start.base, .seed = 0, .pool = pool});
  draft.shape = task.shape;
  draft.is_known = true;
  draft.has_valid = task.valid->size() > 0;
}

Draft draft_of_task(const TaskEntry& entry, const StartingPoint& start) {
  Draft draft;
  draft.name = entry.name;
  draft.about = entry.summary;
  std::vector<std::string> missing;
  read_data(entry, Json::object(), draft.data_options, &missing);
  draft.data = {{"task", entry.name}};
  for (const OptionDoc& option : draft.data_options)
    if (std::ranges::find(missing, option.key) != missing.end())
      draft.data[option.key] = first_value(option, draft, 1);
  if (!start.path.empty()) draft.data["path"] = start.path;
  const TaskLoader loader = read_data(entry, draft.data, draft.data_options);
  draft.is_known = loader.shape.has_value();
  draft.needs_loss = !draft.is_known;
  if (loader.shape) draft.shape = *loader.shape;
  if (!draft.is_known && !start.path.empty()) look_at_files(draft, loader, start);
  draft.fresh = loader.fresh;
  for (const OptionDoc& option : draft.data_options)
    if (option.key == "valid") draft.has_valid = draft.has_valid && option.fallback != "0";
  if (!entry.files.empty() && start.path.empty())
    draft.notes.push_back(
        text_of("`lagtape list tasks ", entry.name, "` says where its files are; `path` names them."));
  if (!draft.is_known)
    draft.notes.emplace_back(
        "Only the files tell its inputs and targets: with --path FOLDER, lagtape new looks at them.");
  return draft;
}

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
  throw InputError(text_of(file, ": --target ", name_of(column).dump(),
                           ": expected a column of numbers that change, ",
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
    throw InputError(unknown_name("column of numbers", target, names) + ".");
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
  const std::int64_t share = found.rows * 15 / 100 - 1;  // of the validation and of the test set
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

Json layers_of(const Draft& draft, const LayerEntry& cell, std::int64_t units, bool widened) {
  Json layers = Json::array();
  if (draft.shape.tokens > 0) {
    for (const LayerEntry& entry : sequence_layers())
      if (entry.takes_tokens) layers.push_back({{"layer", entry.name}, {"units", units}});
  }
  if (widened) layers.push_back({{"layer", "linear"}, {"units", units}});
  layers.push_back(with_required({{"cell", cell.name}}, options_of(cell), draft, units));
  return layers;
}

/// Comments from the options' own documentation, up to the first point at which it goes on.
void add_comments(CommentedJson& text, const std::string& pointer, const std::vector<OptionDoc>& options) {
  for (const OptionDoc& option : options) {
    const std::string about = option.about.substr(0, option.about.find_first_of(";:"));
    if (!about.empty() && about.size() <= 90) text.behind(pointer + "/" + option.key, about);
  }
}

/// The text with a capital letter in front.
std::string sentence(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

std::string text_of_draft(const Draft& draft, const LayerEntry& cell, std::int64_t units, bool widened) {
  const bool classes = draft.shape.classes > 0 || !draft.is_known;
  Json train = draft.fresh ? Json{{"steps", 2000}, {"evaluate_every", 100}, {"batch", 32}}
                           : Json{{"epochs", 100}, {"batch", 16}};
  if (draft.has_valid && !draft.fresh) train["patience"] = 20;
  train["clip"] = 1;
  Json experiment = {
      {"name", draft.data.value("task", "") == "series" ? draft.name : text_of(draft.name, "-", cell.name)},
      {"data", draft.data},
      {"model", {{"layers", layers_of(draft, cell, units, widened)}}}};
  if (draft.shape.every_step) experiment["model"]["readout"] = {{"at", "every_step"}};
  if (draft.needs_loss) experiment["loss"] = classes ? "cross_entropy" : "mse";
  const bool has_units = !classes && draft.shape.output > 1;  // of which an rmse would be a mixture
  experiment["metrics"] = has_units ? Json::array() : Json::array({classes ? "accuracy" : "rmse"});
  experiment["optimizer"] = {{"type", "adam"}, {"lr", units <= 32 ? 0.01 : 0.003}};
  experiment["train"] = train;

  CommentedJson text(experiment);
  text.before("", text_of("A first experiment: ", draft.name, ", by the cell ", cell.name, "."));
  text.before(
      "",
      "lagtape check FILE looks at the file and its data, lagtape train FILE trains it, and lagtape inspect");
  text.before("", "FILE prints every option with its default.");
  text.before("/data", sentence(draft.about));
  for (const std::string& note : draft.notes) text.before("/data", note);
  text.before("/data", text_of("All options: lagtape list tasks ", draft.data["task"].get<std::string>()));
  add_comments(text, "/data", draft.data_options);
  text.before("/model", sentence(std::string(cell.summary)));
  text.before("/model", text_of("All options: lagtape list cells ", cell.name));
  if (draft.shape.every_step) text.behind("/model/readout", "an answer at every step");
  text.before("/metrics", text_of("The loss is ", classes ? "cross_entropy" : "mse",
                                  has_units ? " of the scaled targets, and decides which state is kept."
                                            : "; these are reported beside it."));
  if (has_units)
    text.before("/metrics",
                "An \"rmse\" is of all targets in their units, so that the largest numbers decide.");
  text.before("/optimizer",
              "The rate is what to try first: 3 times as large, 3 times as small (lagtape search).");
  if (train.contains("patience"))
    text.behind("/train/patience", "epochs without a new best on the validation set, then it ends");
  if (train.contains("epochs")) text.behind("/train/epochs", "at most");
  if (train.contains("steps")) text.behind("/train/steps", "updates, each on new sequences");
  text.behind("/train/clip", "largest norm of the gradients");
  return text.str();
}

}  // namespace

std::string starting_experiment(const StartingPoint& start) {
  for (const std::string& path : {start.data, start.path})
    if (!is_utf8(path))
      throw InputError(text_of(quote(path), ": JSON cannot hold a path that is not UTF-8."));
  const LayerEntry* cell = find_layer(cells(), start.cell);
  if (cell == nullptr) throw InputError(unknown_name("cell", start.cell, names_of(cells())) + ".");
  const TaskEntry* task = task_named(start.data);
  if (task == nullptr && !fs::exists(start.data)) {
    if (start.data.find_first_of("./") != std::string::npos)  // in the name of no task
      throw InputError(text_of(start.data, ": there is no such file."));
    std::vector<std::string> names;
    for (const TaskEntry* entry : tasks()) names.emplace_back(entry->name);
    throw InputError(text_of(unknown_name("task or file", start.data, names), "."));
  }
  const Draft draft = task != nullptr ? draft_of_task(*task, start) : draft_of_recording(start);
  const bool simple = draft.shape.tokens == 0 && draft.shape.classes == 0;
  const std::int64_t units = start.units > 0 ? start.units : simple ? 32 : 64;
  const auto passes = [&](const std::string& text) {
    try {
      parse_experiment(text, "the new experiment", start.base.empty() ? fs::current_path() : start.base);
      return true;
    } catch (const InputError&) {
      return false;
    }
  };
  const std::string plain = text_of_draft(draft, *cell, units, false);
  if (passes(plain)) return plain;
  // Some cells need an input as wide as they are.
  const std::string widened = text_of_draft(draft, *cell, units, true);
  if (passes(widened)) return widened;
  parse_experiment(plain, "the new experiment", start.base);
  return plain;
}

}  // namespace lagtape
