// Trains a model to tell the next value of a sine wave, saves it, and streams it.

#include <lagtape/lagtape.h>

#include <cmath>
#include <iostream>

using namespace lagtape;

/// 8 waves of 50 steps, each with its own period and phase; the target of a step is the value of the next.
SequenceBatch draw_waves(RandomStream& random) {
  SequenceBatch batch{.x = Tensor({8, 50, 1}, Dtype::f32), .targets = Tensor({8, 50, 1}, Dtype::f32)};
  for (int row = 0; row < 8; ++row) {
    const double period = 10 + 20 * random.next_uniform(), phase = random.next_uniform();
    const auto wave = [&](int step) { return std::sin(6.283 * (step / period + phase)); };
    for (int step = 0; step < 50; ++step) {
      batch.x.set(50 * row + step, wave(step));
      batch.targets.set(50 * row + step, wave(step + 1));
    }
  }
  return batch;
}

int main(int, char** argv) try {
  Model model({.layers = {TauGru{.units = 16, .tau = {10}}},
               .readout = {.units = 1, .at = ReadAt::every_step},
               .loss = Loss::mse},
              {.input = 1});
  ModelOp op(model);
  Adam adam(model.parameters());
  ThreadPool pool(2);
  RandomStream random(0, 0);
  Tape tape;
  for (int update = 0; update < 300; ++update) {
    const Tape::Mark start = tape.mark();
    model.parameters().zero_grad();
    tape.backward(op.loss(tape, model.weights(tape), draw_waves(random), pool));
    tape.rewind(start);
    adam.step(model.parameters(), 0.01);
  }
  model.save(argv[1]);

  Stream<float> stream = model.stream<float>();
  float next = 0;
  for (int step = 0; step < 50; ++step) {
    const float x = std::sin(0.4f * static_cast<float>(step));
    stream.step(&x, &next);
  }
  const double expected = std::sin(0.4 * 50);
  std::cout << "the next value is " << next << ", expected " << expected << '\n';
  return std::abs(next - expected) < 0.1 ? 0 : 1;
} catch (const Error& error) {
  std::cerr << error.what() << '\n';
  return 2;
}
