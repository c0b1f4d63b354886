#include "lagtape/data/formats/wav.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape {

namespace {

constexpr std::size_t kHeader = 12, kChunkHeader = 8, kFormat = 16, kExtensible = 26;
constexpr std::uint32_t kPcm = 1, kFloat = 3, kOfSubformat = 0xFFFE;

/// The samples of a file, as they stand there.
struct WavContent {
  std::int64_t rate = 0;
  std::uint32_t format = 0, bits = 0;
  std::string_view data;
};

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

bool is_speech(std::uint32_t format, std::uint32_t bits) { return format == kPcm && bits == 16; }
bool is_sound(std::uint32_t format, std::uint32_t bits) {
  return format == kPcm ? bits == 16 || bits == 24 || bits == 32 : format == kFloat && bits == 32;
}

class WavParser {
 public:
  /// `takes` decides on a format and its bits; `formats` are those formats in words.
  WavParser(std::string_view bytes, const std::string& where, bool (*takes)(std::uint32_t, std::uint32_t),
            const char* formats)
      : bytes_(bytes), where_(where), takes_(takes), formats_(formats) {}

  WavContent parse() {
    if (bytes_.size() < kHeader || bytes_.substr(0, 4) != "RIFF" || bytes_.substr(8, 4) != "WAVE") {
      refuse("not a WAV file (RIFF ... WAVE)");
    }
    at_ = kHeader;
    while (bytes_.size() - at_ >= kChunkHeader) {
      const std::string_view name = bytes_.substr(at_, 4);
      const std::size_t size = little_endian(bytes_.substr(at_ + 4, 4)),
                        present = bytes_.size() - at_ - kChunkHeader;
      if (size > present) {
        refuse(
            text_of("the chunk ", quote(name), " claims ", size, " bytes, but only ", present, " are left"));
      }
      const std::string_view content = bytes_.substr(at_ + kChunkHeader, size);
      if (name == "fmt ") read_format(content);
      if (name == "data") return read_data(content);
      at_ += kChunkHeader + std::min(size + size % 2, present);  // chunks begin at even offsets
    }
    refuse("no chunk 'data' before the end of the file");
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(text_of(where_, ": offset ", at_, ": ", what, "."));
  }

  void read_format(std::string_view content) {
    if (content.size() < kFormat)
      refuse(text_of("the chunk 'fmt ' has ", content.size(), " bytes, expected 16"));
    const std::uint32_t channels = little_endian(content.substr(2, 2));
    wav_.bits = little_endian(content.substr(14, 2));
    wav_.format = little_endian(content.substr(0, 2));
    if (wav_.format == kOfSubformat && content.size() >= kExtensible)
      wav_.format = little_endian(content.substr(24, 2));
    if (channels != 1 || !takes_(wav_.format, wav_.bits)) {
      refuse(text_of("expected one channel of ", formats_, ". Got format ", wav_.format, ", ", channels,
                     " channels, ", wav_.bits, " bits"));
    }
    wav_.rate = little_endian(content.substr(4, 4));
    if (wav_.rate == 0) refuse("a rate of 0 samples per second");
  }

  WavContent read_data(std::string_view content) {
    if (wav_.rate == 0) refuse("the chunk 'data' comes before 'fmt '");
    const std::size_t size = wav_.bits / 8;
    if (content.empty() || content.size() % size != 0) {
      refuse(text_of("expected ", size, " bytes a sample. Got ", content.size(), " bytes"));
    }
    wav_.data = content;
    return wav_;
  }

  std::string_view bytes_;
  const std::string& where_;
  bool (*takes_)(std::uint32_t, std::uint32_t);
  const char* formats_;
  std::size_t at_ = 0;
  WavContent wav_;
};

/// A signed whole number of so many bytes, divided by its full scale.
float fraction(std::string_view bytes) {
  const int unused = 32 - 8 * static_cast<int>(bytes.size());
  const auto value = static_cast<std::int32_t>(little_endian(bytes) << unused);
  return static_cast<float>(std::ldexp(static_cast<double>(value), -31));
}

}  // namespace

Wav parse_wav(std::string_view bytes, const std::string& where) {
  const WavContent content = WavParser(bytes, where, is_speech, "16-bit PCM (format 1)").parse();
  Wav wav{.rate = content.rate, .samples = {}};
  for (std::size_t i = 0; i < content.data.size(); i += 2)
    wav.samples.push_back(static_cast<std::int16_t>(little_endian(content.data.substr(i, 2))));
  return wav;
}

Sound parse_sound(std::string_view bytes, const std::string& where) {
  const WavContent content =
      WavParser(bytes, where, is_sound, "16-, 24- or 32-bit PCM (format 1) or 32-bit floats (format 3)")
          .parse();
  Sound sound{.rate = content.rate, .samples = {}};
  const std::size_t size = content.bits / 8;
  sound.samples.reserve(content.data.size() / size);
  for (std::size_t i = 0; i < content.data.size(); i += size) {
    const std::string_view sample = content.data.substr(i, size);
    const float value =
        content.format == kFloat ? std::bit_cast<float>(little_endian(sample)) : fraction(sample);
    if (!std::isfinite(value))
      throw InputError(text_of(where, ": sample ", i / size, " is not finite: ", value, "."));
    sound.samples.push_back(value);
  }
  return sound;
}

}  // namespace lagtape
