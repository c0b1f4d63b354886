#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// Two groups of human activities, from the inertial signals of a telephone: 128 steps of 9 numbers (body
/// acceleration x, y, z, body gyroscope x, y, z, total acceleration x, y, z), scaled by mean and standard
/// deviation of the training windows. Class 1: sitting, laying, walking upstairs; class 0: standing, walking,
/// walking downstairs. Reads train/ and test/ of "UCI HAR Dataset" from the folder or archive `path`. The
/// 7352 learning windows are split at random, by the experiment's seed, into training and validation.
TaskLoader read_har2(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
