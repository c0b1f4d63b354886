#include "lagtape/data/formats/wav.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <vector>

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
                   little_endian(format, 2) + std::string(14, 'x');
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

TEST_CASE("what is no sound in one channel is refused by its place") {
  const auto message = [](const std::string& bytes) {
    return input_error_of([&] { parse_sound(bytes, "x.wav"); });
  };
  CHECK(message(sound(1, 16, {1, 2}, 2)) ==
        "x.wav: offset 12: expected one channel of 16-, 24- or 32-bit PCM (format 1) or 32-bit floats "
        "(format 3). Got "
        "format 1, 2 channels, 16 bits.");
  CHECK(has(message(sound(3, 64, {})), "Got format 3, 1 channels, 64 bits."));
  CHECK(has(message(sound(1, 8, {1})), "Got format 1, 1 channels, 8 bits."));
  CHECK(message(sound(3, 32, {0, std::bit_cast<std::uint32_t>(NAN)})) ==
        "x.wav: sample 1 is not finite: nan.");
  const std::string whole = sound(1, 24, {1, 2, 3});
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK_FALSE(message(whole.substr(0, size)).empty());
  CHECK(has(message(whole.substr(0, whole.size() - 1)),
            "the chunk 'data' claims 9 bytes, but only 8 are left"));
}

}  // namespace
}  // namespace lagtape
