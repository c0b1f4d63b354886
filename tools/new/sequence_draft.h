#pragma once

#include "lagtape/tools/new/draft.h"
#include "lagtape/tools/new/recording_columns.h"

namespace lagtape {

/// The label that an experiment should learn: the requested one, or the likeliest; nullptr if the table is more
/// likely a recording. Throws InputError if sequences without times would be joined into one series.
const SequenceLabel* label_to_learn(const RecordingColumns& found, const StartingPoint& start);
/// The draft of an experiment that learns a label of the sequences in a table. Throws InputError.
Draft draft_of_sequences(const RecordingColumns& found, const SequenceLabel& label,
                         const StartingPoint& start);

/// The keys for the table's format and its missing numbers.
void add_table_options(Draft& draft, const RecordingColumns& found);

}  // namespace lagtape
