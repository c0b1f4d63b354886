#include "lagtape/data/formats/wav.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape {

namespace {

constexpr std::size_t kHeader = 12, kChunkHeader = 8, kFormat = 16;

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

class WavParser {
 public:
  WavParser(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  Wav parse() {
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
    const std::uint32_t format = little_endian(content.substr(0, 2)),
                        channels = little_endian(content.substr(2, 2)),
                        bits = little_endian(content.substr(14, 2));
    if (format != 1 || channels != 1 || bits != 16) {
      refuse(text_of("expected one channel of 16-bit PCM (format 1). Got format ", format, ", ", channels,
                     " channels, ", bits, " bits"));
    }
    wav_.rate = little_endian(content.substr(4, 4));
    if (wav_.rate == 0) refuse("a rate of 0 samples per second");
  }

  Wav read_data(std::string_view content) {
    if (wav_.rate == 0) refuse("the chunk 'data' comes before 'fmt '");
    if (content.empty() || content.size() % 2 != 0) {
      refuse(text_of("expected 2 bytes a sample. Got ", content.size(), " bytes"));
    }
    for (std::size_t i = 0; i < content.size(); i += 2) {
      wav_.samples.push_back(static_cast<std::int16_t>(little_endian(content.substr(i, 2))));
    }
    return std::move(wav_);
  }

  std::string_view bytes_;
  const std::string& where_;
  std::size_t at_ = 0;
  Wav wav_;
};

}  // namespace

Wav parse_wav(std::string_view bytes, const std::string& where) { return WavParser(bytes, where).parse(); }

}  // namespace lagtape
