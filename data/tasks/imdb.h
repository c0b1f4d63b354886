#pragma once

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// Film reviews, liked (1) or not (0), as sequences of word numbers: 0 pads, 1 is any unknown word, 2 and
/// above are the `words` most frequent words of the training folder, the most frequent first (equal ones by
/// their bytes). Words are cut as for_each_word does. Reads train/ and test/ with pos/ and neg/ of
/// ID_RATING.txt from the folder or archive `path`. The learning reviews are split at random, by the
/// experiment's seed, into training and validation; the vocabulary is that of both. With `vectors` words
/// begin with those of a file, as read_word_vectors has them, and padding and unknown words with zeros.
TaskLoader read_imdb(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
