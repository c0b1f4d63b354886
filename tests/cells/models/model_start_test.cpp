#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "lagtape/cells/layers/bidirectional.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/models/model.h"
#include "lagtape/cells/models/model_op.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/cells/unicornn.h"
#include "lagtape/core/error.h"
#include "lagtape/core/thread_pool.h"

namespace lagtape {
namespace {

/// States with lags, several layers, and states on the grid.
Model three_layers() {
  return Model({.layers = {TauGru{.units = 4, .tau = {3}}, Lstm{.units = 3},
                           Unicornn{.units = 3, .layers = 1, .dt = {0.3}}},
                .readout = {.units = 1, .at = ReadAt::every_step},
                .loss = Loss::mse},
               {.input = 1}, 3);
}

Tensor wave(std::int64_t begin, std::int64_t steps) {
  Tensor x({steps, 1}, Dtype::f32);
  for (std::int64_t i = 0; i < steps; ++i) x.set(i, std::sin(0.3 * static_cast<double>(begin + i)));
  return x;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.numel() == b.numel() && std::memcmp(a.raw(), b.raw(), a.numel() * byte_size(a.dtype())) == 0;
}

Tensor streamed(Stream<float>& stream, const Tensor& x) {
  Tensor y({x.size(0), 1}, Dtype::f32);
  for (std::int64_t i = 0; i < x.size(0); ++i)
    stream.step(x.values<float>().data() + i, y.values<float>().data() + i);
  return y;
}

/// A model that begins where a stream over the first 20 steps of the wave ends, and what that stream gives then.
struct Begun {
  Model model = three_layers();
  Tensor rest;

  Begun() {
    Stream<float> stream = model.stream<float>();
    streamed(stream, wave(0, 20));
    model.set_start(stream.window());
    rest = streamed(stream, wave(20, 15));
  }
};

TEST_CASE("a model that starts from a window goes on where the window was taken") {
  const Begun begun;
  CHECK_FALSE(same_bits(three_layers().predict(wave(20, 15)), begun.rest));
  CHECK(same_bits(begun.model.predict(wave(20, 15)), begun.rest));
  Stream<float> stream = begun.model.stream<float>();
  CHECK(same_bits(streamed(stream, wave(20, 15)), begun.rest));
  stream.reset();
  CHECK(same_bits(streamed(stream, wave(20, 15)), begun.rest));
  Stream<float> copy = stream;
  copy.reset();
  CHECK(same_bits(streamed(copy, wave(20, 15)), begun.rest));
}

TEST_CASE("every row of a batch and of a stream starts there") {
  const Begun begun;
  Tensor x({2, 15, 1}, Dtype::f32);
  for (std::int64_t i = 0; i < 30; ++i) x.set(i, wave(20, 15).at(i % 15));
  const Tensor y = begun.model.predict(x);
  Stream<float> stream = begun.model.stream<float>(2);
  for (std::int64_t i = 0; i < 15; ++i) {
    const float in[2] = {static_cast<float>(x.at(i)), static_cast<float>(x.at(i))};
    float out[2];
    stream.step(in, out);
    for (const int row : {0, 1}) {
      CHECK(out[row] == static_cast<float>(begun.rest.at(i)));
      CHECK(y.at(15 * row + i) == begun.rest.at(i));
    }
  }
}

TEST_CASE("training and evaluation start there") {
  Begun begun;
  ModelOp op(begun.model);
  ThreadPool pool(1);
  SequenceBatch batch;
  batch.x = wave(20, 15).reshaped({1, 15, 1});
  CHECK(same_bits(op.evaluate(begun.model.weights(), batch, pool), begun.rest));
  batch.targets = begun.rest.reshaped({1, 15, 1});
  Tape tape;
  CHECK(op.loss(tape, begun.model.weights(tape), batch, pool).value().item() == 0);
  Model from_zeros = three_layers();
  ModelOp other(from_zeros);
  CHECK(other.loss(tape, from_zeros.weights(tape), batch, pool).value().item() > 1e-6);
}

TEST_CASE("the start is saved with the parameters") {
  const Begun begun;
  const auto file =
      std::filesystem::temp_directory_path() / text_of("lagtape-start-", getpid(), ".safetensors");
  begun.model.save(file);
  const Model loaded = Model::load(file);
  std::filesystem::remove(file);
  CHECK(loaded.start().states.size() == begun.model.start().states.size());
  CHECK(same_bits(loaded.predict(wave(20, 15)), begun.rest));
}

TEST_CASE("a start that is not the model's is an error") {
  Model model = three_layers();
  Window start = model.stream<float>().window();
  start.states.pop_back();
  CHECK_THROWS_WITH_AS(model.set_start(start), "[start] the layers have 5 states. Got 4.", InputError);
  start = model.stream<float>(2).window();
  CHECK_THROWS_WITH_AS(model.set_start(start), "[start] state 0 is [4, 1, 4]. Got [4, 2, 4].", InputError);
  start = model.stream<float>().window();
  start.states[1].set(2, NAN);
  CHECK_THROWS_WITH_AS(model.set_start(start), "[start] state 1: number 2 is not finite: nan", InputError);
}

TEST_CASE("a model at rest stays there") {
  Model model({.layers = {TauGru{.units = 4, .tau = {3}}, Lstm{.units = 3}},
               .readout = {.units = 1, .at = ReadAt::every_step}},
              {.input = 1}, 3);
  const Tensor zeros({100, 1}, Dtype::f32), from_zeros = model.predict(zeros);
  model.settle(0);
  const Tensor at_rest = model.predict(zeros);
  CHECK(std::abs(from_zeros.at(0) - from_zeros.at(99)) > 1e-3);
  for (std::int64_t i = 0; i < 100; ++i) CHECK(std::abs(at_rest.at(i) - at_rest.at(99)) < 1e-5);
  const Tensor before = model.predict(zeros);
  model.settle(0.5);
  CHECK_FALSE(same_bits(model.predict(zeros), before));
}

TEST_CASE("a model that cannot come to rest says why") {
  Model both(
      {.layers = {{Bidirectional{}, Lstm{.units = 2}}}, .readout = {.units = 1, .at = ReadAt::every_step}},
      {.input = 1});
  CHECK_THROWS_AS(both.settle(0), InputError);
  CHECK_THROWS_WITH_AS(three_layers().settle(1e308),
                       "[rest] the input is a number that f32 can hold. Got 1e+308.", InputError);
  CHECK_THROWS_WITH_AS(three_layers().settle(NAN), "[rest] the input is a number that f32 can hold. Got nan.",
                       InputError);
}

}  // namespace
}  // namespace lagtape
