#include "lagtape/cells/models/model.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "lagtape/cells/layers/bidirectional.h"
#include "lagtape/cells/layers/dropout.h"
#include "lagtape/cells/layers/layer_norm.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/cells/registry.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/cells/unicornn.h"
#include "lagtape/core/error.h"
#include "lagtape/tests/cells/support/cell_row.h"

namespace lagtape {
namespace {

/// A model of several kinds of layers, with options that are not the defaults.
ModelDefinition in_cpp() {
  return {.layers = {{TauGru{.units = 6, .tau = {4, Delay::trained(8)}, .dt = 0.5}, {.residual = false}},
                     {LayerNorm{.eps = 1e-3}, InitialValues{{{"gain", Initializer::constant(0.5)}}}},
                     Dropout{.rate = 0.25},
                     {Lstm{.units = 6}, {.residual = true}}},
          .readout = {.units = 2, .at = ReadAt::mean},
          .loss = Loss::mse};
}

const char* const kInJson = R"({
  "layers": [{"cell": "tau_gru", "units": 6, "tau": [4, {"max": 8}], "dt": 0.5},
             {"layer": "layer_norm", "eps": 1e-3, "init": {"gain": 0.5}},
             {"layer": "dropout", "rate": 0.25},
             {"cell": "lstm", "units": 6, "residual": true}],
  "readout": {"units": 2, "at": "mean"}})";

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.raw(), b.raw(), a.numel() * byte_size(a.dtype())) == 0;
}

Tensor waves(std::int64_t steps, Dtype dtype = Dtype::f32) {
  Tensor x({steps, 3}, dtype);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.set(i, 0.3 * static_cast<double>(i % 11) - 1);
  return x;
}

/// Outputs of a stream, fed step by step from its beginning.
Tensor streamed(Stream<float> stream, const Tensor& x) {
  Tensor y({x.size(0), stream.output_width()}, Dtype::f32);
  for (std::int64_t n = 0; n < x.size(0); ++n)
    stream.step(x.values<float>().data() + n * x.size(1), y.values<float>().data() + n * y.size(1));
  return y;
}

TEST_CASE("a model written in C++ is the one that a file writes") {
  JsonErrors errors;
  ModelDefinition read = read_model(parse_json(kInJson, "test"), {}, errors);
  errors.raise("test");
  read.loss = Loss::mse;
  const Model one(in_cpp(), {.input = 3}, 7), other(read, {.input = 3}, 7), drawn(read, {.input = 3}, 8);
  CHECK(json_of(in_cpp()).dump() == json_of(read).dump());
  CHECK(one.experiment() == other.experiment());
  CHECK(same_bits(one.predict(waves(9)), other.predict(waves(9))));
  CHECK_FALSE(same_bits(one.predict(waves(9)), drawn.predict(waves(9))));
}

TEST_CASE("what a model in C++ writes down is read as itself") {
  const std::string text = json_of(in_cpp()).dump();
  JsonErrors errors;
  const ModelDefinition again = read_model(parse_json(text, "test"), {}, errors);
  CHECK(errors.empty());
  CHECK(json_of(again).dump() == text);
}

TEST_CASE("a layer around a cell is written with the cell inside") {
  const LayerDefinition both{Bidirectional{.merge = "sum"}, Lstm{.units = 4}};
  const Json layers = json_of(ModelDefinition{.layers = {both}})["layers"];
  CHECK(layers[0]["layer"] == "bidirectional");
  CHECK(layers[0]["cell"]["units"] == 4);
  CHECK(layers[0]["merge"] == "sum");
  JsonErrors errors;
  const ModelDefinition read = read_model({{"layers", layers}, {"readout", {{"units", 1}}}}, {}, errors);
  errors.raise("test");
  const ModelDefinition written{.layers = {both}, .readout = {.units = 1}};
  const Model one(written, {.input = 3}, 7), other(read, {.input = 3}, 7);
  CHECK(one.experiment() == Model(read, {.input = 3}, 7).experiment());
  CHECK(same_bits(one.predict(waves(9)), other.predict(waves(9))));
  CHECK_THROWS_AS((LayerDefinition(Bidirectional{}, LayerDefinition(Bidirectional{}, Lstm{.units = 4}))),
                  InputError);
  CHECK_THROWS_AS(Model({.layers = {both}, .readout = {.units = -1}}, {.input = 3}), InputError);
  CHECK_THROWS_AS(Model({.layers = {both}, .readout = {.units = 1}}, {.input = 3, .tokens = -1}), InputError);
  CHECK_THROWS_WITH_AS((LayerDefinition(Bidirectional{}, Dropout{.rate = 0.5})),
                       "bidirectional: /cell: the layer inside must be a cell, got 'dropout'.", InputError);
}

TEST_CASE("rows of different lengths are predicted as each is alone") {
  for (const ReadAt at : {ReadAt::every_step, ReadAt::last_step, ReadAt::mean}) {
    ModelDefinition definition = in_cpp();
    definition.readout.at = at;
    Model model(definition, {.input = 3}, 7);
    model.normalization().output = {{5, 6}, {2, 2}};
    Tensor x({3, 9, 3}, Dtype::f32);
    for (std::int64_t i = 0; i < x.numel(); ++i) x.set(i, std::cos(static_cast<double>(i)));
    const std::vector<std::int64_t> lengths = {4, 9, 1};
    for (std::int64_t i = 4 * 3; i < 9 * 3; ++i) x.set(i, NAN);
    for (const int threads : {1, 2}) {
      const Tensor y = model.predict(x, lengths, threads);
      const std::int64_t width = y.numel() / 3;
      for (std::int64_t row = 0; row < 3; ++row) {
        Tensor alone({lengths[row], 3}, Dtype::f32);
        std::copy_n(x.values<float>().data() + row * 27, alone.numel(), alone.values<float>().data());
        const Tensor own = model.predict(alone);
        for (std::int64_t i = 0; i < width; ++i)
          CHECK(y.at(row * width + i) == (i < own.numel() ? own.at(i) : 0));
      }
    }
    CHECK_THROWS_WITH_AS(model.predict(x, std::vector<std::int64_t>{1, 2}),
                         "[predict] there is one length for each row of x [B, T, ..]. Got 2 for [3, 9, 3].",
                         InputError);
    CHECK_THROWS_WITH_AS(model.predict(x, std::vector<std::int64_t>{1, 10, 2}),
                         "[predict] lengths are in 1 .. 9. Got 10.", InputError);
  }
}

TEST_CASE("a cell keeps its own arithmetic unless the common options name one") {
  const auto arithmetic = [](const LayerDefinition& layer) {
    const Model model({.layers = {layer}, .readout = {.units = 1}}, {.input = 3});
    return model.layers().front().steps.front().states.front().arithmetic;
  };
  const Unicornn unicornn{.units = 3, .dt = {0.1}};
  CHECK(arithmetic(unicornn) == Arithmetic::grid);
  CHECK(arithmetic({unicornn, {.residual = true}}) == Arithmetic::grid);
  CHECK(arithmetic({unicornn, {.arithmetic = Arithmetic::real}}) == Arithmetic::real);
}

TEST_CASE("options that a file may not have are refused in C++ with the same words") {
  CHECK_THROWS_WITH_AS((LayerDefinition(TauGru{.units = 0, .tau = 2, .form = "papper"})),
                       "tau_gru: /units: expected integer >= 1 and <= 65536, got 0\n"
                       "tau_gru: /form: unknown value 'papper'; did you mean 'paper'? Known: paper, code",
                       InputError);
  CHECK_THROWS_WITH_AS((LayerDefinition(Dropout{.rate = 0.5}, CommonCellOptions{.residual = true})),
                       doctest::Contains("dropout: /dilations: unknown key 'dilations'"), InputError);
  const ModelDefinition wrong{
      .layers = {{Lstm{.units = 2}, InitialValues{{{"W_x", Initializer::constant(0)}}}}},
      .readout = {.units = 1}};
  CHECK_THROWS_WITH_AS(Model(wrong, {.input = 1}),
                       doctest::Contains("model: /model/layers/0/init/W_x: unknown parameter 'W_x'"),
                       InputError);
  CHECK_THROWS_WITH_AS(Model({.layers = {Lstm{.units = 2}}}, {.input = 1}),
                       "model: /model/readout/units: is missing, and the data do not tell it.", InputError);
  CHECK_THROWS_WITH_AS(Model({.layers = {}, .readout = {.units = 1}}, {.input = 1}),
                       "model: /model/layers: a model has at least one layer.", InputError);
}

TEST_CASE("a model made in C++ is saved and loaded, and streams what it predicts") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / text_of("lagtape_", getpid(), ".safetensors");
  for (const Precision precision : {Precision(Dtype::f32), Precision(Dtype::f64), kBf16}) {
    ModelDefinition definition{.layers = {TauGru{.units = 6, .tau = 4}},
                               .readout = {.units = 2, .at = ReadAt::every_step},
                               .loss = Loss::mse,
                               .precision = precision};
    Model model(definition, {.input = 3}, 1);
    model.normalization().input = {{1, 2, 3}, {2, 2, 2}};
    model.save(file);
    const Model loaded = Model::load(file);
    std::filesystem::remove(file);
    const Tensor x = waves(12, precision), y = model.predict(x);
    CHECK(loaded.dtype() == precision);
    CHECK(name_of(loaded.definition().precision) == name_of(precision));
    CHECK(loaded.loss() == Loss::mse);
    CHECK(loaded.experiment() == model.experiment());
    CHECK(same_bits(loaded.predict(x), y));
    with_scalar(precision, [&]<class T>() {
      Stream<T> stream = loaded.stream<T>();
      Tensor streamed({12, 2}, precision);
      for (int n = 0; n < 12; ++n)
        stream.step(x.values<T>().data() + 3 * n, streamed.values<T>().data() + 2 * n);
      CHECK(same_bits(streamed, y));
    });
  }
}

TEST_CASE("a model of f32 streams with weights in bf16 as a model of that precision") {
  const auto made = [](Precision precision) {
    return Model({.layers = {TauGru{.units = 20, .tau = 4}, Lstm{.units = 9}},
                  .readout = {.units = 2, .at = ReadAt::every_step},
                  .precision = precision},
                 {.input = 3}, 1);
  };
  const Tensor x = waves(40, Dtype::f32);
  const Tensor plain = streamed(made(Dtype::f32).stream<float>(), x);
  const Tensor half = streamed(made(kBf16).stream<float>(), x);
  CHECK(same_bits(streamed(made(Dtype::f32).stream<float>({.weights = ProductFormat::bf16}), x), half));
  CHECK(same_bits(made(kBf16).predict(x), half));
  CHECK(!same_bits(plain, half));
  // A model of bf16 without its rounding is the one of f32.
  CHECK(same_bits(streamed(made(kBf16).stream<float>({.weights = ProductFormat::scalar}), x), plain));
  CHECK(same_bits(streamed(made(Dtype::f32).stream<float>({.weights = ProductFormat::scalar}), x), plain));
  CHECK_THROWS_WITH_AS(made(Dtype::f64).stream<double>({.weights = ProductFormat::scalar}),
                       "[stream] weights in f32 are for models of f32; this one is f64", InputError);
  for (std::int64_t i = 0; i < plain.numel(); ++i) CHECK(std::abs(plain.at(i) - half.at(i)) < 0.02);
  CHECK_THROWS_WITH_AS(made(Dtype::f64).stream<double>({.weights = ProductFormat::bf16}),
                       "[stream] weights in bf16 are for models of f32; this one is f64", InputError);
}

TEST_CASE("every cell of 64 units streams in int8, near its own numbers and with the bits of blocks") {
  for (const std::string& name : names_of(cells())) {
    CAPTURE(name);
    Json cell = {{"cell", name}};
    cell.update(test::read_row(name).options.front());
    if (cell.contains("units")) cell["units"] = 64;
    JsonErrors errors;
    const ModelDefinition definition =
        read_model({{"layers", Json::array({{{"cell", "lstm"}, {"units", 64}}, cell})},
                    {"readout", {{"units", 2}, {"at", "every_step"}}}},
                   {}, errors);
    errors.raise("test");
    const Model model(definition, {.input = 3}, 1);
    const Tensor x = waves(40, Dtype::f32), y = streamed(model.stream<float>(), x);
    Stream<float> stream = model.stream<float>({.weights = ProductFormat::int8, .calibration = x});
    const Tensor quantized = streamed(stream, x);
    CHECK((!same_bits(quantized, y) || name == "lif"));  // whose outputs are 0 or 1
    double difference = 0, total = 0;
    for (std::int64_t i = 0; i < y.numel(); ++i) {
      difference += std::pow(y.at(i) - quantized.at(i), 2);
      total += std::pow(y.at(i), 2);
    }
    CHECK(std::sqrt(difference / total) < 0.1);
    Tensor block(y.shape(), Dtype::f32);
    stream.block(x.values<float>().data(), block.values<float>().data(), x.size(0));
    CHECK(same_bits(block, quantized));
  }
}

TEST_CASE("a stream in int8 says what its calibration lacks") {
  const auto made = [](std::int64_t units, Dtype dtype) {
    return Model({.layers = {Lstm{.units = units}}, .readout = {.units = 1}, .precision = dtype},
                 {.input = 3}, 1);
  };
  const Model model = made(64, Dtype::f32);
  const auto asked = [](const Model& of, const Tensor& x) {
    return [&of, &x] { of.stream<float>({.weights = ProductFormat::int8, .calibration = x}); };
  };
  const std::string needs =
      "[stream] weights in int8 need calibration: sequences [T, 3] or [B, T, 3] like those to come. Got ";
  const Tensor x = waves(40, Dtype::f32);
  CHECK_THROWS_WITH_AS(asked(model, Tensor())(), (needs + "none.").c_str(), InputError);
  CHECK_THROWS_WITH_AS(asked(model, Tensor({40, 2}, Dtype::f32))(), (needs + "[40, 2].").c_str(), InputError);
  Tensor bad = waves(40, Dtype::f32);
  bad.set(4, std::numeric_limits<float>::infinity());
  CHECK_THROWS_WITH_AS(asked(model, bad)(), "[stream] calibration: number 4 is not finite. Got inf.",
                       InputError);
  const Model small = made(63, Dtype::f32);
  CHECK_THROWS_WITH_AS(asked(small, x)(), doctest::Contains("layers of 64 units and more"), InputError);
  CHECK_THROWS_WITH_AS(model.stream<float>({.weights = ProductFormat::bf16, .calibration = x}),
                       "[stream] calibration is for weights in int8. Got weights in bf16.", InputError);
  CHECK_THROWS_WITH_AS(
      made(64, Dtype::f64).stream<double>({.weights = ProductFormat::int8, .calibration = x.to(Dtype::f64)}),
      "[stream] weights in int8 are for models of f32; this one is f64", InputError);
  CHECK_THROWS_WITH_AS(stream_weights_named("int4"), doctest::Contains("did you mean 'int8'"), InputError);
}

}  // namespace
}  // namespace lagtape
