#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/data/stored_sequences.h"

namespace lagtape {

/// The replacement of a missing value ('?' or 'NaN' in the file): an error; 0; or the straight line between
/// its neighbors in time (the nearest known value before the first and after the last one).
enum class MissingValues { error, zero, interpolate };

/// The content of .ts files: sequences with a class or one real target each.
struct TsData {
  std::vector<std::string> classes;  ///< in the order of '@classLabel true'; empty for real targets
  StoredSequences sequences;
};

/// Reads a file of the UEA/UCR or the Monash-UEA-UCR regression archive line by line, and appends its
/// sequences to those that `data` already contains. Empty lines and comments ('#' or '%') may stand anywhere.
/// After the tags ('@', in any case) each line is a sequence: its dimensions, separated by colons, each with
/// the values of all steps, separated by commas; after the last colon the class or target. Throws InputError
/// "PATH: line L: ..." with what was found and expected: unknown or contradicting tags, time stamps (which
/// are not supported), a wrong number of dimensions or steps, classes that are not listed, a file without
/// sequences, a file that does not fit what `data` contains.
void read_ts_file(const std::filesystem::path& path, MissingValues missing, TsData& data);

}  // namespace lagtape
