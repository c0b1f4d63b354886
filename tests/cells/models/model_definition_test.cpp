#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/model_json.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "lagtape/core/json/schema.h"
#include "lagtape/tests/cells/support/cell_row.h"

namespace lagtape {
namespace {

/// The model in a text {"model": ..., "cells": ...}, fitted to the data.
FittedModel built(const std::string& text, const DataWidths& data) {
  const Json experiment = parse_json(text, "e.json");
  JsonErrors errors;
  const Json cells = experiment.contains("cells") ? experiment["cells"] : Json();
  const ModelDefinition definition = read_model(experiment["model"], cells, errors);
  errors.raise("e.json");
  FittedModel spec = fit(definition, data, errors);
  errors.raise("e.json");
  return spec;
}

std::string errors_of(const std::string& text, const DataWidths& data = {.input = 1, .output = 1}) {
  try {
    built(text, data);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string model_of(const std::string& layers, const std::string& readout = "{}") {
  return text_of(R"({"model": {"layers": [)", layers, R"(], "readout": )", readout, "}}");
}

/// The names of a registry as an error lists them.
std::string known(LayerEntries entries) {
  std::string all;
  for (const LayerEntry& entry : entries) all += text_of(all.empty() ? "" : ", ", entry.name);
  return all;
}

const std::string kTauGru = R"({"cell": "tau_gru", "units": 16, "tau": 10})";

TEST_CASE("the model of the manual is read, and its defaults filled in") {
  FittedModel spec =
      built(model_of(kTauGru, R"({"units": 1, "at": "every_step"})"), {.input = 1, .output = 1});
  spec.definition.loss = Loss::mse;
  CHECK(spec.names == std::vector<std::string>{"tau_gru"});
  CHECK(spec.parameter_count() == 1233);
  CHECK(spec.at() == ReadAt::every_step);
  CHECK(spec.layers[0].program.largest_lag() == 10);
  CHECK(spec.input_width() == 1);
  const ChainDefinition chain = spec.chain();
  REQUIRE(chain.parts.size() == 1);
  CHECK(chain.parts[0].stack.layers.size() == 1);
  CHECK(chain.parts[0].stack.readout.has_value());
  CHECK(chain.at() == ReadAt::every_step);
  CHECK(chain.loss() == Loss::mse);
  CHECK(
      json_of(spec.definition).dump() ==
      R"({"layers":[{"cell":"tau_gru","units":16,"tau":10.0,"dt":1.0,"alpha":1.0,"beta":1.0,)"
      R"("weighting":true,"gating":true,"form":"paper","dropout":0.0,"reads":{},"arithmetic":"float","dilations":[],"residual":false,"init":{}}],)"
      R"("readout":{"units":1,"at":"every_step","at_padding":false,"tied":false,"init":"kaiming_normal"}})");
}

TEST_CASE("a filled-in model reads as itself") {
  const FittedModel spec = built(model_of(kTauGru + R"(, {"cell": "lstm", "units": 3})"),
                                 {.input = 2, .classes = 10, .every_step = false});
  const FittedModel again = built(Json{{"model", json_of(spec.definition)}}.dump(), {.input = 2});
  CHECK(json_of(again.definition) == json_of(spec.definition));
  CHECK(again.at() == spec.at());
  REQUIRE(again.layers.size() == 2);
  CHECK(to_string(again.layers[0].program) == to_string(spec.layers[0].program));
  CHECK(to_string(again.layers[1].program) == to_string(spec.layers[1].program));
  CHECK(to_string(again.readout.program) == to_string(spec.readout.program));
}

TEST_CASE("each layer's input is the output of the one before") {
  const FittedModel spec = built(model_of(R"({"layer": "linear", "units": 5}, {"cell": "lstm", "units": 7},
                                           {"cell": "delay_gru", "units": 3, "tau": 2})"),
                                 {.input = 2, .output = 4});
  CHECK(spec.input_width() == 2);
  CHECK(spec.layers[1].program.input == RowShape::vector(5));
  CHECK(spec.layers[2].program.input == RowShape::vector(7));
  CHECK(spec.readout.program.input == RowShape::vector(3));
  CHECK(spec.output_width() == 4);
  CHECK(spec.layers[0].program.states.empty());
}

TEST_CASE("the data decide what the read-out leaves open") {
  const std::string model = model_of(kTauGru);
  const FittedModel classifier = built(model, {.input = 1, .classes = 10, .every_step = false});
  CHECK(classifier.output_width() == 10);
  CHECK(classifier.at() == ReadAt::last_step);
  const FittedModel forecaster = built(model, {.input = 1, .output = 3, .every_step = true});
  CHECK(forecaster.output_width() == 3);
  CHECK(forecaster.at() == ReadAt::every_step);
  CHECK(built(model_of(kTauGru, R"({"at_padding": true})"), {.input = 1, .classes = 2}).at() ==
        ReadAt::last_padded_step);
  CHECK(built(model_of(kTauGru, R"({"at": "mean"})"), {.input = 1, .classes = 2, .every_step = false}).at() ==
        ReadAt::mean);
  CHECK(built(model_of(kTauGru, R"({"units": 1})"), {.input = 1, .classes = 2}).output_width() == 1);
  CHECK(built(R"({"model": {"layers": [{"cell": "lstm", "units": 2}]}})", {.input = 1, .output = 3})
            .output_width() == 3);
}

TEST_CASE("a contradiction between model and data names both") {
  CHECK(errors_of(model_of(kTauGru, R"({"units": 3, "at": "every_step"})"),
                  {.input = 1, .classes = 10, .every_step = false}) ==
        "e.json: /model/readout/units: the model gives 3 numbers, but the data have 10 classes.\n"
        "e.json: /model/readout/at: the model reads at 'every_step', but the data have a target for every "
        "sequence.");
  CHECK(errors_of(model_of(kTauGru, R"({"units": 3, "at": "mean"})"),
                  {.input = 1, .output = 2, .every_step = true}) ==
        "e.json: /model/readout/units: the model gives 3 numbers, but the data have 2 a target.\n"
        "e.json: /model/readout/at: the model reads at 'mean', but the data have a target for every step.");
  CHECK(errors_of(model_of(kTauGru), {.input = 1}) ==
        "e.json: /model/readout/units: is missing, and the data do not tell it.");
}

TEST_CASE("all errors of a model are told at once, each with its place") {
  CHECK(errors_of(model_of(R"({"cell": "tau_gur", "units": 16},
                              {"cell": "tau_gru", "units": 0, "tau": -3, "dt": 0, "alpa": 1},
                              {"cell": "tau_gru", "units": 2.5},
                              {"cell": "lstm", "layer": "linear", "units": 2},
                              {"units": 4},
                              {"layer": "liner"},
                              {"cell": "tau_gru", "units": 2, "tau": 1, "alpha": 0, "beta": 0},
                              {"cell": "tau_gru", "units": 2, "tau": 1, "dt": 1e-300},
                              7)",
                           R"({"units": "one", "at": "last", "at_padding": 1, "bias": true})")) ==
        "e.json: /model/layers/0/cell: unknown cell 'tau_gur'; did you mean 'tau_gru'? Known: " +
            known(cells()) +
            R"(
e.json: /model/layers/1/units: expected integer >= 1 and <= 65536, got 0
e.json: /model/layers/1/tau: expected number >= 0, or {"max": 64}, got -3
e.json: /model/layers/1/dt: expected number > 0, got 0
e.json: /model/layers/1/alpa: unknown key 'alpa'; did you mean 'alpha'? Known: cell, units, tau, dt, alpha, beta, weighting, gating, form, dropout, reads, arithmetic, dilations, residual, init
e.json: /model/layers/2/units: expected integer >= 1 and <= 65536, got 2.5
e.json: /model/layers/2/tau: is missing, expected number >= 0
e.json: /model/layers/3: a layer has one of the keys 'cell' (recurrent) and 'layer' (of a step alone), not both.
e.json: /model/layers/4/cell: is missing, expected string
e.json: /model/layers/5/layer: unknown layer 'liner'; did you mean 'linear'? Known: )" +
            known(per_step_layers()) + ", " + known(sequence_layers()) + R"(
e.json: /model/layers/6/alpha: alpha and beta are both 0, which leaves no update.
e.json: /model/layers/7/tau: tau / dt must be at most 1073741824 steps, got 1e+300.
e.json: /model/layers/8: expected an object, got 7
e.json: /model/readout/units: expected integer >= 1 and <= 65536, got "one"
e.json: /model/readout/at: unknown value 'last'; did you mean 'last_step'? Known: every_step, last_step, mean
e.json: /model/readout/at_padding: expected boolean, got 1
e.json: /model/readout/bias: unknown key 'bias'. Known: units, at, at_padding, tied, init)");
  CHECK(
      errors_of(R"({"model": {"layer": [], "readout": []}})") ==
      R"(e.json: /model/layers: expected a list of layers, like [{"cell": "tau_gru", "units": 16, "tau": 10}].
e.json: /model/readout: expected an object, got an array
e.json: /model/layer: unknown key 'layer'; did you mean 'layers'? Known: layers, readout, linear, rest)");
  CHECK(errors_of(R"({"model": null})") == "e.json: /model: expected an object, got null");
  CHECK(errors_of(model_of(kTauGru, R"({"at": "mean", "at_padding": true})")) ==
        R"(e.json: /model/readout/at_padding: this goes with "at": "last_step" only.)");
}

// ---- Cells of a user ----

std::string with_cell(const std::string& cell, const std::string& layer) {
  return text_of(R"({"cells": {"mine": )", cell, R"(}, "model": {"layers": [)", layer, "]}}");
}

const std::string kCell = R"json({
  "hyper": {"tau": 20, "alpha": 1.5}, "weights": {"W": ["units", "units"], "U": ["units", "input"], "b": ["units"]},
  "init": {"b": "zeros"}, "state": {"h": "units"},
  "step": ["h' = tanh(W @ h[-tau] + U @ x + b) * alpha"], "output": "h'"})json";

TEST_CASE("a user's cell is used like a built-in one, and its hyper-parameters are options") {
  const FittedModel spec =
      built(with_cell(kCell, R"({"cell": "mine", "units": 4}, {"cell": "mine", "units": 3, "tau": 7})"),
            {.input = 2, .output = 1});
  REQUIRE(spec.layers.size() == 2);
  CHECK(spec.layers[0].program.largest_lag() == 20);
  CHECK(spec.layers[1].program.largest_lag() == 7);
  CHECK(spec.parameter_count() == 4 * (4 + 2 + 1) + 3 * (3 + 4 + 1) + 3 + 1);
  CHECK(
      json_of(spec.definition)["layers"].dump() ==
      R"([{"cell":"mine","units":4,"tau":20.0,"alpha":1.5,"arithmetic":"float","dilations":[],"residual":false,"init":{}},{"cell":"mine","units":3,"tau":7.0,"alpha":1.5,"arithmetic":"float","dilations":[],"residual":false,"init":{}}])");
  const std::vector<ParameterDefinition> parameters = spec.parameters();
  CHECK(parameters[5].name == "layers.1.b");
  CHECK(parameters[5].initializer == Initializer::constant(0));

  const FittedModel again =
      built(Json{{"cells", cells_json_of(spec.definition)}, {"model", json_of(spec.definition)}}.dump(),
            {.input = 2});
  CHECK(to_string(again.layers[1].program) == to_string(spec.layers[1].program));
}

TEST_CASE("errors in a user's cell have their place") {
  CHECK(errors_of(with_cell(R"json({"hyper": {"tau": "x", "units": 3}, "weights": {"W": [1.5], "b": null},
                                "init": {"c": "zeros", "b": "one", "W": "orthogonal"}, "lags": {"b": 1.5},
                                "state": [], "step": "h' = h", "outputs": "h'"})json",
                            R"json({"cell": "mine", "units": 4, "tua": 3})json")) ==
        R"json(e.json: /cells/mine/hyper/tau: expected a number.
e.json: /cells/mine/hyper/units: the name 'units' is taken by an option of every layer.
e.json: /cells/mine/weights/W: expected a shape, like ["units", "input"], "units", 16 or [].
e.json: /cells/mine/weights/b: expected a shape, like ["units", "input"], "units", 16 or [].
e.json: /cells/mine/init/c: unknown weight 'c'. Known: W, b
e.json: /cells/mine/init/b/type: unknown value 'one'; did you mean 'ones'? Known: zeros, ones, constant, uniform, normal, truncated_normal, xavier_uniform, xavier_normal, glorot_uniform, glorot_normal, kaiming_uniform, kaiming_normal, he_uniform, he_normal, lecun_uniform, lecun_normal, orthogonal, identity, log_uniform, chrono, ramp, log_ramp, power_ramp, log_of_uniform, inverse_softplus, decay_8, ring, ring_gain, oscillator_damping, oscillator_stiffness, henaff, cayley
e.json: /cells/mine/init/W: this initializer is for matrices [out, in]; 'W' is none.
e.json: /cells/mine/lags/b: expected a whole number, like 64 or "units".
e.json: /cells/mine/state: expected an object.
e.json: /cells/mine/output: expected what the layer gives on, like "h'" or ["h'", "c'"].
e.json: /cells/mine/outputs: unknown key 'outputs'; did you mean 'output'? Known: hyper, params, weights, init, constants, reads, functions, derived, lags, state, step, output, grammar
e.json: /model/layers/0/tua: unknown key 'tua'; did you mean 'tau'? Known: cell, units, tau, arithmetic, dilations, residual, init)json");
  CHECK(errors_of(with_cell(kCell, R"json({"cell": "mine", "units": 4, "tau": 2.5})json")) ==
        "e.json: /cells/mine/step/0: cell 'mine': equation 1, column 17: the lag must be a whole number. Got "
        "2.5. "
        "In: h' = tanh(W @ h[-tau] + U @ x + b) * alpha");
  CHECK(errors_of(with_cell(kCell, R"json({"cell": "mien", "units": 4})json")) ==
        "e.json: /model/layers/0/cell: unknown cell 'mien'; did you mean 'mine'? Known: " + known(cells()) +
            ", mine");
  CHECK(errors_of(R"json({"cells": {"lstm": )json" + kCell +
                  R"json(}, "model": {"layers": [{"cell": "lstm", "units": 2}]}})json") ==
        "e.json: /cells/lstm: the name is taken by a built-in cell.");
  CHECK(errors_of(R"json({"cells": [], "model": {"layers": [{"cell": "lstm", "units": 2}]}})json") ==
        "e.json: /cells: expected an object, got an array");
  CHECK(errors_of(with_cell(
            R"json({"state": {"h": ["2", "units"]}, "step": ["h' = tanh(h + sum(x))"], "output": "h'"
})json",
            R"json({"cell": "mine", "units": 4})json")) ==
        "e.json: /model/layers/0: the output of a layer must be a vector. Got [2, 4].");
}

// ---- Parameters ----

TEST_CASE("parameters are named by layer, and drawn from seed and name") {
  const FittedModel spec = built(model_of(R"({"cell": "lstm", "units": 2}, {"layer": "linear", "units": 2})"),
                                 {.input = 2, .output = 1});
  const Parameters parameters = draw_parameters(spec, Dtype::f64, 3);
  CHECK(parameters.count() == spec.parameter_count());
  CHECK(parameters["layers.0.W_i"].value.shape() == Shape{2, 2});
  CHECK(parameters["layers.1.W.bias"].value.shape() == Shape{2});
  CHECK(parameters["readout.W"].value.shape() == Shape{1, 2});
  CHECK(parameters["readout.W.bias"].value.shape() == Shape{1});
  const Parameters same = draw_parameters(spec, Dtype::f64, 3), other = draw_parameters(spec, Dtype::f64, 4);
  CHECK(same["readout.W"].value.at(0) == parameters["readout.W"].value.at(0));
  CHECK(other["readout.W"].value.at(0) != parameters["readout.W"].value.at(0));
  CHECK(parameters["layers.0.W_f"].value.at(0) != parameters["layers.0.W_i"].value.at(0));
}

TEST_CASE("the read-out starts from the Kaiming normal distribution unless init says otherwise") {
  const DataWidths data{.input = 1, .output = 1};
  CHECK(built(model_of(kTauGru), data).readout.parameters[0].initializer == Initializer::kaiming_normal());
  CHECK(built(model_of(kTauGru, R"({"init": "linear"})"), data).readout.parameters[0].initializer ==
        Initializer::uniform(-0.25, 0.25));
}

TEST_CASE("first values that a parameter cannot have are refused") {
  const auto drawn = [](const std::string& layer) {
    return draw_parameters(built(model_of(layer), {.input = 1, .output = 1}), Dtype::f32, 0);
  };
  CHECK_THROWS_WITH_AS(drawn(R"({"layer": "batch_norm", "init": {"variance": -1}})"),
                       doctest::Contains("layers.0.variance: number 0 is -1, expected 0 to inf"), InputError);
  CHECK_THROWS_WITH_AS(drawn(R"({"cell": "rnn", "units": 2, "init": {"W": 1e300}})"),
                       doctest::Contains("layers.0.W: number 0 is not finite"), InputError);
  CHECK_THROWS_WITH_AS(drawn(R"({"cell": "tau_gru", "units": 2, "tau": {"max": 9}, "init": {"tau": 10}})"),
                       doctest::Contains("layers.0.tau: number 0 is 10, expected 1 to 9"), InputError);
}

// ---- Registry ----

/// A value for an option that must be given.
Json given_for(const OptionDoc& option) {
  if (option.schema.contains("$ref")) return {{"cell", "rnn"}, {"units", 2}};
  if (type_words(option.schema).starts_with("list")) return {1, 2};
  if (option.key == "rate") return 0.5;
  return 2;
}

TEST_CASE("every layer of the registry documents its options and builds with the required ones") {
  for (const auto entries : {cells(), per_step_layers(), sequence_layers()}) {
    for (const LayerEntry& entry : entries) {
      CAPTURE(entry.name);
      CHECK(!entry.summary.empty());
      CHECK(!entry.equations.empty());
      Json given = Json::object();
      for (const OptionDoc& option : options_of(entry)) {
        CHECK(!option.about.empty());
        if (option.fallback.empty()) given[option.key] = given_for(option);
      }
      JsonErrors errors;
      JsonReader reader(given, "", errors);
      const BuildLayer build = test::read_entry(entry, reader);
      reader.finish();
      CHECK(errors.empty());
      const bool has_none = entry.name == "dropout" || entry.name == "echo_state";
      CHECK((build(2).layers.front().parameter_count() > 0) == !has_none);
    }
  }
}

}  // namespace
}  // namespace lagtape
