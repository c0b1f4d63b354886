#include "lagtape/tests/fuzz/fuzz.h"
#include "lagtape/tests/fuzz/json_mutator.h"
#include "lagtape/tools/train/experiment.h"

using namespace lagtape;

/// An experiment that is read is written as one that reads as the same. Its model is built when the file alone says how.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view text) {
    const Experiment experiment = parse_experiment(std::string(text), "input", "/nowhere");
    require(parse_experiment(experiment.json(), "written", "/nowhere").json() == experiment.json());
  });
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  return mutate_json(data, size, most, seed);
}
