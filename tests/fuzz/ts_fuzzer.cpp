#include <sstream>

#include "lagtape/data/formats/arff_file.h"
#include "lagtape/data/formats/ts_file.h"
#include "lagtape/data/formats/ucr_file.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

/// Each form of the archives: sequences that are read have as many numbers as their starts say, and each has a target.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  int result = 0;
  for (const auto read : {read_ts, read_arff, read_ucr}) {
    result |= try_on(data, size, [&](std::string_view text) {
      ArchiveData all;
      ArchiveBuilder builder("archive", {.missing = MissingValues::interpolate}, all);
      std::istringstream file{std::string(text)};
      read(file, builder);
      const StoredSequences& stored = all.sequences;
      require(std::ssize(stored.x) == stored.starts.back() * stored.input);
      require(std::ssize(stored.classes) + std::ssize(stored.y) == stored.size());
    });
  }
  return result;
}
