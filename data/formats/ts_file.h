#pragma once

#include <istream>

#include "lagtape/data/formats/archive_sequences.h"

namespace lagtape {

/// Reads a .ts file from the UEA/UCR or the Monash-UEA-UCR regression archive line by line. Empty lines and
/// comments ('#' or '%') are allowed anywhere. After the tags ('@', in any case) each line is a sequence: its
/// dimensions, separated by colons, each with the values of all steps, separated by commas; after the last
/// colon the class or target. With `@timeStamps true` a value is "(time,value)", where times are dates or
/// numbers. Throws InputError "PATH: line L: ..." with what was found and expected, for unknown or
/// contradicting tags, a wrong number of dimensions or steps, classes that are not listed.
void read_ts(std::istream& file, ArchiveBuilder& builder);

}  // namespace lagtape
