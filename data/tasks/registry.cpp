#include "lagtape/data/tasks/registry.h"

#include "lagtape/core/json/options.h"

namespace lagtape {

namespace {

// One row per task, sorted by name.
// clang-format off
constexpr std::reference_wrapper<const TaskEntry> kTasks[] = {
    kAddingTask,
    kArraysTask,
    kAudioTask,
    kCopyTask,
    kDdeResponseTask,
    kEnsoTask,
    kFitzhughNagumoTask,
    kFrequencyTask,
    kHar2Task,
    kImdbTask,
    kLorenz96Task,
    kMackeyGlassTask,
    kMnistTask,
    kNcifarTask,
    kPtbTask,
    kRandomTask,
    kScifarTask,
    kSequencesTask,
    kSeriesTask,
    kSpeechCommandsTask,
    kTsTask,
};
// clang-format on

}  // namespace

std::span<const std::reference_wrapper<const TaskEntry>> tasks() { return kTasks; }

TaskLoader read_task(JsonReader& reader, const TaskHints& hints) {
  const TaskEntry* entry = read_chosen(reader, "task", kTasks, "name of the task");
  if (entry == nullptr) return {};
  TaskLoader loader = entry->read(reader, hints);
  reader.finish();
  return loader;
}

}  // namespace lagtape
