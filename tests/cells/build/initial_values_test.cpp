#include "lagtape/cells/build/initial_values.h"

#include <doctest/doctest.h>

#include <map>

#include "lagtape/cells/build/read_initializer.h"
#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {
namespace {

/// The model with these layers and read-out. Throws InputError for errors in the options.
FittedModel built(const std::string& layers, const std::string& readout = "{}") {
  const Json model =
      parse_json(text_of(R"({"layers": [)", layers, R"(], "readout": )", readout, "}"), "test");
  const Json cells = parse_json(R"json({"mine": {
    "weights": {"W": ["units", "units"], "b": "units"}, "init": {"b": "zeros"},
    "state": {"h": "units"}, "step": ["h' = tanh(W @ h + b) + sum(x)"], "output": "h'"}})json",
                                "test");
  JsonErrors errors;
  const ModelDefinition definition = read_model(model, cells, errors);
  errors.raise("e");
  FittedModel spec = fit(definition, {.input = 3, .output = 2}, errors);
  errors.raise("e");
  return spec;
}

std::map<std::string, Initializer> first_values(const FittedModel& spec) {
  std::map<std::string, Initializer> all;
  for (const ParameterDefinition& parameter : spec.parameters()) all[parameter.name] = parameter.initializer;
  return all;
}

std::string error_of(const std::string& layers, const std::string& readout = "{}") {
  try {
    built(layers, readout);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

const Initializer kOrthogonal = {Initializer::Kind::orthogonal, 1};
const Initializer kIdentity = {Initializer::Kind::identity, 1};

TEST_CASE("init gives parameters their first values by name, and leaves the others theirs") {
  const auto all =
      first_values(built(R"({"cell": "lem", "units": 4, "init": {"W1": "orthogonal", "W1.bias": 1}},
               {"cell": "mine", "units": 4, "init": {"b": {"type": "normal", "deviation": 0.5}}},
               {"layer": "layer_norm", "init": {"gain": 0.5}},
               {"layer": "linear", "units": 5, "init": {"W": "identity"}})",
                         R"({"init": {"W.bias": "zeros"}})"));
  CHECK(all.at("layers.0.W1") == kOrthogonal);
  CHECK(all.at("layers.0.W1.bias") == Initializer::constant(1));
  CHECK(all.at("layers.0.W2") == Initializer::uniform_of(4));
  CHECK(all.at("layers.1.b") == Initializer::normal(0, 0.5));
  CHECK(all.at("layers.1.W") == Initializer::uniform_of(4));
  CHECK(all.at("layers.2.gain") == Initializer::constant(0.5));
  CHECK(all.at("layers.3.W") == kIdentity);
  CHECK(all.at("layers.3.W.bias") == Initializer::uniform_of(4));
  CHECK(all.at("readout.W") == Initializer::kaiming_normal());
  CHECK(all.at("readout.W.bias") == Initializer::constant(0));
}

TEST_CASE("init reaches one layer inside a layer, or all of them") {
  const auto all = first_values(built(
      R"({"cell": "unicornn", "units": 4, "layers": 3, "dt": 0.1, "init": {"1.V": "identity", "V": "orthogonal"}},
         {"cell": "gru", "units": 4, "dilations": [1, 2], "init": {"1.W_r": "identity"}})"));
  CHECK(all.at("layers.0.0.V") == kOrthogonal);
  CHECK(all.at("layers.0.1.V") == kIdentity);
  CHECK(all.at("layers.0.2.V") == kOrthogonal);
  CHECK(all.at("layers.1.0.W_r") == Initializer::uniform_of(4));
  CHECK(all.at("layers.1.1.W_r") == kIdentity);
}

TEST_CASE("a parameter that init sets draws numbers of its own") {
  const auto bias = [](const std::string& init) {
    const FittedModel spec =
        built(text_of(R"({"cell": "lstm", "units": 4, "chrono": 50, "init": )", init, "}"));
    const Parameters values = draw_parameters(spec, Dtype::f64, 1);
    return std::pair(values["layers.0.W_f.bias"].value.at(0), values["layers.0.W_i.bias"].value.at(0));
  };
  const auto [forget, input] = bias("{}");
  CHECK(forget == -input);
  const auto [same, own] = bias(R"({"W_i.bias": {"type": "chrono", "longest": 50, "scale": -1}})");
  CHECK(same == forget);
  CHECK(own != input);
}

TEST_CASE("a model with init is filled in and read back as the same model") {
  const FittedModel spec = built(R"({"cell": "lem", "units": 4, "init": {"W1": "orthogonal", "V1.bias": 2}},
                                  {"layer": "linear", "units": 4, "init": {"W": "lecun_normal"}})",
                                 R"({"init": {"W": {"type": "chrono"}}})");
  CHECK(json_of(spec.definition)["layers"][0]["init"].dump() ==
        R"({"W1":{"type":"orthogonal","gain":1.0},"V1.bias":{"type":"constant","value":2.0}})");
  CHECK(json_of(spec.definition)["readout"]["init"].dump() ==
        R"({"W":{"type":"chrono","scale":1.0,"longest":784.0}})");
  const FittedModel again =
      built(json_of(spec.definition)["layers"][0].dump() + "," + json_of(spec.definition)["layers"][1].dump(),
            json_of(spec.definition)["readout"].dump());
  CHECK(first_values(again) == first_values(spec));
  CHECK(json_of(again.definition) == json_of(spec.definition));
}

TEST_CASE("what is wrong with init is said at its place, with the nearest name") {
  CHECK(
      error_of(
          R"({"layer": "linear", "units": 2}, {"cell": "rnn", "units": 4, "init": {"W.bais": "zeros"}})") ==
      "e: /model/layers/1/init/W.bais: unknown parameter 'W.bais'; did you mean 'W.bias'? Known: W, W.bias, "
      "U, U.bias");
  CHECK(
      error_of(R"({"cell": "unicornn", "units": 4, "dt": 0.1, "layers": 1, "init": {"1.V": "zeros"}})") ==
      "e: /model/layers/0/init/1.V: unknown parameter '1.V'; did you mean '0.V'? Known: 0.V, 0.V.bias, 0.w, "
      "0.c");
  CHECK(error_of(R"({"cell": "rnn", "units": 4, "init": {"W.bias": "orthogonal"}})") ==
        "e: /model/layers/0/init/W.bias: this initializer is for matrices [out, in]; 'W.bias' is [4].");
  CHECK(
      error_of(R"({"cell": "rnn", "units": 4, "init": {"W": "henaff"}})") ==
      "e: /model/layers/0/init/W: this initializer is for the numbers [n (n - 1) / 2] above a diagonal; 'W' "
      "is [4, 4].");
  CHECK(error_of(R"({"cell": "rnn", "units": 4, "init": {"W": {"type": "orthogonal", "gian": 2}}})") ==
        "e: /model/layers/0/init/W/gian: unknown key 'gian'; did you mean 'gain'? Known: type, gain");
  CHECK(error_of(R"({"cell": "rnn", "units": 4, "init": "orthogonal"})") ==
        "e: /model/layers/0/init: expected an object, got \"orthogonal\"");
  CHECK(error_of(R"({"cell": "rnn", "units": 4})", R"({"init": {"W0": "zeros"}})") ==
        "e: /model/readout/init/W0: unknown parameter 'W0'; did you mean 'W'? Known: W, W.bias");
  CHECK(
      error_of(R"({"cell": "rnn", "units": 4})", R"({"init": "lineer"})") ==
      "e: /model/readout/init: unknown value 'lineer'; did you mean 'linear'? Known: linear, kaiming_normal");
}

TEST_CASE("every initializer is documented, and its defaults are read") {
  for (const InitializerEntry& entry : initializers()) {
    CAPTURE(entry.name);
    CHECK(entry.summary != "");
    CHECK(entry.equations.starts_with("W"));
    JsonErrors errors;
    std::string_view type;
    const Initializer initializer = read_initializer(std::string(entry.name), "/init/W", errors, &type);
    errors.raise("test");
    CHECK(initializer.kind == entry.kind);
    CHECK(type == entry.name);
    CHECK(read_initializer(json_of(initializer, type), "/init/W", errors) == initializer);
  }
}

}  // namespace
}  // namespace lagtape
