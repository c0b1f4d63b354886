#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/formats/array_sets.h"
#include "lagtape/data/tasks/registry.h"
#include "lagtape/tools/new/draft.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

/// Throws InputError for a file whose names do not say what is learned from what.
void check_names(const ArraySets& sets, const fs::path& file) {
  for (const ArraySet* set : {&sets.train, &sets.whole})
    if (!set->x.empty() && !set->y.empty()) return;
  throw unexpected({file.string()}, Rule::missing, "arrays X and y, or train_x and train_y",
                   sets.others.empty() ? "others" : listed(sets.others, 10),
                   R"(A recording in an array is one of the task "series", whose "array" names it.)");
}

Task load(const TaskLoader& loader, const StartingPoint& start) {
  ThreadPool pool(1);
  return loader.load({.base = start.base.empty() ? fs::current_path() : start.base, .seed = 0, .pool = pool});
}

}  // namespace

Draft draft_of_arrays(const fs::path& file, const StartingPoint& start) {
  // More numbers than that rather count something.
  constexpr std::int64_t kMostClasses = 64;
  const ArraySets sets = read_array_sets(file);
  check_names(sets, file);
  const TaskEntry& entry = *find_named(tasks(), "arrays");
  Draft draft;
  draft.name = name_from(file);
  draft.data = {{"task", entry.name}, {"path", path_from(start, file)}};
  if (!sets.train.is_empty() && sets.valid.is_empty()) draft.data["valid"] = 0.15;
  Task task = load(read_data(entry, draft.data, draft.data_options, nullptr, false), start);
  const bool has_classes = task.shape.classes > 0 && task.shape.classes <= kMostClasses;
  if (!has_classes) task = load(read_data(entry, draft.data, draft.data_options), start);
  draft.shape = task.shape;
  draft.has_valid = task.valid->size() > 0;
  draft.needs_loss = true;
  draft.about = text_of(task.train->size() + task.valid->size() + task.test->size(), " sequences of up to ",
                        task.shape.length, " steps of ", task.shape.input,
                        task.shape.input == 1 ? " input" : " inputs");
  for (const std::string& note : task.notes) draft.notes.push_back(sentence_of(note));
  for (const auto& [key, value] : task.found) draft.data[key] = value;
  draft.data["normalize"] = true;
  if (!has_classes) {
    draft.data["normalize_target"] = true;
    return draft;
  }
  draft.data["classes"] =
      task.shape.class_names.empty() ? Json(task.shape.classes) : Json(task.shape.class_names);
  draft.notes.push_back(
      text_of("The targets are ", task.shape.classes,
              " different whole numbers, and read as classes. With the loss mse and without "
              "\"classes\" they are real numbers."));
  return draft;
}

}  // namespace lagtape
