#include "lagtape/tools/train/experiment_schema.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/schema.h"
#include "lagtape/core/random.h"
#include "lagtape/tests/tools/train/schema_validator.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/train/experiment_rows.h"

namespace lagtape {
namespace {

namespace fs = std::filesystem;

/// Errors of the reader about what no schema can see: relations between values, and texts with their own grammar.
constexpr const char* kRelations[] = {
    // between the data, the loss, the metrics and the model
    "but the data have",
    "does not go with",
    "takes tokens",
    "the data are tokens",
    "/loss: is missing",
    " a target.",
    " a target of a whole sequence.",
    "and the data do not tell it",
    // between a layer and those around it, or its own options
    ": cell '",
    "unknown parameter",
    "unknown weight",
    "unknown cell",
    "chrono: must be 0 or at least 2",
    "tau must be at most",
    "tau / dt must be",
    "must be below 1",
    "one for each layer",
    "give patience, latest or both",
    "needs 'epochs' or 'steps'",
    "must be within 1 .. max",
    // numbers and texts with their own rules
    "/data/permutation: must be",
    "expected a size such as",
    "expected a shape, like",
    "must be a list of ascending integers",
};

/// The errors of the reader, one a line; empty where it accepts.
std::string errors_of(const Json& document, const fs::path& base) {
  try {
    parse_experiment(document.dump(), "e", base);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

/// Whether an error is such a relation. Options of a cell of the file's own are known from its "hyper" alone.
bool is_relation(const std::string& line, bool has_cells) {
  if (has_cells && line.find("/model/layers/") != line.npos && line.find("unknown key") != line.npos)
    return true;
  return std::ranges::any_of(kRelations, [&](const char* part) { return line.find(part) != line.npos; });
}

bool are_relations(const std::string& errors, bool has_cells) {
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);)
    if (!is_relation(line, has_cells)) return false;
  return true;
}

/// By the paths of their own files, in order.
std::map<fs::path, Json> shipped_experiments() {
  std::map<fs::path, Json> all;
  for (const auto& task : fs::directory_iterator(fs::path(LAGTAPE_SOURCE) / "tools/experiments"))
    if (task.is_directory())
      for (const std::string& name : experiments_in(task.path()))
        all.emplace(task.path() / (name + ".json"),
                    read_experiment_document(experiment_in(task.path(), name)));
  return all;
}

std::size_t nodes_in(const Json& value) {
  std::size_t count = 1;
  if (value.is_object() || value.is_array())
    for (const Json& inside : value) count += nodes_in(inside);
  return count;
}

/// Changes one value, key or place of a document.
class Mutation {
 public:
  Mutation(Json& document, RandomStream& random) : random_(random), left_(below(nodes_in(document) - 1) + 1) {
    visit(document);
  }
  const std::string& description() const { return description_; }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_.next_below(bound)); }

  void visit(Json& value) {
    if (value.is_object()) {
      std::vector<std::string> keys;
      for (const auto& [key, inside] : value.items()) keys.push_back(key);
      for (const std::string& key : keys) {
        if (left_ == 0) return;
        if (--left_ == 0) return change(value, key);
        visit(value[key]);
      }
    } else if (value.is_array()) {
      for (std::size_t i = 0; i < value.size() && left_ > 0; ++i) {
        if (--left_ == 0) return replace(value[i], text_of(i));
        visit(value[i]);
      }
    }
  }

  void change(Json& object, const std::string& key) {
    const std::size_t kind = below(8);
    if (kind == 0) {
      object.erase(key);
      description_ = "without " + key;
    } else if (kind == 1) {
      Json renamed = Json::object();
      for (const auto& [name, value] : object.items()) renamed[name == key ? key + "x" : name] = value;
      object = renamed;
      description_ = key + "x for " + key;
    } else if (kind == 2) {
      object["extra"] = 1;
      description_ = "one key more beside " + key;
    } else {
      replace(object[key], key);
    }
  }

  void replace(Json& value, const std::string& at) {
    const Json others[] = {nullptr,
                           true,
                           -1,
                           0,
                           0.5,
                           1.5,
                           1e12,
                           "",
                           "nonsense",
                           Json::array(),
                           Json::object(),
                           Json::array({nullptr})};
    Json other = others[below(std::size(others))];
    if (value.is_string() && below(3) == 0) other = value.get<std::string>() + "s";
    if (value.is_number() && below(3) == 0) other = -value.get<double>();
    description_ = text_of(at, " ", other.dump(), " for ",
                           value.is_object() || value.is_array() ? "an object or list" : value.dump());
    value = other;
  }

  RandomStream& random_;
  std::size_t left_;  ///< nodes until the one that changes
  std::string description_;
};

TEST_CASE("the validator of this test can refuse") {
  const Json schema = schema_of_options(
      {{"a", integer_schema(at_least(1)), "", ""},
       {"b", list_schema(either_schema({Json{{"const", "x"}}, Json{{"type", "null"}}}), 1), "null", ""}});
  const test::SchemaValidator validator(schema);
  CHECK(validator.accepts(Json::parse(R"({"a": 1})")));
  CHECK(validator.accepts(Json::parse(R"({"a": 2.0, "b": ["x", null]})")));
  for (const char* text : {"{}", "[]", R"({"a": 0})", R"({"a": 1.5})", R"({"a": "1"})",
                           R"({"a": 1, "b": []})", R"({"a": 1, "b": ["y"]})", R"({"a": 1, "c": 1})"})
    CHECK_MESSAGE(!validator.accepts(Json::parse(text)), text);
  CHECK_THROWS_AS(test::SchemaValidator(Json::parse(R"({"unheardOf": 1})")).accepts(1), Error);
}

TEST_CASE("the schema accepts every shipped experiment") {
  const Json schema = experiment_schema();
  const test::SchemaValidator validator(schema);
  std::size_t count = 0;
  for (const auto& experiment : shipped_experiments()) {
    CAPTURE(experiment.first.string());
    CHECK(validator.accepts(experiment.second));
    ++count;
  }
  CHECK(count > 200);
}

TEST_CASE("the schema and the reader agree on cells in continuous time") {
  const Json schema = experiment_schema();
  const test::SchemaValidator validator(schema);
  const Json experiment = Json::parse(R"json({
    "name": "e",
    "data": {"task": "random", "length": 8, "input": 2, "output": 1, "train": 4, "valid": 2, "test": 2},
    "cells": {"mine": {"params": {"tau": {"start": 2, "min": 1, "max": 4}}, "state": {"y": 1}, "ode": ["dy = -y(t - tau) + sum(x)"],
                       "history": {"y": 0.5}, "solver": {"h": 0.5, "dt": 1}}},
    "model": {"layers": [{"cell": "mine"}]}, "loss": "mse"})json");
  const auto with = [&](const char* key, const Json& value) {
    Json changed = experiment;
    Json& cell = changed["cells"]["mine"];
    if (value.is_null())
      cell.erase(key);
    else
      cell[key] = value;
    return changed;
  };
  CHECK(errors_of(experiment, ".") == "");
  CHECK(validator.accepts(experiment));
  for (const Json& good :
       {with("solver", {{"h", {{"lag", "tau"}, {"parts", 20}}}, {"dt", 1}, {"levels", "all"}}),
        with("solver", {{"h", 1}, {"dt", {{"min", 0.5}, {"max", 2}}}}), with("grammar", 2)}) {
    CHECK(errors_of(good, ".") == "");
    CHECK_MESSAGE(validator.accepts(good), good.dump());
  }
  for (const Json& bad :
       {with("solver", {}), with("history", {}), with("solver", {{"dt", 1}}), with("solver", {{"h", 0}}),
        with("solver", {{"h", 1}, {"method", "rk5"}}), with("solver", {{"h", 1}, {"levels", -1}}),
        with("solver", {{"h", {{"lag", "tau"}}}}), with("ode", {}), with("grammar", 3)}) {
    CHECK(errors_of(bad, ".") != "");
    CHECK_MESSAGE(!validator.accepts(bad), bad.dump());
  }
}

TEST_CASE("the schema and the reader agree on experiments with one change") {
  const Json schema = experiment_schema();
  const test::SchemaValidator validator(schema);
  std::size_t mutants = 0, refused = 0, relations = 0;
  for (const auto& experiment : shipped_experiments()) {
    const fs::path& file = experiment.first;
    // Each file has its own changes, which others do not move.
    const std::string name = file.parent_path().filename().string() + file.filename().string();
    std::uint64_t seed = 0;
    for (const char c : name) seed = 31 * seed + static_cast<unsigned char>(c);
    RandomStream random(seed, stream_name({0x736368656d61}));
    for (int i = 0; i < 8; ++i) {
      Json mutant = experiment.second;
      const Mutation mutation(mutant, random);
      const std::string errors = errors_of(mutant, file.parent_path());
      const bool valid = validator.accepts(mutant);
      CAPTURE(file.string());
      CAPTURE(mutation.description());
      CAPTURE(errors);
      ++mutants;
      refused += !errors.empty() && !valid;
      if (!valid) CHECK_FALSE(errors.empty());
      if (valid && !errors.empty()) {
        CHECK(are_relations(errors, mutant.contains("cells")));
        ++relations;
      }
    }
  }
  MESSAGE(mutants, " mutants, ", refused, " refused by both, ", relations,
          " by the reader alone, for relations");
  CHECK(mutants >= 2000);
  CHECK(refused >= mutants / 3);
  CHECK(relations <= mutants / 50);
}

}  // namespace
}  // namespace lagtape
