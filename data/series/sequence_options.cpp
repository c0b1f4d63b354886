#include <algorithm>
#include <map>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/core/json/options.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/series/sequence_table.h"
#include "lagtape/data/series/series_kinds.h"

namespace lagtape {

namespace {

constexpr Option kSequenceRows[] = {
    required<&SequenceOptions::path>("path", "a .csv file, relative to the experiment file").at_least_one(),
    option<&SequenceOptions::sequence>("sequence", kNames,
                                       "column, or list of columns, that says which sequence a row belongs "
                                       "to: rows of one name are one sequence")
        .needed(),
    option<&SequenceOptions::time>("time",
                                   "column of times or step numbers, in whose order the rows of a sequence "
                                   "are read; \"\": as they are in the file"),
    option<&SequenceOptions::time_format>(
        "time_format",
        "format of dates in strptime's letters, as of the task \"series\"; \"\": found from all rows"),
    option<&SequenceOptions::date_order>("date_order", kDateOrders, kAboutDateOrder),
    required<&SequenceOptions::input>("input", "columns that the model reads, by name").at_least_one(),
    option<&SequenceOptions::categories>(
        "categories", kCategories,
        "input columns of words, with the words: each word is an input that is 1 in its rows"),
    required<&SequenceOptions::target>(
        "target", "column of the classes (words or whole numbers) or real numbers to predict, one a sequence")
        .at_least_one(),
    option<&SequenceOptions::classes>(
        "classes", "the words of `target` by class, for a loss of classes; []: those of the file, sorted"),
    rows_of<&SequenceOptions::table>(kTableOptions),
    option<&SequenceOptions::missing>(
        "missing", kMissingNames,
        "treatment of input cells without a number: an error, a straight line to the number after them, or "
        "the last number before them; \"mask\" also takes the last number, and adds an input for each column "
        "that is 1 where there was a number"),
    rows_of<&SequenceOptions::normalize>(kNormalizeOptions),
    option<&SequenceOptions::train>("train", {.min = 0, .max = 1, .above_min = true},
                                    "share of the sequences for training; of each class, where there are "
                                    "classes"),
    option<&SequenceOptions::valid>("valid", between(0, 1), "share of the validation set, likewise"),
    option<&SequenceOptions::test>("test", between(0, 1), "share of the test set, likewise"),
    option<&SequenceOptions::group>(
        "group", kNames,
        "column, or list of columns, that names groups of sequences, such as persons: all of one group are "
        "in the same set, and shares are kept as nearly as groups allow; null: no groups"),
    option<&SequenceOptions::split_seed>("split_seed", between(-1, 4294967295.0),
                                         "seed of the split; -1: the experiment's seed"),
};

void check_sequences(const SequenceOptions& options, JsonReader& reader) {
  check_time_format(options.time_format, reader);
  if (reader.raw("sequence").is_null() && reader.is_object())
    reader.error("sequence", Problem{.rule = Rule::missing, .expected = "a column, or a list of columns"});
  std::map<std::string, std::string> uses;
  const auto use = [&](const std::string& column, const std::string& key) {
    const auto [known, is_new] = uses.emplace(column, key);
    if (is_new || column.empty()) return;
    reader.error(key, known->second == key ? text_of("names the column ", quote(column), " twice.")
                                           : text_of("names the column ", quote(column), ", which \"",
                                                     known->second, "\" names too. A column has one role."));
  };
  for (const std::string& column : options.sequence) use(column, "sequence");
  use(options.time, "time");
  use(options.target, "target");
  for (const std::string& column : options.input) use(column, "input");
  for (const Category& category : options.categories)
    if (std::ranges::find(options.input, category.column) == options.input.end())
      reader.error("categories", text_of("the column ", quote(category.column),
                                         " is not in \"input\". Name it there too."));
  for (const std::string& column : options.group)
    if (column == options.target || column == options.time)
      reader.error("group",
                   text_of("names the column ", quote(column), ", which \"", uses[column], "\" names too."));
  if (std::set<std::string>(options.classes.begin(), options.classes.end()).size() < options.classes.size())
    reader.error("classes", "names a class twice.");
  if (options.classes.size() == 1) reader.error("classes", "expected at least two classes.");
  if (!options.classes.empty() && options.normalize.real_loss)
    reader.error("classes", R"(needs a loss of classes, "cross_entropy" or "binary_cross_entropy".)");
  if (options.train + options.valid + options.test > 1 + 1e-9)
    reader.error("test", "the shares of train, valid and test add up to more than 1.");
}

}  // namespace

std::vector<std::string> SequenceOptions::numbers() const {
  std::vector<std::string> numbers = input;
  for (const Category& category : categories) std::erase(numbers, category.column);
  return numbers;
}

std::vector<std::string> SequenceOptions::input_names() const {
  std::vector<std::string> names = numbers();
  if (missing == Missing::mask)
    for (const std::string& column : numbers()) names.push_back(name_of_mask(column));
  for (const Category& category : categories)
    for (const std::string& word : category.values) names.push_back(name_of_word(category.column, word));
  return names;
}

SequenceOptions read_sequence_options(JsonReader& reader, const TaskHints& hints) {
  SequenceOptions options;
  options.normalize = {.input = true, .target = hints.real_loss, .real_loss = hints.real_loss};
  read_options(reader, checked<check_sequences>(kSequenceRows), options);
  return options;
}

}  // namespace lagtape
