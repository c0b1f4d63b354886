#include "lagtape/optim/registry.h"

#include <doctest/doctest.h>

#include <string>

#include "lagtape/core/error.h"

using namespace lagtape;

namespace {

struct ReadOptimizer {
  OptimizerPlan plan;
  Json filled;
};

ReadOptimizer optimizer_from(const std::string& text) {
  const Json json = parse_json(text, "experiment.json");
  JsonErrors errors;
  JsonReader reader(json, "/optimizer", errors);
  OptimizerPlan plan = read_optimizer(reader);
  errors.raise("experiment.json");
  return {std::move(plan), reader.filled()};
}

Schedule schedule_from(const std::string& text) {
  const Json json = parse_json(text, "experiment.json");
  JsonErrors errors;
  JsonReader reader(json, "/schedule", errors);
  SchedulePlan schedule = read_schedule(reader);
  errors.raise("experiment.json");
  return schedule.factor;
}

std::string message_of(const std::string& text) {
  try {
    optimizer_from(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an optimizer of the experiment is made with its rate") {
  ReadOptimizer read = optimizer_from(R"({"type": "adam", "lr": 0.01})");
  CHECK(read.plan.lr == 0.01);
  CHECK(read.filled["beta2"] == 0.999);
  Parameters parameters;
  parameters.add("w", Tensor::from({1}, {1.0}, Dtype::f64)).grad = Tensor::from({1}, {2.0}, Dtype::f64);
  read.plan.make(parameters)->step(parameters, read.plan.lr);
  CHECK(parameters["w"].value.at(0) == doctest::Approx(0.99));
}

TEST_CASE("the filled options read back to themselves") {
  for (const char* type : {"adam", "adamw", "rmsprop", "sgd"}) {
    ReadOptimizer once =
        optimizer_from(text_of(R"({"type": ")", type, R"(", "groups": [{"match": "w*", "lr_factor": 2}]})"));
    CHECK(optimizer_from(once.filled.dump()).filled == once.filled);
  }
}

TEST_CASE("groups of the experiment reach the optimizer") {
  ReadOptimizer read =
      optimizer_from(R"({"type": "sgd", "lr": 1, "groups": [{"match": "w*", "lr_factor": 0.5}]})");
  Parameters parameters;
  parameters.add("w", Tensor::from({1}, {0.0}, Dtype::f64)).grad = Tensor::from({1}, {2.0}, Dtype::f64);
  read.plan.make(parameters)->step(parameters, read.plan.lr);
  CHECK(parameters["w"].value.at(0) == -1.0);
}

TEST_CASE("an unknown optimizer is refused with the nearest name") {
  const std::string message = message_of(R"({"type": "adamm"})");
  CHECK(has(message, "/optimizer/type"));
  CHECK(has(message, "'adam'"));
}

TEST_CASE("wrong options are refused, each with its place") {
  const std::string message = message_of(
      R"({"type": "adam", "lr": 0, "beta1": 1.5, "epss": 1, "groups": [{"match": "w", "lr_factor": -1}]})");
  for (const char* part :
       {"/optimizer/lr", "/optimizer/beta1", "/optimizer/epss", "/optimizer/groups/0/lr_factor"}) {
    CAPTURE(part);
    CHECK(has(message, part));
  }
  CHECK(has(message_of(R"({"type": "adam", "groups": 3})"), "/optimizer/groups"));
  CHECK(has(message_of(R"({"lr": 0.1})"), "type"));
}

TEST_CASE("schedules are read from the experiment") {
  CHECK(schedule_from(R"({"type": "constant"})")({.epoch = 5, .step = 50, .steps = 100}) == 1.0);
  Schedule step = schedule_from(R"({"type": "step", "epochs": [22], "factor": 0.5, "warmup": 10})");
  CHECK(step({.epoch = 22, .step = 9999, .steps = 10000}) == 0.5);
  CHECK(step({.epoch = 0, .step = 4, .steps = 10000}) == 0.5);
  CHECK(schedule_from(R"({"type": "cosine"})")({.epoch = 0, .step = 50, .steps = 100}) ==
        doctest::Approx(0.5));
}

TEST_CASE("wrong schedules are refused") {
  for (const char* text : {R"({"type": "steps", "epochs": [22]})", R"({"type": "step"})",
                           R"({"type": "step", "epochs": [3, 2]})", R"({"type": "step", "epochs": [0]})",
                           R"({"type": "step", "epochs": 22})", R"({"type": "cosine", "floor": 2})",
                           R"({"type": "constant", "warmup": -1})"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(schedule_from(text), InputError);
  }
}

TEST_CASE("every optimizer and schedule documents its options") {
  const Json nothing = Json::object();
  for (const OptimizerEntry& entry : optimizers()) {
    JsonErrors errors;
    JsonReader reader(nothing, "", errors);
    entry.read(reader);
    CHECK(errors.empty());
    CHECK(reader.documentation().front().key == (entry.name == "ridge" ? "alpha" : "lr"));
  }
  for (const ScheduleEntry& entry : schedules()) {
    JsonErrors errors;
    JsonReader reader(nothing, "", errors);
    entry.read(reader);
    CHECK(reader.documentation().back().key == "warmup");
  }
}
