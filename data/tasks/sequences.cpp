#include "lagtape/data/tasks/registry.h"

#include <set>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/series/sequence_table.h"
#include "lagtape/data/splits.h"

namespace lagtape {

namespace {

/// Throws InputError unless the table has two classes, and at least two sequences in one of them.
void check_classes(const SequenceTable& table, const SequenceOptions& options) {
  if (options.normalize.real_loss) return;
  if (table.classes.size() < 2)
    throw InputError({.file = table.where, .item = options.target}, Rule::missing,
                     "expected at least two classes",
                     text_of(table.classes.size(), table.classes.empty() ? "" : ": " + table.classes[0]));
  if (table.sequences.size() > 2 && std::ssize(table.classes) == table.sequences.size())
    throw InputError({.file = table.where, .item = options.target}, Rule::conflict,
                     text_of("no two of the ", table.sequences.size(),
                             " sequences have the same class, so no class can be learned."));
}

SplitIndices split_of(const SequenceTable& table, const SequenceOptions& options, std::uint64_t seed) {
  if (options.split_seed >= 0) seed = static_cast<std::uint64_t>(options.split_seed);
  // Real targets are split like sequences of one class.
  std::vector<std::int32_t> classes = table.sequences.classes;
  classes.resize(static_cast<std::size_t>(table.sequences.size()));
  const SplitShares shares{.train = options.train, .valid = options.valid, .test = options.test};
  if (!table.groups.empty()) return grouped_split(classes, table.groups, shares, seed, table.where);
  return stratified_split(classes, shares, seed, table.where);
}

/// Reports how the groups are split, and which classes the training set lacks because all their sequences
/// belong to groups in other sets.
void add_note_of_groups(const SplitIndices& split, SequenceTable& table) {
  std::string note;
  for (const auto& [name, set] :
       {std::pair("train", &split.train), {"valid", &split.valid}, {"test", &split.test}}) {
    std::set<std::int32_t> groups;
    for (const std::int64_t i : *set) groups.insert(table.groups[static_cast<std::size_t>(i)]);
    note += text_of(note.empty() ? "groups: " : ", ", groups.size(), " of ", name);
  }
  std::vector<std::string> lacking = table.classes;
  for (const std::int64_t i : split.train)
    if (!table.classes.empty())
      std::erase(
          lacking,
          table.classes[static_cast<std::size_t>(table.sequences.classes[static_cast<std::size_t>(i)])]);
  if (!lacking.empty())
    note += text_of("; the training set has none of ", listed(lacking, 5),
                    ", whose sequences are of groups of other sets (another \"split_seed\" draws others)");
  table.notes.push_back(std::move(note));
}

Task load_sequences(const SequenceOptions& given, const TaskContext& context) {
  SequenceOptions options = given;
  if (context.score_only) options.group.clear();
  auto table = std::make_shared<SequenceTable>(read_sequence_table(options, context.base, true));
  const std::shared_ptr<const StoredSequences> stored(table, &table->sequences);
  SplitIndices split{.train = {}, .valid = {}, .test = in_order(stored->size())};
  if (!context.score_only) {
    check_classes(*table, options);
    split = split_of(*table, options, context.seed);
    if (!table->groups.empty()) add_note_of_groups(split, *table);
  }
  const DataShape shape{.length = stored->longest(),
                        .input = stored->input,
                        .output = options.normalize.real_loss ? 1 : 0,
                        .classes = std::ssize(table->classes),
                        .class_names = table->classes};
  Normalization normalization;
  if (options.normalize.input && !context.score_only) {
    normalization.input = input_scaling(*stored, split.train);
    for (std::size_t i = options.numbers().size(); i < normalization.input.mean.size(); ++i) {
      normalization.input.mean[i] = 0;  // masks and words stay 0 and 1
      normalization.input.scale[i] = 1;
    }
  }
  if (options.normalize.target && !context.score_only)
    normalization.output = target_scaling(*stored, split.train);
  std::vector<std::pair<std::string, std::string>> found;
  if (table->date_order != DateOrder::automatic && options.date_order == DateOrder::automatic)
    found.emplace_back("date_order", name_of(table->date_order));
  return Task{.shape = shape,
              .train = std::make_shared<StoredDataset>(shape, stored, std::move(split.train)),
              .valid = std::make_shared<StoredDataset>(shape, stored, std::move(split.valid)),
              .test = std::make_shared<StoredDataset>(shape, stored, std::move(split.test)),
              .normalization = std::move(normalization),
              .found = std::move(found),
              .notes = table->notes};
}

TaskLoader read_sequences_task(JsonReader& reader, const TaskHints& hints) {
  const SequenceOptions options = read_sequence_options(reader, hints);
  TaskLoader loader;
  loader.load = [options](const TaskContext& context) { return load_sequences(options, context); };
  return loader;
}

}  // namespace

/// A user's table of many sequences. Whole sequences are split at random, with the same shares of each class. With
/// `normalize` the inputs, with `normalize_target` the real targets are scaled by mean and standard deviation of the
/// training sequences.
constinit const TaskEntry kSequencesTask = {
    .name = "sequences",
    .summary = "classify or regress sequences of your own, from one .csv table",
    .source = "",
    .equations =
        "x: [T, inputs], the rows of one name in the column `sequence`\n"
        "y: one class or real number a sequence, in the column `target`; classes go with the losses\n"
        "cross_entropy and binary_cross_entropy",
    .files = "a .csv file with names of columns, a row for each step of each sequence, in any separator",
    .read = read_sequences_task,
};

}  // namespace lagtape
