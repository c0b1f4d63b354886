#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// Next token of a text, at every step: words or characters of the Penn Treebank as Mikolov prepared it.
/// Reads ptb.train.txt, ptb.valid.txt and ptb.test.txt from the folder `path`. Blanks at both ends of a line
/// are left out; a line's end is a token. Tokens are numbered from 0 by how often training has them (equal
/// ones by their bytes); a word that training does not have is "<unk>". A text is cut into parallel streams
/// of equal length, a sequence each (what is left over at its end is dropped): `streams` for training, as
/// many as a batch, so that with `train.truncate` one batch is an epoch and the states are carried through
/// the whole text.
TaskLoader read_ptb(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
