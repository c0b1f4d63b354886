#include "lagtape/data/formats/sound.h"

#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <span>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape {

namespace {

/// Bytes in memory, presented to libsndfile as a file.
struct MemoryFile {
  std::string_view bytes;
  sf_count_t at = 0;

  static sf_count_t size(void* self) { return std::ssize(static_cast<MemoryFile*>(self)->bytes); }
  static sf_count_t tell(void* self) { return static_cast<MemoryFile*>(self)->at; }
  static sf_count_t seek(sf_count_t offset, int whence, void* self) {
    auto& file = *static_cast<MemoryFile*>(self);
    const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.at : size(self);
    return file.at = std::clamp<sf_count_t>(from + offset, 0, size(self));
  }
  static sf_count_t read(void* target, sf_count_t count, void* self) {
    auto& file = *static_cast<MemoryFile*>(self);
    const std::string_view part = file.bytes.substr(static_cast<std::size_t>(file.at), count);
    std::ranges::copy(part, static_cast<char*>(target));
    file.at += std::ssize(part);
    return std::ssize(part);
  }
};

/// Compares the sizes of a file's chunks, up to the samples, with the bytes available, because libsndfile reads
/// truncated files without an error. Returns the number of sample bytes in WAV (RIFF, little endian), and 0 in
/// other formats.
std::size_t check_chunks(std::string_view bytes, const std::string& where) {
  constexpr std::size_t kHeader = 12, kChunkHeader = 8;
  const bool little = bytes.starts_with("RIFF");
  if (!little && !bytes.starts_with("FORM")) return 0;
  for (std::size_t at = kHeader; at + kChunkHeader <= bytes.size();) {
    const std::string_view name = bytes.substr(at, 4);
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i)
      size = size << 8 | static_cast<unsigned char>(bytes[at + (little ? 7 - i : 4 + i)]);
    const std::size_t present = bytes.size() - at - kChunkHeader;
    if (size > present)
      throw InputError({where}, Rule::damaged,
                       text_of("offset ", at, ": the chunk ", quote(name), " claims ", size,
                               " bytes, but only ", present, " are left."));
    if (name == "data" || name == "SSND") return little ? size : 0;
    at += kChunkHeader + std::min(size + size % 2, present);  // chunks begin at even offsets
  }
  return 0;
}

/// The bytes per sample; 1 if undefined.
std::size_t sample_size(int format) {
  switch (format & SF_FORMAT_SUBMASK) {
    case SF_FORMAT_PCM_16: return 2;
    case SF_FORMAT_PCM_24: return 3;
    case SF_FORMAT_PCM_32:
    case SF_FORMAT_FLOAT: return 4;
    case SF_FORMAT_DOUBLE: return 8;
    default: return 1;
  }
}

/// Whether truncated files are detected in this format.
bool is_checked_format(int format) {
  const int kind = format & SF_FORMAT_TYPEMASK;
  return kind == SF_FORMAT_WAV || kind == SF_FORMAT_WAVEX || kind == SF_FORMAT_AIFF || kind == SF_FORMAT_FLAC;
}

}  // namespace

Sound parse_sound(std::string_view bytes, const std::string& where) {
  const auto refuse = [&](Rule rule, const auto&... what) {
    throw InputError({where}, rule, text_of(what..., "."));
  };
  const std::size_t data = check_chunks(bytes, where);
  MemoryFile content{bytes};
  SF_VIRTUAL_IO reader{MemoryFile::size, MemoryFile::seek, MemoryFile::read, nullptr, MemoryFile::tell};
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, int (*)(SNDFILE*)> file(sf_open_virtual(&reader, SFM_READ, &info, &content),
                                                         sf_close);
  if (!file) {
    std::string_view reason = sf_strerror(nullptr);
    if (reason.ends_with('.')) reason.remove_suffix(1);
    refuse(Rule::wrong_type, "not a WAV, FLAC or AIFF file: ", reason);
  }
  if (!is_checked_format(info.format))
    throw unexpected({where}, Rule::not_supported, "a WAV, FLAC or AIFF file");
  if (info.channels != 1)
    throw unexpected({where}, Rule::not_supported, "one channel", text_of(info.channels));
  if (data % sample_size(info.format) != 0)
    throw unexpected({where}, Rule::damaged, text_of(sample_size(info.format), " bytes a sample"),
                     text_of(data, " bytes"));
  Sound sound{.rate = info.samplerate, .samples = {}};
  std::array<float, 1 << 14> block;  // memory grows with the samples present, not with what a header claims
  while (const auto count = static_cast<std::size_t>(sf_read_float(file.get(), block.data(), block.size())))
    sound.samples.insert(sound.samples.end(), block.begin(), block.begin() + count);
  if (sf_error(file.get()) != SF_ERR_NO_ERROR || std::ssize(sound.samples) != info.frames)
    refuse(Rule::damaged, "damaged or cut short: ", sound.samples.size(), " of ", info.frames,
           " samples could be read");
  if (sound.samples.empty()) refuse(Rule::missing, "it has no samples");
  const auto bad = std::ranges::find_if_not(sound.samples, [](float value) { return std::isfinite(value); });
  if (bad != sound.samples.end())
    refuse(Rule::not_finite, "sample ", bad - sound.samples.begin(), " is not finite: ", *bad);
  return sound;
}

}  // namespace lagtape
