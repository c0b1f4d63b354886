#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// Spoken words as 126 log-mel spectra of 80 bands (LogMel). Shorter recordings are padded with 0 dB, longer
/// ones cut; each is then scaled to mean 0 and standard deviation 1 on its own. 12 classes: 0 is any other
/// word, 1 silence (the background noises, in training only), 2.. are yes, no, up, down, left, right, on,
/// off, stop, go. The files are WORD/NAME.wav, validation_list.txt and testing_list.txt of Speech Commands
/// V2, unpacked in the folder `path`. A recording is read and analysed each time it is asked for, and never
/// kept.
extern const TaskEntry kSpeechCommandsTask;

}  // namespace lagtape
