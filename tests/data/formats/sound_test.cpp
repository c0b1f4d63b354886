#include "lagtape/data/formats/sound.h"

#include <doctest/doctest.h>
#include <sndfile.h>

#include <bit>
#include <cmath>
#include <vector>

#include "lagtape/core/io/file.h"
#include "lagtape/tests/data/support/sample_files.h"

namespace lagtape {
namespace {

std::string little_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xff);
  return text;
}

std::string chunk(const std::string& name, const std::string& content) {
  return name + little_endian(static_cast<std::uint32_t>(content.size()), 4) + content;
}

/// A file of samples that are whole numbers of so many bits, or the bits of floats.
std::string sound(std::uint32_t format, int bits, const std::vector<std::uint32_t>& samples, int channels = 1,
                  bool extensible = false) {
  std::string content, description = little_endian(extensible ? 0xFFFE : format, 2) +
                                     little_endian(channels, 2) + little_endian(48000, 4) +
                                     little_endian(48000 * bits / 8, 4) + little_endian(bits / 8, 2) +
                                     little_endian(bits, 2);
  if (extensible)
    description += little_endian(22, 2) + little_endian(bits, 2) + little_endian(0, 4) +
                   little_endian(format, 2) + std::string("\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 14);
  for (const std::uint32_t sample : samples) content += little_endian(sample, bits / 8);
  return chunk("RIFF", "WAVE" + chunk("fmt ", description) + chunk("LIST", "abc" + std::string(1, '\0')) +
                           chunk("data", content));
}

TEST_CASE("samples of every format have their part of full scale") {
  const std::vector<float> wanted = {0.5F, -1.0F, -0.25F};
  struct Row {
    std::uint32_t format;
    int bits;
    std::vector<std::uint32_t> samples;
  };
  const Row rows[] = {{1, 16, {0x4000, 0x8000, 0xE000}},
                      {1, 24, {0x400000, 0x800000, 0xE00000}},
                      {1, 32, {0x40000000, 0x80000000, 0xE0000000}},
                      {3,
                       32,
                       {std::bit_cast<std::uint32_t>(0.5F), std::bit_cast<std::uint32_t>(-1.0F),
                        std::bit_cast<std::uint32_t>(-0.25F)}}};
  for (const Row& row : rows)
    for (const bool extensible : {false, true}) {
      CAPTURE(row.format);
      CAPTURE(row.bits);
      const Sound read = parse_sound(sound(row.format, row.bits, row.samples, 1, extensible), "x.wav");
      CHECK(read.rate == 48000);
      CHECK(read.samples == wanted);
    }
  CHECK(parse_sound(sound(1, 24, {0x000001}), "x.wav").samples[0] == std::ldexp(1.0F, -23));
}

/// A file of the samples as libsndfile writes it.
std::string written(int format, const std::vector<float>& samples) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "sound";
  SF_INFO info{};
  info.samplerate = 44100;
  info.channels = 1;
  info.format = format;
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  REQUIRE(file != nullptr);
  sf_writef_float(file, samples.data(), std::ssize(samples));
  sf_close(file);
  return read_file(path);
}

TEST_CASE("FLAC and AIFF have the samples of a WAV file") {
  std::vector<float> samples;
  for (int i = 0; i < 40000; ++i) samples.push_back(static_cast<float>(i % 4001 - 2000) / 32768);
  for (const int format : {SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
                           SF_FORMAT_FLAC | SF_FORMAT_PCM_24, SF_FORMAT_AIFF | SF_FORMAT_PCM_24,
                           SF_FORMAT_WAV | SF_FORMAT_DOUBLE}) {
    CAPTURE(format);
    const std::string bytes = written(format, samples);
    const Sound read = parse_sound(bytes, "x");
    CHECK(read.rate == 44100);
    CHECK(read.samples == samples);
    CHECK_FALSE(input_error_of([&] { parse_sound(bytes.substr(0, bytes.size() / 2), "x"); }).empty());
  }
}

TEST_CASE("bytes behind the samples are of no account") {
  const std::string whole = sound(1, 16, {1, 2, 3});
  CHECK(parse_sound(whole + "tag \xff\xff\xff\x7f and more", "x").samples == parse_sound(whole, "x").samples);
}

TEST_CASE("what is no sound in one channel is refused by its place") {
  const auto message = [](const std::string& bytes) {
    return input_error_of([&] { parse_sound(bytes, "x.wav"); });
  };
  CHECK(message(sound(1, 16, {1, 2}, 2)) == "x.wav: expected one channel, got 2");
  CHECK(has(message(sound(77, 16, {1})), "x.wav: not a WAV, FLAC or AIFF file: "));
  CHECK(has(message(""), "x.wav: not a WAV, FLAC or AIFF file"));
  CHECK(has(message(sound(1, 16, {})), "x.wav: it has no samples."));
  CHECK(message(sound(3, 32, {0, std::bit_cast<std::uint32_t>(NAN)})) ==
        "x.wav: sample 1 is not finite: nan.");
  const std::string whole = sound(1, 24, {1, 2, 3});
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK_FALSE(message(whole.substr(0, size)).empty());
  CHECK(has(message(whole.substr(0, whole.size() - 1)),
            "offset 48: the chunk 'data' claims 9 bytes, but only 8 are left"));
  CHECK(message(sound(1, 24, {1, 2}).replace(52, 4, little_endian(5, 4))) ==
        "x.wav: expected 3 bytes a sample, got 5 bytes");
  CHECK(has(message(written(SF_FORMAT_AU | SF_FORMAT_PCM_16, {0})), "expected a WAV, FLAC or AIFF file"));
}

}  // namespace
}  // namespace lagtape
