#include "lagtape/tests/fuzz/fuzz.h"
#include "lagtape/tools/sweep/table/results.h"
#include "lagtape/tools/view/report/metrics_lines.h"

using namespace lagtape;

/// The lines of a run's metrics and of a table's results.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_on(data, size, [](std::string_view text) {
    const MemoryFile file(text);
    report::learning_curves(report::lines_of(file.path()));
  });
  return try_on(data, size, [](std::string_view text) {
    const MemoryFile file(text);
    table::Results results(file.path());
  });
}
