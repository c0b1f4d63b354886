#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// Spoken words as 126 log-mel spectra of 80 bands (LogMel): shorter ones are padded with 0 dB, longer ones
/// cut off, then each is scaled to mean 0 and standard deviation 1 on its own. 12 classes: 0 is any other
/// word, 1 silence (the background noises, in training), 2.. are yes, no, up, down, left, right, on, off,
/// stop, go. Reads the folder `path` of Speech Commands V2 as unpacked: WORD/NAME.wav, validation_list.txt,
/// testing_list.txt. Sounds are read and analysed when they are asked for, and never kept.
TaskLoader read_speech_commands(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
