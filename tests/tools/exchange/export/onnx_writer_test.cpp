#include "lagtape/tools/exchange/export/onnx/onnx_writer.h"

#include <doctest/doctest.h>

using namespace lagtape;

TEST_CASE("names that are wished twice get the next number, however many there are") {
  OnnxWriter graph("graph");
  OnnxWriter inner("inner", graph);
  CHECK(graph.unique("Add") == "Add");
  CHECK(graph.unique("Add_3") == "Add_3");
  CHECK(inner.unique("Add") == "Add_2");
  CHECK(graph.unique("Add") == "Add_4");
  CHECK(graph.unique("Add_3") == "Add_3_2");
  CHECK(graph.unique("Add_2") == "Add_2_2");
  for (int i = 5; i < 100'000; ++i) graph.unique("Add");
  CHECK(graph.unique("Add") == "Add_100000");
}
