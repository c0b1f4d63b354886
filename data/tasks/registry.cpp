#include "lagtape/data/tasks/registry.h"

#include <string>
#include <vector>

#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/tasks/adding.h"
#include "lagtape/data/tasks/arrays.h"
#include "lagtape/data/tasks/audio.h"
#include "lagtape/data/tasks/copy.h"
#include "lagtape/data/tasks/dde_response.h"
#include "lagtape/data/tasks/enso.h"
#include "lagtape/data/tasks/fitzhugh_nagumo.h"
#include "lagtape/data/tasks/frequency.h"
#include "lagtape/data/tasks/har2.h"
#include "lagtape/data/tasks/imdb.h"
#include "lagtape/data/tasks/lorenz96.h"
#include "lagtape/data/tasks/mackey_glass.h"
#include "lagtape/data/tasks/mnist.h"
#include "lagtape/data/tasks/ncifar.h"
#include "lagtape/data/tasks/ptb.h"
#include "lagtape/data/tasks/random_task.h"
#include "lagtape/data/tasks/scifar.h"
#include "lagtape/data/tasks/series.h"
#include "lagtape/data/tasks/speech_commands.h"
#include "lagtape/data/tasks/ts.h"

namespace lagtape {

namespace {

// A row for each task, in the order of their names.
// clang-format off
constexpr const TaskEntry* kTasks[] = {
    &kAddingTask,
    &kArraysTask,
    &kAudioTask,
    &kCopyTask,
    &kDdeResponseTask,
    &kEnsoTask,
    &kFitzhughNagumoTask,
    &kFrequencyTask,
    &kHar2Task,
    &kImdbTask,
    &kLorenz96Task,
    &kMackeyGlassTask,
    &kMnistTask,
    &kNcifarTask,
    &kPtbTask,
    &kRandomTask,
    &kScifarTask,
    &kSeriesTask,
    &kSpeechCommandsTask,
    &kTsTask,
};
// clang-format on

}  // namespace

std::span<const TaskEntry* const> tasks() { return kTasks; }

TaskLoader read_task(JsonReader& reader, const TaskHints& hints) {
  std::vector<std::string> names;
  for (const TaskEntry* entry : kTasks) names.emplace_back(entry->name);
  std::string name;
  reader.required_choice("task", name, names, "name of the task");
  for (const TaskEntry* entry : kTasks) {
    if (entry->name != name) continue;
    TaskLoader loader = entry->read(reader, hints);
    reader.finish();
    return loader;
  }
  return {};
}

}  // namespace lagtape
