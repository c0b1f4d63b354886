#include "lagtape/cells/layers/linear.h"

#include <doctest/doctest.h>

namespace lagtape {
namespace {

TEST_CASE("a linear map starts from its own width") {
  CHECK(Linear{3}.build(4).parameters[0].initializer == Initializer::uniform(-0.5, 0.5));
  CHECK(Linear{3, {"kaiming_normal"}}.build(4).parameters[0].initializer == Initializer::kaiming_normal());
  CHECK(Linear{3, {"kaiming_normal"}}.build(4).parameters[1].initializer == Initializer::uniform(-0.5, 0.5));
}

}  // namespace
}  // namespace lagtape
