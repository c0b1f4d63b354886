#include "lagtape/data/tasks/registry.h"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "lagtape/data/log_mel.h"
#include "lagtape/tests/data/support/sample_files.h"
#include "lagtape/tests/data/support/tasks.h"

using namespace lagtape;

namespace {

namespace fs = std::filesystem;

std::string little_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xff);
  return text;
}

std::string chunk(const std::string& name, const std::string& content) {
  return name + little_endian(static_cast<std::uint32_t>(content.size()), 4) + content;
}

std::string format(int code = 1, int channels = 1, int rate = 16000, int bits = 16) {
  return chunk("fmt ", little_endian(code, 2) + little_endian(channels, 2) + little_endian(rate, 4) +
                           little_endian(rate * channels * bits / 8, 4) +
                           little_endian(channels * bits / 8, 2) + little_endian(bits, 2));
}

std::string riff(const std::string& chunks) { return chunk("RIFF", "WAVE" + chunks); }

std::string data(const std::vector<int>& samples) {
  std::string bytes;
  for (int sample : samples) bytes += little_endian(static_cast<std::uint32_t>(sample), 2);
  return chunk("data", bytes);
}

/// A tone mixed with a little of two others.
std::vector<int> tone(double hertz, int samples) {
  std::vector<int> values;
  for (int n = 0; n < samples; ++n) {
    const double t = 2 * std::numbers::pi * n / 16000;
    values.push_back(
        static_cast<int>(9000 * std::sin(hertz * t) + 50 * std::sin(777 * t + 1) + 3 * std::cos(6000 * t)));
  }
  return values;
}

/// The log-mel spectra computed by their definition: a slow transform of each frame, bin by bin.
std::vector<double> slow_log_mel(const std::vector<int>& samples) {
  const int frames = 1 + static_cast<int>(samples.size()) / 128, size = static_cast<int>(samples.size());
  auto mel = [](double f) { return f < 1000 ? 3 * f / 200 : 15 + 27 * std::log(f / 1000) / std::log(6.4); };
  auto hertz = [](double m) { return m < 15 ? 200 * m / 3 : 1000 * std::pow(6.4, (m - 15) / 27); };
  std::vector<double> edges;
  for (int i = 0; i < 82; ++i) edges.push_back(hertz(mel(40) + (mel(8000) - mel(40)) * i / 81));
  std::vector<double> result;
  for (int frame = 0; frame < frames; ++frame) {
    std::vector<double> magnitudes;
    for (int bin = 0; bin <= 512; ++bin) {
      std::complex<double> sum = 0;
      for (int n = 0; n < 1024; ++n) {
        int at = frame * 128 + n - 512;
        if (at < 0) at = -at;
        if (at >= size) at = 2 * (size - 1) - at;
        const double hann = std::pow(std::sin(std::numbers::pi * n / 1024), 2);
        sum += hann * samples[static_cast<std::size_t>(at)] / 32768 *
               std::polar(1.0, -2 * std::numbers::pi * (bin * n % 1024) / 1024);
      }
      magnitudes.push_back(std::abs(sum));
    }
    for (int b = 0; b < 80; ++b) {
      double band = 0;
      for (int bin = 0; bin <= 512; ++bin) {
        const double f = bin * 16000.0 / 1024, up = (f - edges[b]) / (edges[b + 1] - edges[b]),
                     down = (edges[b + 2] - f) / (edges[b + 2] - edges[b + 1]);
        band += magnitudes[static_cast<std::size_t>(bin)] * std::max(0.0, std::min(up, down)) * 2 /
                (edges[b + 2] - edges[b]);
      }
      result.push_back(10 * std::log10(std::max(band, 1e-10)));
    }
  }
  const double largest = *std::max_element(result.begin(), result.end());
  for (double& value : result) value = std::max(value - largest, -80.0);
  return result;
}

std::vector<double> log_mel_of(const std::vector<int>& samples) {
  std::vector<float> sound;
  for (const int sample : samples) sound.push_back(static_cast<float>(sample) / 32768);
  return LogMel(16000)(sound);
}

}  // namespace

TEST_CASE("log-mel spectra agree with a slow transform of their definition") {
  for (int samples : {1500, 1300}) {  // an even and an odd number of frames
    const std::vector<int> sound = tone(440, samples);
    const auto expected = slow_log_mel(sound), found = log_mel_of(sound);
    REQUIRE(found.size() == expected.size());
    REQUIRE(found.size() == static_cast<std::size_t>((1 + samples / 128) * 80));
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) worst = std::max(worst, std::abs(found[i] - expected[i]));
    CHECK(worst < 1e-6);
    CHECK(*std::max_element(found.begin(), found.end()) == 0);
    CHECK(*std::min_element(found.begin(), found.end()) < -30);
  }
}

TEST_CASE("the largest band of a tone is the one around it, and silence is 0 dB throughout") {
  const auto spectra = log_mel_of(tone(1000, 2000));
  const auto middle = spectra.begin() + 7 * 80;
  // 1000 Hz is mel 15. Bands are evenly spaced from about mel 0.6 to 45.25, so this is the 27th edge.
  const auto largest = std::max_element(middle, middle + 80) - middle;
  const double step = (15 + 27 * std::log(8.0) / std::log(6.4) - 0.6) / 81;
  CHECK(largest == std::lround((15 - 0.6) / step) - 1);
  const auto silence = log_mel_of(std::vector<int>(700, 0));
  CHECK(silence == std::vector<double>(silence.size(), 0.0));
  CHECK(log_mel_of({5}).size() == 80);
}

namespace {

std::string sound_file(double hertz, int samples = 2000) {
  return riff(format() + data(tone(hertz, samples)));
}

std::vector<std::pair<std::string, std::string>> sample_files() {
  return {{"_background_noise_/hum.wav", sound_file(50)},
          {"_background_noise_/README.md", "noise"},
          {"bed/a.wav", sound_file(200)},
          {"go/a.wav", sound_file(300)},
          {"yes/a.wav", sound_file(400)},
          {"yes/b.wav", sound_file(500)},
          {"yes/c.wav", sound_file(600, 900)},
          {"validation_list.txt", "yes/b.wav\n"},
          {"testing_list.txt", "yes/c.wav\r\ngo/a.wav\n"},
          {"LICENSE", "CC BY"}};
}

const std::string kTask = R"({"task": "speech_commands", "path": ".", "frames": 10)";

}  // namespace

TEST_CASE("spoken words are read in the splits of their lists, padded or cut, and scaled each on its own") {
  TemporaryFolder folder;
  write_samples(folder.path(), sample_files());
  const Task task = load(kTask + "}", 0, folder.path());
  CHECK(take(*task.train, 0, 3).classes == std::vector<std::int32_t>{1, 0, 2});  // hum, bed, yes/a
  CHECK(take(*task.valid, 0, 1).classes == std::vector<std::int32_t>{2});
  const Batch test = take(*task.test, 0, 2);
  CHECK(test.classes == std::vector<std::int32_t>{11, 2});  // go, yes/c
  REQUIRE(test.x.shape() == Shape{2, 10, 80});
  CHECK(task.shape.classes == 12);

  for (auto [row, samples, hertz] : {std::tuple{0, 2000, 300.0}, std::tuple{1, 900, 600.0}}) {
    std::vector<double> expected = log_mel_of(tone(hertz, samples));
    expected.resize(800, 0);
    double sum = 0, square = 0, worst = 0;
    for (double v : expected) sum += v;
    for (double v : expected) square += std::pow(v - sum / 800, 2);
    for (std::size_t i = 0; i < 800; ++i) {
      const double scaled = (expected[i] - sum / 800) / std::sqrt(square / 799);
      worst = std::max(worst, std::abs(scaled - test.x.at(row * 800 + static_cast<std::int64_t>(i))));
    }
    CHECK(worst < 1e-12);
  }
  CHECK(load(kTask + R"(, "silence": false})", 0, folder.path()).train->size() == 2);
}

TEST_CASE("what is wrong with folder, lists and sounds of speech commands is told") {
  auto message = [](const std::string& name, const std::string& content) {
    TemporaryFolder folder;
    write_samples(folder.path(), sample_files());
    write_samples(folder.path(), {{name, content}});
    return input_error_of([&] {
      const Task task = load(kTask + "}", 0, folder.path());
      take(*task.train, 0, task.train->size());
    });
  };
  CHECK(message("LICENSE", "other").empty());
  CHECK(has(message("testing_list.txt", "yes/b.wav\n"), "yes/b.wav is in validation_list.txt too"));
  CHECK(has(message("testing_list.txt", "yes/z.wav\n"), "yes/z.wav is listed but missing (1 such files)"));
  CHECK(has(message("testing_list.txt", "\nyes\n"),
            "testing_list.txt: line 2: expected WORD/NAME.wav. Got 'yes'"));
  CHECK(has(message("bed/a.wav", "no sound"), "bed/a.wav: not a WAV, FLAC or AIFF file"));
  CHECK(has(message("bed/a.wav", riff(format(1, 1, 8000) + data({1, 2}))),
            "expected 16000 samples per second. Got 8000"));
  TemporaryFolder folder;
  CHECK(has(input_error_of([&] { load(kTask + "}", 0, folder.path()); }), "validation_list.txt"));
}
