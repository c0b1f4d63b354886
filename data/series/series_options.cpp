#include "lagtape/data/series/series_options.h"

#include <algorithm>
#include <set>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/series/calendar.h"

namespace lagtape {

namespace {

constexpr double kMostSteps = 1e8;

/// Reads a list of column names and numbers without repetition, or null.
Json read_columns(JsonReader& reader, const std::string& key, const std::string& about) {
  const Json list = reader.raw(key, about, "list of 1 or more (string | integer >= 0) | null");
  reader.fill(key, list);
  if (list.is_null()) return list;
  bool fits = list.is_array() && !list.empty();
  std::set<std::string> names;
  std::set<std::uint64_t> numbers;
  for (std::size_t i = 0; fits && i < list.size(); ++i) {
    fits = list[i].is_string() || list[i].is_number_unsigned();
    if (fits && !(list[i].is_string() ? names.insert(list[i].get<std::string>()).second
                                      : numbers.insert(list[i].get<std::uint64_t>()).second)) {
      reader.error(key, text_of("names the column ", list[i].dump(), " twice."));
      return {};
    }
  }
  if (fits) return list;
  reader.error(key, text_of("expected a list of columns, names or numbers from 0. Got ", list.dump(), "."));
  return {};
}

/// The texts of a list without repetition; notes an error for anything else.
std::vector<std::string> texts_of(const Json& list, JsonReader& reader, const std::string& key,
                                  const std::string& what) {
  std::vector<std::string> texts;
  std::set<std::string> known;
  bool fits = list.is_array();
  for (std::size_t i = 0; fits && i < list.size(); ++i) {
    fits = list[i].is_string() && known.insert(list[i].get<std::string>()).second;
    if (fits) texts.push_back(list[i].get<std::string>());
  }
  if (!fits) reader.error(key, text_of("expected a list of ", what, ", each once. Got ", list.dump(), "."));
  return texts;
}

void read_calendar(JsonReader& reader, SeriesOptions& options) {
  const Json& given =
      reader.raw("calendar",
                 "inputs from the time, each as sine and cosine: a list of \"hour\" (of the day), "
                 "\"weekday\" and \"year\" (day of the year)",
                 R"(list of ("hour" | "weekday" | "year") | null)", "[]");
  std::vector<std::string> known;
  for (const CalendarInput& input : kCalendar) known.emplace_back(input.name);
  std::vector<std::string> names;
  if (!given.is_null()) names = texts_of(given, reader, "calendar", "names");
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      reader.error("calendar", unknown_name("calendar input", name, known));
  for (const std::string& name : known)
    if (std::ranges::find(names, name) != names.end()) options.calendar.push_back(name);
  reader.fill("calendar", options.calendar);
  if (!options.calendar.empty() && options.time.empty())
    reader.error("calendar", "needs dates. Name their column with \"time\".");
}

void read_categories(JsonReader& reader, SeriesOptions& options) {
  const Json& given =
      reader.raw("categories",
                 R"(input columns of words, with the words: {"sky": ["clear", "rain"]} makes an )"
                 "input of each word, 1 where it stands and else 0",
                 "object of list of string | null", "{}");
  Json filled = Json::object();
  if (!given.is_null() && !given.is_object()) {
    reader.error("categories", text_of("expected an object of lists of words. Got ", given.dump(), "."));
  } else {
    std::set<std::string> inputs;
    if (options.input.is_array())
      for (const Json& entry : options.input)
        if (entry.is_string()) inputs.insert(entry.get<std::string>());
    for (const auto& [column, list] : given.items()) {
      Category category{.column = column, .values = texts_of(list, reader, "categories/" + column, "words")};
      if (!inputs.contains(column))
        reader.error("categories/" + column, "is not in \"input\". Name it there too.");
      filled[column] = category.values;
      options.categories.push_back(std::move(category));
    }
  }
  reader.fill("categories", filled);
}

/// Reads a number, or "auto".
void read_stride(JsonReader& reader, SeriesOptions& options) {
  const Json& given = reader.raw(
      "stride",
      "steps from a window to the next. \"auto\": `window` with targets at every step, but in training "
      "less where an epoch would have fewer than 10 updates; 1 with a target after the last",
      R"(integer >= 1 and <= 100000000 | "auto" | null)", R"("auto")");
  reader.fill("stride", given.is_null() ? Json("auto") : given);
  if (given.is_null() || given == "auto") return;
  if (given.is_number_unsigned() && given.get<std::int64_t>() >= 1 && given.get<double>() <= kMostSteps) {
    options.stride = given.get<std::int64_t>();
  } else {
    reader.error("stride", text_of("expected \"auto\" or an integer of at least 1. Got ", given.dump(), "."));
  }
}

void read_paths(JsonReader& reader, SeriesOptions& options) {
  const Json& given = reader.raw(
      "path",
      "a .csv, .npy or .npz file, relative to the experiment file, or a list of files, each a recording of "
      "its own; with a * in its name, all such files",
      "string | list of 1 or more string", "");
  if (given.is_string()) options.paths = {given.get<std::string>()};
  if (given.is_array()) options.paths = texts_of(given, reader, "path", "files");
  if (given.is_null() && reader.is_object())
    reader.error("path", Problem{.rule = Rule::missing, .expected = "a file, or a list of files"});
  if (!given.is_null() && !given.is_string() && !given.is_array())
    reader.error("path", text_of("expected a file, or a list of files. Got ", given.dump(), "."));
  if (given.is_array() && given.empty()) reader.error("path", "expected at least one file.");
}

void read_format(JsonReader& reader, SeriesOptions& options) {
  read_paths(reader, options);
  reader.optional("array", options.array, "name of the array in an .npz file; \"\": its only one");
  std::string separator = "auto", decimal = ".";
  reader.choice("separator", separator, {"auto", ",", ";", "\t", "|"}, "character between two columns");
  reader.choice("decimal", decimal, {".", ","}, "decimal point of the numbers");
  options.separator = separator == "auto" ? '\0' : separator[0];
  options.decimal = decimal[0];
  reader.optional(
      "time", options.time,
      "column of the times, ISO dates or seconds since 1970, by which rows are sorted and gaps are "
      "found; \"\": rows are equally spaced");
}

void read_splits(JsonReader& reader, SeriesOptions& options) {
  reader.optional("train", options.train, {.min = 0, .max = 1, .above_min = true},
                  "share of the training set: the first rows (or recordings, if there are several)");
  reader.optional("valid", options.valid, between(0, 1), "share of the validation set: the next rows");
  reader.optional("test", options.test, between(0, 1), "share of the test set: the next rows");
  if (options.train + options.valid + options.test > 1 + 1e-9) {
    reader.error("test", "the shares of train, valid and test add up to more than 1.");
  }
}

}  // namespace

std::string SeriesOptions::where() const {
  if (paths.empty()) return {};
  return paths.size() == 1 ? paths.front() : text_of(paths.front(), " and ", paths.size() - 1, " more");
}

std::string name_of_mask(const std::string& column) { return column + " is there"; }
std::string name_of_word(const std::string& column, const std::string& word) { return column + "=" + word; }
std::string name_of_angle(const std::string& calendar, bool is_sine) {
  return (is_sine ? "sine of " : "cosine of ") + calendar;
}

std::vector<std::string> SeriesOptions::input_names() const {
  std::vector<std::string> names, masks;
  if (input.is_null()) return names;
  for (const Json& entry : input) {
    const std::string name = entry.is_string() ? entry.get<std::string>() : "column " + entry.dump();
    if (std::ranges::find(categories, name, &Category::column) != categories.end()) continue;
    names.push_back(name);
    if (missing == Missing::mask) masks.push_back(name_of_mask(name));
  }
  names.insert(names.end(), masks.begin(), masks.end());
  for (const Category& category : categories)
    for (const std::string& word : category.values) names.push_back(name_of_word(category.column, word));
  for (const std::string& angle : calendar)
    for (const bool is_sine : {true, false}) names.push_back(name_of_angle(angle, is_sine));
  return names;
}

std::pair<std::int64_t, std::int64_t> SeriesOptions::widths() const {
  if (input.is_null()) return {0, 0};
  const std::int64_t targets =
      target.is_null() ? std::ssize(input) - std::ssize(categories) : std::ssize(target);
  return {std::ssize(input_names()), targets};
}

SeriesOptions read_series_options(JsonReader& reader, const TaskHints& hints) {
  SeriesOptions options;
  options.every_step = hints.every_step;
  options.batch = hints.batch;
  read_format(reader, options);
  options.input =
      read_columns(reader, "input", "input columns, names or numbers from 0; null: all but the time");
  options.target = read_columns(reader, "target", "columns to predict; null: the input columns");
  read_calendar(reader, options);
  read_categories(reader, options);
  std::string missing = "error";
  const std::vector<std::string> treatments = {"error", "interpolate", "hold", "mask"};
  reader.choice(
      "missing", missing, treatments,
      "treatment of cells without a number: an error, a straight line to the number after them, which "
      "tells of later rows, or the last number before them; \"mask\" is the last too, with an input "
      "more for each column that is 1 where there was a number. Missing targets are left out of loss "
      "and metrics");
  options.missing = static_cast<Missing>(std::ranges::find(treatments, missing) - treatments.begin());
  reader.optional("across_gaps", options.across_gaps,
                  "windows may reach over times at which rows are missing");
  reader.required("window", options.window, between(1, kMostSteps), "steps of a sequence");
  reader.optional("horizon", options.horizon, between(0, kMostSteps), "steps from an input to its target");
  reader.optional(
      "every_step", options.every_step,
      "a target at every step instead of only after the last; by default if the read-out is at every step");
  read_stride(reader, options);
  options.normalize = read_normalize_options(reader, hints, {.input = true, .target = hints.real_loss});
  read_splits(reader, options);
  return options;
}

}  // namespace lagtape
