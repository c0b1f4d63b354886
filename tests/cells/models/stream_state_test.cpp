#include "lagtape/cells/models/stream_state.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "lagtape/cells/cells.h"
#include "lagtape/core/error.h"

namespace lagtape {
namespace {

Model made(std::uint64_t seed) {
  return Model({.layers = {TauGru{.units = 4, .tau = {3}}, Lstm{.units = 3}},
                .readout = {.units = 1, .at = ReadAt::mean}},
               {.input = 1}, seed);
}

std::vector<std::byte> saved(const Model& model, const StreamOptions& options) {
  Stream<float> stream = model.stream<float>(options);
  const std::vector<float> x(static_cast<std::size_t>(options.rows), 0.5f);
  std::vector<float> y(x.size());
  for (int n = 0; n < 7; ++n) stream.step(x.data(), y.data());
  std::vector<std::byte> bytes(StreamState::size(stream.window()));
  StreamState(model, options).write(stream.window(), stream.steps(), bytes);
  return bytes;
}

TEST_CASE("a state is read into the stream that it was saved of") {
  const Model model = made(1);
  const StreamOptions options{.rows = 2};
  const std::vector<std::byte> bytes = saved(model, options);
  Window window = model.stream<float>(options).window();
  CHECK(window.states.front().at(11) == 0);
  CHECK(StreamState(model, options).read(bytes, window, "restore") == 7);
  CHECK(window.states.front().at(31) != 0);
  std::vector<std::byte> again(bytes.size());
  StreamState(made(1), options).write(window, 7, again);  // a model with the same numbers
  CHECK(again == bytes);
}

TEST_CASE("a state of another model or stream, and changed bytes, are refused and change nothing") {
  const Model model = made(1);
  const StreamOptions options{.rows = 2};
  std::vector<std::byte> bytes = saved(model, options);
  Window window = model.stream<float>(options).window();
  const auto refuses = [&](const StreamState& state, const char* message) {
    CHECK_THROWS_WITH_AS(state.read(bytes, window, "restore"), message, InputError);
  };
  refuses(StreamState(made(2), options), "[restore] the state is of another model");
  refuses(StreamState(model, {.rows = 3}), "[restore] this stream has 3 rows. Got a state of 2.");
  refuses(StreamState(model, {.rows = 2, .rate = 2}),
          "[restore] this stream has the rate 2. Got a state of the rate 1 or of another interpolation.");
  refuses(StreamState(model, {.rows = 2, .weights = ProductFormat::bf16}),
          "[restore] the state is of a stream with weights of another format");
  const StreamState own(model, options);
  for (std::byte& byte : bytes) {
    byte ^= std::byte{8};
    CHECK_THROWS_AS(own.read(bytes, window, "restore"), InputError);
    byte ^= std::byte{8};
  }
  bytes.pop_back();
  CHECK_THROWS_WITH_AS(own.read(bytes, window, "restore"), doctest::Contains("the state of this stream has "),
                       InputError);
  bytes.resize(8);
  refuses(own, "[restore] a state has a header of 56 bytes. Got 8 bytes.");
  CHECK(window.states.front().at(31) == 0);
}

}  // namespace
}  // namespace lagtape
