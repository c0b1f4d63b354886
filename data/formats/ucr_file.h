#pragma once

#include <istream>

#include "lagtape/data/formats/archive_sequences.h"

namespace lagtape {

/// Reads a .tsv file from the UCR archive (2018). Each line is a sequence, its class and its values separated
/// by tabs. Classes are numbered by their values in the first file, in ascending order; NaN after a sequence's
/// last value is padding. Throws InputError with the line.
void read_ucr(std::istream& file, ArchiveBuilder& builder);

}  // namespace lagtape
