#pragma once

#include <istream>

#include "lagtape/data/formats/archive_sequences.h"

namespace lagtape {

/// Reads a .tsv file of the UCR archive (2018): a line is a sequence, its class and its values, separated by tabs. Classes are
/// the numbers that the first file has, from the smallest on; NaN after a sequence's last value pads it. Throws InputError with
/// the line.
void read_ucr(std::istream& file, ArchiveBuilder& builder);

}  // namespace lagtape
