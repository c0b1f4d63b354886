#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// A recording of sound before an amplifier or effect and one after it, to be learned sample by sample. x: [segment, 1],
/// y: [segment, 1] at every step, samples of full scale 1. Both files have one rate and one length. In time, the first
/// samples are for training, the next for validation, the last for the test; segments of a set begin `segment - overlap`
/// samples apart, so that with train.warmup = overlap every sample but the first few counts once.
extern const TaskEntry kAudioTask;

}  // namespace lagtape
