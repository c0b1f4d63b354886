#pragma once

#include "lagtape/data/task.h"

namespace lagtape {

/// Film reviews, positive (1) or negative (0), as sequences of tokens: 0 is padding, 1 any unknown word, 2
/// and above are the `words` most frequent words of train/, the most frequent first (words of equal frequency
/// in the order of their bytes). for_each_word cuts a text into words. The files are train/ and test/ with
/// pos/ and neg/ of ID_RATING.txt, in the folder or archive `path`. The experiment's seed splits the reviews
/// of train/ at random into training and validation; the vocabulary comes from both. With `vectors`, the
/// embedding begins with the word vectors of a file (read_word_vectors), and with zeros for padding and
/// unknown words.
extern const TaskEntry kImdbTask;

}  // namespace lagtape
