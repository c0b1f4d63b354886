#pragma once

#include <functional>
#include <span>

#include "lagtape/core/named.h"
#include "lagtape/data/task.h"

namespace lagtape {

// Each is defined in the file with its name.
extern const TaskEntry kAddingTask, kArraysTask, kAudioTask, kCopyTask, kDdeResponseTask, kEnsoTask,
    kFitzhughNagumoTask, kFrequencyTask, kHar2Task, kImdbTask, kLorenz96Task, kMackeyGlassTask, kMnistTask,
    kNcifarTask, kPtbTask, kRandomTask, kScifarTask, kSequencesTask, kSeriesTask, kSpeechCommandsTask,
    kTsTask;

/// All tasks, sorted by name.
std::span<const std::reference_wrapper<const TaskEntry>> tasks();

/// Reads the experiment's `data` object: "task" and the options of that task. Errors are noted in the reader,
/// which is finished; if there are any, the loader may have no `load`.
TaskLoader read_task(JsonReader& reader, const TaskHints& hints = {});

}  // namespace lagtape
