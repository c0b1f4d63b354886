#include "lagtape/tools/stream/blob_stream.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "lagtape/cells/lstm.h"
#include "lagtape/cells/models/model.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/tools/exchange/export/plain/blob_file.h"

// tests/cli/export_blob_test.py has all cells and damaged files.

namespace lagtape {
namespace {

TEST_CASE("a blob runs as the model's stream does, and cut bytes are no model") {
  const Model model({.layers = {TauGru{.units = 4, .tau = {3}}, Lstm{.units = 3}},
                     .readout = {.units = 1, .at = ReadAt::every_step},
                     .loss = Loss::mse},
                    {.input = 1}, 3);
  const std::string text = blob_file(model);
  std::vector<std::uint32_t> blob((text.size() + 3) / 4);
  std::memcpy(blob.data(), text.data(), text.size());
  CHECK(lagtape_blob_memory(blob.data(), text.size() - 4) == 0);
  const std::size_t bytes = lagtape_blob_memory(blob.data(), text.size());
  REQUIRE(bytes > 0);
  CHECK(lagtape_blob_inputs(blob.data()) == 1);
  CHECK(lagtape_blob_outputs(blob.data()) == 1);

  std::vector<std::uint64_t> memory((bytes + 7) / 8);
  lagtape_blob_begin(memory.data(), blob.data());
  Stream<float> stream = model.stream<float>();
  float first = 0, largest = 0;
  for (int n = 0; n < 20; ++n) {
    const float x = std::sin(0.3f * static_cast<float>(n));
    float expected = 0, got = 0;
    stream.step(&x, &expected);
    lagtape_blob_step(memory.data(), &x, &got);
    CHECK(got == doctest::Approx(expected).epsilon(1e-5));
    largest = std::max(largest, std::abs(expected));
    if (n == 0) first = got;
  }
  CHECK(largest > 0.01f);

  lagtape_blob_reset(memory.data());
  const float x = 0;
  float again = 0;
  lagtape_blob_step(memory.data(), &x, &again);
  CHECK(again == first);
}

}  // namespace
}  // namespace lagtape
