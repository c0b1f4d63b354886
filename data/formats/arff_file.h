#pragma once

#include <istream>

#include "lagtape/data/formats/archive_sequences.h"

namespace lagtape {

/// Reads an .arff file from the UEA archive. Each line is a sequence, its values and its class separated by
/// commas; a sequence of several dimensions is one quoted relation, in which "\n" ends a dimension. The last
/// attribute is the class ({a,b}) or a numeric target. '?' after a sequence's last value pads it. Throws
/// InputError with the line: for attributes of other types, or if the number of values and of attributes
/// differ.
void read_arff(std::istream& file, ArchiveBuilder& builder);

}  // namespace lagtape
