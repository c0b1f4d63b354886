#include "lagtape/tools/exchange/export/plain/plain_model.h"

#include <doctest/doctest.h>

#include "lagtape/cells/layers/dropout.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/core/error.h"

namespace lagtape {
namespace {

const PlainFormat kFormat{.name = "other", .cells = {"lstm", "gru"}};

TEST_CASE("a model is its layers and its read-out, without what only training has") {
  const Model model(
      {.layers = {Lstm{.units = 3}, Dropout{.rate = 0.2}, Lstm{.units = 2}}, .readout = {.units = 1}},
      {.input = 4, .output = 1});
  const PlainModel plain = plain_model(model, kFormat);
  REQUIRE(plain.layers.size() == 3);
  CHECK(plain.layers[0].cell == "lstm");
  CHECK(plain.layers[0].input == 4);
  CHECK(plain.layers[1].input == 3);
  CHECK(plain.layers[1].units == 2);
  CHECK(plain.layers[2].cell == "linear");
  CHECK(plain.layers[2].units == 1);
}

TEST_CASE("a cell that the format does not have is refused by its name") {
  const Model model({.layers = {TauGru{.units = 3, .tau = 2}}, .readout = {.units = 1}},
                    {.input = 1, .output = 1});
  try {
    plain_model(model, kFormat);
    FAIL("the format has no tau_gru");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("tau_gru") != std::string::npos);
  }
}

}  // namespace
}  // namespace lagtape
