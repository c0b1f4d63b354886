#include "lagtape/core/error.h"

#include <doctest/doctest.h>

using namespace lagtape;

TEST_CASE("A misspelt name finds the name that was meant") {
  const std::vector<std::string> known = {"epochs", "batch", "learning_rate"};
  CHECK(nearest_name("epohcs", known) == "epochs");
  CHECK(nearest_name("tua", {"mu", "tau"}) == "tau");
  CHECK(nearest_name("Batch", known) == "batch");
  CHECK(nearest_name("batches", known) == "batch");
  CHECK(nearest_name("learningrate", known) == "learning_rate");
  CHECK(nearest_name("batch_size_of_training", known) == "batch");
  CHECK(nearest_name("last", {"every_step", "last_step"}) == "last_step");
  CHECK(nearest_name("lea", {"leaf_size_of_all"}).empty());
}

TEST_CASE("A name that is like none of the known ones has no nearest") {
  CHECK(nearest_name("momentum", {"epochs", "batch"}).empty());
  CHECK(nearest_name("x", {"y", "z"}).empty());
  CHECK(nearest_name("", {"y"}).empty());
  CHECK(nearest_name("epochs", {}).empty());
  CHECK(nearest_name(std::string(100000, 'a'), {std::string(100000, 'b')}).empty());
}

TEST_CASE("An unknown name is reported with the nearest and all known ones") {
  CHECK(unknown_name("cell", "tau_grx", {"tau_gru", "lem"}) ==
        "unknown cell 'tau_grx'; did you mean 'tau_gru'? Known: tau_gru, lem");
  CHECK(unknown_name("cell", "foo", {"tau_gru", "lem"}) == "unknown cell 'foo'. Known: tau_gru, lem");
  CHECK(unknown_name("cell", "foo", {}) == "unknown cell 'foo'. Known: none");
}
