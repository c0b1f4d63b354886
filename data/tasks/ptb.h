#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// The next token of a text at every step: words or characters of the Penn Treebank as Mikolov prepared it.
/// The files are ptb.train.txt, ptb.valid.txt and ptb.test.txt in the folder `path`. Blanks at both ends of a
/// line are dropped; the end of a line is a token. Tokens are numbered from 0 by their frequency in the
/// training text (equal ones in the order of their bytes); a word that is not in the training text is read as
/// "<unk>". Each text is cut into parallel streams of equal length, a sequence each, and the rest at its end
/// is dropped. There are `streams` training streams, by default as many as a batch has sequences: one batch
/// is then an epoch, and with `train.truncate` the states are carried through the whole text.
extern const TaskEntry kPtbTask;

}  // namespace lagtape
