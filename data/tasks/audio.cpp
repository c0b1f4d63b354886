#include "lagtape/data/tasks/registry.h"

#include <algorithm>
#include <array>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/options.h"
#include "lagtape/data/formats/sound.h"
#include "lagtape/data/series/windows.h"

namespace lagtape {

namespace {

struct AudioOptions {
  std::string input, target;
  std::int64_t segment = 4096, overlap = 0;
  double train = 0.8, valid = 0.1;
};

DataShape shape_of(const AudioOptions& options) {
  return {.length = options.segment, .input = 1, .output = 1, .every_step = true};
}

Sound read_sound(const std::filesystem::path& file) { return parse_sound(read_file(file), file.string()); }

/// Both recordings as adjacent columns.
std::shared_ptr<const Panel> read_pair(const AudioOptions& options, const std::filesystem::path& base) {
  const auto input_file = (base / options.input).lexically_normal(),
             target_file = (base / options.target).lexically_normal();
  const Sound input = read_sound(input_file), target = read_sound(target_file);
  if (target.rate != input.rate)
    throw InputError(
        {target_file.string()}, Rule::conflict,
        text_of("expected ", input.rate, " samples per second, as ", input_file.string(), " has"),
        text_of(target.rate));
  const auto rows = std::ssize(input.samples);
  if (std::ssize(target.samples) != rows)
    throw InputError({target_file.string()}, Rule::shape,
                     text_of("expected ", rows, " samples, as ", input_file.string(), " has"),
                     text_of(target.samples.size()));
  auto pair = std::make_shared<Panel>();
  for (const Sound* sound : {&input, &target}) {
    Column& column = pair->columns.emplace_back();
    column.values = Tensor({rows}, Dtype::f32);
    std::ranges::copy(sound->samples, column.values.values<float>().begin());
  }
  pair->input = {{.column = 0}};
  pair->target = {1};
  pair->rows = rows;
  pair->series = {{{0, rows}}};
  pair->segments = {{0, rows}};
  pair->notes = {text_of("The recordings have ", rows, " samples, ", input.rate, " per second.")};
  return pair;
}

Task load_audio(AudioOptions options, const TaskContext& context) {
  if (context.score_only) options.train = options.valid = 0;
  const auto pair = read_pair(options, context.base);
  SeriesOptions windows;
  windows.window = options.segment;
  windows.horizon = 0;
  windows.every_step = true;
  windows.train = options.train;
  windows.valid = options.valid;
  windows.test = 1 - options.train - options.valid;
  const std::vector<SeriesSplit> splits = split_panel(windows, *pair);
  const std::array shares = {windows.train, windows.valid, windows.test};
  constexpr std::array kNames = {"train", "valid", "test"};
  std::vector<std::shared_ptr<const Dataset>> sets;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    sets.push_back(std::make_shared<WindowDataset>(shape_of(options), pair, splits[i], windows,
                                                   options.segment - options.overlap));
    if (sets[i]->size() == 0 && shares[i] > 1e-9)
      throw InputError({(context.base / options.input).lexically_normal().string()}, Rule::shape,
                       text_of("too short for ", kNames[i], ": its share is ", splits[i].rows,
                               " samples, expected at least the ", options.segment, " of a segment."));
  }
  Task task{.shape = shape_of(options), .train = sets[0], .valid = sets[1], .test = sets[2]};
  task.notes = pair->notes;
  return task;
}

constexpr Option kAudioRows[] = {
    required<&AudioOptions::input>("input", "the file of the input sound, WAV, FLAC or AIFF").at_least_one(),
    required<&AudioOptions::target>("target", "the file of the output sound, of the same rate and length")
        .at_least_one(),
    option<&AudioOptions::segment>("segment", between(1, 1e8), "samples of a sequence"),
    option<&AudioOptions::overlap>("overlap", between(0, 1e8),
                                   "samples that a segment shares with the one before, for train.warmup"),
    option<&AudioOptions::train>("train", {.min = 0, .max = 1, .above_min = true},
                                 "share of the training set: the first samples"),
    option<&AudioOptions::valid>("valid", between(0, 1), "share of the validation set: the next samples"),
};

void check_audio(const AudioOptions& options, JsonReader& reader) {
  if (options.overlap >= options.segment)
    reader.error("overlap", text_of("expected less than the segment of ", options.segment, ". Got ",
                                    options.overlap, "."));
  if (options.train + options.valid > 1 + 1e-9)
    reader.error("valid", text_of("the shares of train and valid add up to ", options.train + options.valid,
                                  ", above 1."));
}

TaskLoader read_audio_task(JsonReader& reader, const TaskHints&) {
  AudioOptions options;
  read_options(reader, checked<check_audio>(kAudioRows), options);
  return {.shape = shape_of(options),
          .load = [options](const TaskContext& context) { return load_audio(options, context); }};
}

}  // namespace

/// In time order, the first samples are for training, the next for validation, the last for the test. A set's
/// segments start `segment - overlap` samples apart, so with train.warmup = overlap every sample except the
/// first few counts once.
constinit const TaskEntry kAudioTask = {
    .name = "audio",
    .summary = "learn an amplifier or effect from a sound file of its input and one of its output",
    .source =
        "Wright, Damskagg and Valimaki 2019, Real-Time Black-Box Modelling with Recurrent Neural Networks",
    .equations = "x: [segment, 1], y: [segment, 1] at every step; full scale is 1",
    .files = "two sound files of one channel with the same rate and length: WAV, FLAC or AIFF",
    .read = read_audio_task,
};

}  // namespace lagtape
