#include "lagtape/data/tasks/registry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/folder.h"
#include "lagtape/core/json/options.h"
#include "lagtape/data/formats/sound.h"
#include "lagtape/data/log_mel.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kRate = 16000;
constexpr std::string_view kBackground = "_background_noise_";
constexpr std::int32_t kOtherWord = 0, kSilence = 1, kFirstCommand = 2;
constexpr std::array<std::string_view, 10> kWords = {"yes",   "no", "up",  "down", "left",
                                                     "right", "on", "off", "stop", "go"};

struct SpeechOptions {
  std::string path;
  std::int64_t frames = 126;
  bool silence = true;
};

DataShape shape_of(const SpeechOptions& options) {
  return {.length = options.frames,
          .input = LogMel::kBands,
          .classes = kFirstCommand + static_cast<std::int64_t>(kWords.size())};
}

std::int32_t class_of(std::string_view folder) {
  if (folder == kBackground) return kSilence;
  const auto found = std::find(kWords.begin(), kWords.end(), folder);
  return found == kWords.end() ? kOtherWord
                               : kFirstCommand + static_cast<std::int32_t>(found - kWords.begin());
}

struct Utterance {
  std::string name;  ///< "yes/0a7c2a8d_nohash_0.wav"
  std::int32_t spoken = kOtherWord;
};

class SpeechDataset final : public Dataset {
 public:
  SpeechDataset(const SpeechOptions& options, const fs::path& folder, std::shared_ptr<const LogMel> log_mel,
                std::vector<Utterance> utterances)
      : Dataset(shape_of(options)),
        folder_(folder),
        log_mel_(std::move(log_mel)),
        utterances_(std::move(utterances)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(utterances_.size()); }

  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    const Utterance& utterance = utterances_[static_cast<std::size_t>(index)];
    const fs::path file = folder_ / utterance.name;
    const Sound sound = parse_sound(read_file(file), file.string());
    if (sound.rate != kRate) {
      throw InputError({file.string()}, Rule::shape, text_of("expected ", kRate, " samples per second"),
                       text_of(sound.rate));
    }
    std::vector<double> spectra = (*log_mel_)(sound.samples);
    spectra.resize(static_cast<std::size_t>(shape().length * shape().input), 0);
    standardize(spectra);
    with_scalar(batch.x.dtype(), [&]<class T>() {
      std::transform(spectra.begin(), spectra.end(),
                     batch.x.values<T>().begin() + row * static_cast<std::int64_t>(spectra.size()),
                     [](double value) { return static_cast<T>(value); });
    });
    batch.classes[static_cast<std::size_t>(row)] = utterance.spoken;
  }

 private:
  /// Scales to mean 0 and (sample) standard deviation 1; a constant recording is unchanged.
  static void standardize(std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    double mean = 0, square = 0;
    for (double value : values) mean += value / count;
    for (double value : values) square += (value - mean) * (value - mean);
    const double deviation = std::sqrt(square / (count - 1));
    if (!(deviation > 0)) return;
    for (double& value : values) value = (value - mean) / deviation;
  }

  fs::path folder_;
  std::shared_ptr<const LogMel> log_mel_;
  std::vector<Utterance> utterances_;
};

/// The file names in a split's list, one per line.
std::set<std::string, std::less<>> names_in(const fs::path& list) {
  std::set<std::string, std::less<>> names;
  const std::string text = read_file(list);
  std::string_view rest = text;
  for (std::int64_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view name = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (name.ends_with('\r')) name.remove_suffix(1);
    if (name.empty()) continue;
    if (!name.ends_with(".wav") || name.find('/') == std::string_view::npos) {
      throw InputError({list.string(), line}, Rule::syntax, "expected WORD/NAME.wav",
                       text_of("'", name.substr(0, 60), "'"));
    }
    names.emplace(name);
  }
  return names;
}

/// All WORD/NAME.wav files below the folder, sorted by name.
std::vector<Utterance> utterances_in(const fs::path& folder) {
  std::vector<Utterance> utterances;
  std::error_code error;
  for (const std::string& word : entries_of(folder, error)) {
    if (!fs::is_directory(folder / word)) continue;
    for (const std::string& file : entries_of(folder / word, error))
      if (file.ends_with(".wav")) utterances.push_back({.name = word + "/" + file, .spoken = class_of(word)});
    if (error) break;
  }
  if (error)
    throw InputError({folder.string()}, Rule::cannot_read, text_of("cannot read: ", error.message(), "."));
  std::sort(utterances.begin(), utterances.end(),
            [](const Utterance& a, const Utterance& b) { return a.name < b.name; });
  return utterances;
}

Task load_speech_commands(const SpeechOptions& options, const TaskContext& context) {
  const fs::path folder = (context.base / options.path).lexically_normal();
  const fs::path valid_list = folder / "validation_list.txt", test_list = folder / "testing_list.txt";
  auto listed_valid = names_in(valid_list), listed_test = names_in(test_list);
  std::vector<Utterance> train, valid, test;
  for (Utterance& utterance : utterances_in(folder)) {
    const bool is_valid = listed_valid.erase(utterance.name) > 0,
               is_test = listed_test.erase(utterance.name) > 0;
    if (is_valid && is_test) {
      throw InputError({test_list.string()}, Rule::conflict,
                       text_of(utterance.name, " is in validation_list.txt too."));
    }
    if (utterance.spoken == kSilence && !options.silence) continue;
    (is_valid ? valid : is_test ? test : train).push_back(std::move(utterance));
  }
  for (const auto& [list, missing] :
       {std::pair{valid_list, listed_valid}, std::pair{test_list, listed_test}}) {
    if (missing.empty()) continue;
    throw InputError({list.string()}, Rule::missing,
                     text_of(*missing.begin(), " is listed but missing (", missing.size(), " such files)."));
  }
  if (train.empty())
    throw InputError({folder.string()}, Rule::missing, "contains no WORD/NAME.wav for training.");
  const auto log_mel = std::make_shared<LogMel>(kRate);
  auto dataset = [&](std::vector<Utterance> utterances) {
    return std::make_shared<SpeechDataset>(options, folder, log_mel, std::move(utterances));
  };
  return Task{.shape = shape_of(options),
              .train = dataset(std::move(train)),
              .valid = dataset(std::move(valid)),
              .test = dataset(std::move(test))};
}

constexpr Option kSpeechCommandsRows[] = {
    required<&SpeechOptions::path>("path", "folder of the unpacked archive, relative to the experiment file")
        .at_least_one(),
    option<&SpeechOptions::frames>("frames", between(2, 10000),
                                   "spectra in a sequence, 8 milliseconds apart"),
    option<&SpeechOptions::silence>("silence", "train on the background noises as the class silence"),
};

TaskLoader read_speech_commands_task(JsonReader& reader, const TaskHints&) {
  SpeechOptions options;
  read_options(reader, kSpeechCommandsRows, options);
  return {.shape = shape_of(options), .load = std::bind_front(load_speech_commands, options)};
}

}  // namespace

/// Shorter recordings are padded with 0 dB, longer ones cut; each is then scaled to mean 0 and standard
/// deviation 1. The silence is the background noises, in training only. A recording is read and analyzed on
/// each access, and never kept.
constinit const TaskEntry kSpeechCommandsTask = {
    .name = "speech_commands",
    .summary = "classify ten spoken words, other words and silence (Google12)",
    .source = "Warden 2018; protocol of Long Expressive Memory (LEM)",
    .equations =
        "x: [126, 80], log-mel spectra of one second of sound, 8 ms apart\n"
        "y: 0 another word, 1 silence, 2.. yes, no, up, down, left, right, on, off, stop, go",
    .files =
        "http://download.tensorflow.org/data/speech_commands_v0.02.tar.gz, unpacked; of the archive:\n"
        "2428923189 bytes, SHA-256 af14739ee7dc311471de98f5f9d2c9191b18aedfe957f4a6ff791c709868ff58",
    .read = read_speech_commands_task,
};

}  // namespace lagtape
