#include "lagtape/data/formats/ts_file.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

/// Sequences that are read have as many numbers as their starts say, and each has a target.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view text) {
    const MemoryFile file(text);
    TsData all;
    read_ts_file(file.path(), MissingValues::interpolate, all);
    const StoredSequences& stored = all.sequences;
    require(std::ssize(stored.x) == stored.starts.back() * stored.input);
    require(std::ssize(stored.classes) + std::ssize(stored.y) == stored.size());
  });
}
