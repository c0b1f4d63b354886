#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

std::string little_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xff);
  return text;
}

/// A file of 16 bits a sample, where sample n is first + n.
std::string counting(int first, int samples, int rate = 48000) {
  std::string data;
  for (int n = 0; n < samples; ++n) data += little_endian(static_cast<std::uint32_t>(first + n), 2);
  const std::string format = little_endian(1, 2) + little_endian(1, 2) + little_endian(rate, 4) +
                             little_endian(2 * rate, 4) + little_endian(2, 2) + little_endian(16, 2);
  const std::string chunks = "WAVEfmt " + little_endian(16, 4) + format + "data" +
                             little_endian(static_cast<std::uint32_t>(data.size()), 4) + data;
  return "RIFF" + little_endian(static_cast<std::uint32_t>(chunks.size()), 4) + chunks;
}

/// Experiments beside dry.wav, which counts from 0, and wet.wav, which counts from 1000.
struct Pair {
  TemporaryFolder folder;

  explicit Pair(int samples = 100, const std::string& wet = counting(1000, 100)) {
    write_sample(folder.path() / "dry.wav", counting(0, samples));
    write_sample(folder.path() / "wet.wav", wet);
  }
  Task task(const std::string& options) const {
    return load(R"({"task": "audio", "input": "dry.wav", "target": "wet.wav", )" + options + "}", 0,
                folder.path());
  }
};

/// The number of the sample that stands first in a sequence.
double first_of(const Tensor& values) { return std::round(values.at(0) * 32768); }

}  // namespace

TEST_CASE("segments of both recordings lie side by side, train before valid before test") {
  const Task task = Pair().task(R"("segment": 10, "train": 0.6, "valid": 0.2)");
  CHECK(task.train->size() == 6);
  CHECK(task.valid->size() == 2);
  CHECK(task.test->size() == 2);
  for (int i = 0; i < 6; ++i) {
    const Batch batch = take(*task.train, i, 1);
    CHECK(first_of(batch.x) == 10 * i);
    CHECK(first_of(batch.y) == 1000 + 10 * i);
    CHECK(batch.x.at(9) * 32768 == doctest::Approx(10 * i + 9));
    CHECK(batch.y.shape() == Shape{1, 10, 1});
  }
  CHECK(first_of(take(*task.valid, 0, 1).x) == 60);
  CHECK(first_of(take(*task.test, 1, 1).x) == 90);
}

TEST_CASE("with an overlap segments share samples, and with a warm-up as long each sample counts once") {
  const Task task = Pair().task(R"("segment": 10, "overlap": 4, "train": 1, "valid": 0)");
  REQUIRE(task.train->size() == 16);
  CHECK(task.valid->size() == 0);
  std::vector<int> counted(100);
  for (int i = 0; i < 16; ++i) {
    Batch batch = take(*task.train, i, 1);
    CHECK(first_of(batch.x) == 6 * i);
    leave_out_first(batch, 4);
    for (int n = 0; n < 10; ++n)
      if (!std::isnan(batch.y.at(n))) counted[std::lround(batch.y.at(n) * 32768) - 1000] += 1;
  }
  for (int n = 4; n < 100; ++n) CHECK(counted[n] == 1);
}

TEST_CASE("recordings that are no pair, or too short, are refused by name") {
  const auto message = [](const Pair& pair, const std::string& options) {
    return input_error_of([&] { pair.task(options); });
  };
  CHECK(has(message(Pair(100, counting(0, 100, 44100)), R"("segment": 10)"),
            "wet.wav: expected 48000 samples per second, as "));
  CHECK(has(message(Pair(90), R"("segment": 10)"), "wet.wav: expected 90 samples, as "));
  CHECK(has(message(Pair(100, "RIFFx"), R"("segment": 10)"), "wet.wav: not a WAV, FLAC or AIFF file: "));
  CHECK(has(message(Pair(), R"("segment": 11)"),
            "dry.wav: too short for valid: its share is 10 samples, expected at least the 11 of a segment."));
  CHECK(has(message(Pair(), R"("segment": 10, "overlap": 10)"),
            "expected less than the segment of 10. Got 10."));
  CHECK(has(message(Pair(), R"("train": 0.9, "valid": 0.2)"),
            "the shares of train and valid add up to 1.1, above 1."));
  CHECK(has(input_error_of([] { task_from(R"({"task": "audio", "input": "x.wav"})"); }), "/data/target"));
}
