#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/data/stored_sequences.h"

namespace lagtape {

/// What becomes of a value written as '?' or 'NaN': an error; 0; or the straight line between its neighbours
/// in time (before the first and after the last known value, that value).
enum class MissingValues { error, zero, interpolate };

/// What .ts files hold: sequences with a class or one real target each.
struct TsData {
  std::vector<std::string> classes;  ///< as '@classLabel true' lists them; empty for real targets
  StoredSequences sequences;
};

/// Reads a file of the UEA/UCR and the Monash-UEA-UCR regression archives, line by line, behind what `data`
/// holds already. After comments ('#') and tags ('@', any case) a line is a sequence: its dimensions between
/// colons, each the values of all steps between commas; behind the last colon the class or target. Throws
/// InputError "PATH: line L: ..." with what was found and expected: unknown or contradicting tags, time
/// stamps (which are not read), another number of dimensions or steps, classes that are not listed, a file
/// without sequences, one that does not fit what `data` holds.
void read_ts_file(const std::filesystem::path& path, MissingValues missing, TsData& data);

}  // namespace lagtape
