#include "lagtape/data/tasks/registry.h"

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/json/options.h"
#include "lagtape/data/formats/archive_file.h"
#include "lagtape/data/normalize_options.h"
#include "lagtape/data/splits.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

struct TsOptions {
  std::string path, name, split = "published", missing = "error", time = "none";
  std::int64_t split_seed = -1;
  double valid = 0.15, test = 0.15;
  std::int64_t steps = 0;
  std::string which_steps = "random";
  NormalizeOptions normalize;
  Dtype dtype = Dtype::f32;  ///< of the training
};

MissingValues missing_values(const std::string& name) {
  return name == "zero"          ? MissingValues::zero
         : name == "interpolate" ? MissingValues::interpolate
                                 : MissingValues::error;
}

std::int64_t share_of(double share, std::int64_t n) { return std::llround(share * static_cast<double>(n)); }

/// The split of `all` sequences, the first `first` of which come from the first file.
SplitIndices split_of(const TsOptions& options, std::int64_t first, std::int64_t all, std::uint64_t seed) {
  if (options.split == "published") {
    const std::int64_t valid = share_of(options.valid, first);
    SplitIndices split = random_split(first, first - valid, valid, 0, seed);
    for (std::int64_t i = first; i < all; ++i) split.test.push_back(i);
    return split;
  }
  const std::int64_t valid = share_of(options.valid, all), test = share_of(options.test, all);
  const std::int64_t train = all - valid - test;
  const auto short_seed = static_cast<std::uint32_t>(seed);
  return options.split == "sklearn" ? sklearn_split(train, valid, test, short_seed)
         : options.split == "torch" ? torch_split(train, valid, test, short_seed)
                                    : random_split(all, train, valid, test, seed);
}

/// NAME_TRAIN with the first ending for which a file exists; .ts if there is none.
fs::path training_file(const fs::path& folder, const std::string& name) {
  for (const char* ending : {".ts", ".arff", ".tsv"})
    if (fs::path file = folder / (name + "_TRAIN" + ending); fs::exists(file)) return file;
  return folder / (name + "_TRAIN.ts");
}

std::vector<std::string> notes_on(const ArchiveData& data, const TsOptions& options) {
  if (data.uneven == 0 || options.time == "dt") return {};
  return {text_of(
      data.uneven, " of ", data.sequences.size(),
      " sequences have unevenly spaced time stamps, which no input contains; \"time\": \"dt\" adds the time "
      "since the step before")};
}

Task load_ts(const TsOptions& options, const TaskContext& context) {
  const fs::path folder = (context.base / options.path).lexically_normal();
  const fs::path named = folder.has_filename() ? folder : folder.parent_path();
  const std::string name = options.name.empty() ? named.filename().string() : options.name;
  auto data = std::make_shared<ArchiveData>();
  const ArchiveOptions reading{.missing = missing_values(options.missing),
                               .dtype = options.dtype,
                               .steps_of_time = options.time == "dt"};
  const fs::path training = training_file(folder, name);
  read_archive_file(training, reading, *data);
  const std::int64_t first = data->sequences.size();
  read_archive_file(folder / (name + "_TEST" + training.extension().string()), reading, *data);
  const auto seed = options.split_seed < 0 ? context.seed : static_cast<std::uint64_t>(options.split_seed);
  if (options.steps > 0 && options.which_steps == "last") keep_last(data->sequences, options.steps);
  if (options.steps > 0 && options.which_steps == "random") subsample(data->sequences, options.steps, seed);
  const std::shared_ptr<const StoredSequences> stored(data, &data->sequences);

  SplitIndices split = split_of(options, first, stored->size(), seed);
  if (split.train.empty())
    throw InputError({folder.string()}, Rule::missing, "no sequences are left for training.");
  const DataShape shape{.length = stored->longest(),
                        .input = stored->input,
                        .output = data->classes.empty() ? 1 : 0,
                        .classes = static_cast<std::int64_t>(data->classes.size()),
                        .class_names = data->classes};
  if (options.normalize.target && shape.classes > 0) {
    throw InputError({.pointer = "/data/normalize_target"}, Rule::conflict,
                     text_of("applies to real targets. Expected false with the ", shape.classes,
                             " classes of ", folder.string(), "."));
  }
  Normalization normalization;
  if (options.normalize.input) normalization.input = input_scaling(*stored, split.train);
  if (options.normalize.target) normalization.output = target_scaling(*stored, split.train);
  return Task{.shape = shape,
              .train = std::make_shared<StoredDataset>(shape, stored, std::move(split.train)),
              .valid = std::make_shared<StoredDataset>(shape, stored, std::move(split.valid)),
              .test = std::make_shared<StoredDataset>(shape, stored, std::move(split.test)),
              .normalization = std::move(normalization),
              .notes = notes_on(*data, options)};
}

/// Sets the seeds for the splits of the other two libraries.
void seed_of_split(TsOptions& options) {
  if (options.split == "sklearn") options.split_seed = 1234;
  if (options.split == "torch") options.split_seed = 123456;
}

constexpr Option kTsRows[] = {
    required<&TsOptions::path>(
        "path", "folder of NAME_TRAIN and NAME_TEST (.ts, .arff or .tsv), relative to the experiment file")
        .at_least_one(),
    option<&TsOptions::name>("name", "NAME of the problem; \"\": the name of the folder"),
    option<&TsOptions::split>(
        "split", {"published", "random", "sklearn", "torch"},
        "keep the published files, or join both and split them at random: by lagtape, or as "
        "scikit-learn or torch do"),
    option<&TsOptions::split_seed>(
        "split_seed", between(-1, 4294967295.0),
        "seed of the split; -1: the experiment's seed. The default is 1234 for sklearn, 123456 for torch")
        .after<seed_of_split>(),
    option<&TsOptions::valid>(
        "valid", between(0, 0.9),
        "share of the validation set: of the first file if the split is published, else of both files"),
    option<&TsOptions::test>("test", between(0, 0.9),
                             "share of the test set, of both files; not used if the split is published"),
    option<&TsOptions::missing>("missing", {"error", "zero", "interpolate"}, "replacement of missing values"),
    option<&TsOptions::steps>("steps", at_least(0),
                              "reduce longer sequences to this many steps, in their order; 0: all"),
    option<&TsOptions::which_steps>(
        "which_steps", {"random", "last"},
        "the steps that longer sequences are reduced to: drawn at random once (by split_seed), or the last"),
    option<&TsOptions::time>(
        "time", {"none", "dt"},
        "dt: the last input is the time since the step before (of the first step, that of the "
        "second), in seconds or in the unit of plain numbers; .ts files with time stamps"),
    rows_of<&TsOptions::normalize>(kNormalizeOptions),
};

void check_ts(const TsOptions& options, JsonReader& reader) {
  if (options.valid + options.test >= 1) reader.error("test", "the shares of valid and test leave nothing.");
}

TaskLoader read_ts_task(JsonReader& reader, const TaskHints& hints) {
  TsOptions options;
  options.normalize.real_loss = hints.real_loss;
  options.dtype = hints.dtype;
  read_options(reader, checked<check_ts>(kTsRows), options);
  return {.load = std::bind_front(load_ts, options)};
}

}  // namespace

/// With "split": "published", the validation set is drawn at random from the first file; otherwise both files are
/// joined, the first before the second, and split anew.
constinit const TaskEntry kTsTask = {
    .name = "ts",
    .summary = "classify or regress time series of the public archives (.ts, .arff, .tsv files)",
    .source = "Bagnall et al. 2018 (UEA), Tan et al. 2020 (regression); protocols of LEM and UnICORNN",
    .equations =
        "x: [T, dimensions]; y: the class, numbered from 0 in the order of @classLabel, or a real number",
    .files =
        "NAME_TRAIN and NAME_TEST, .ts, .arff (UEA) or .tsv (UCR), unpacked, from "
        "https://www.timeseriesclassification.com/ or\n"
        "https://zenodo.org/record/3902651 (Monash_UEA_UCR_Regression_Archive.zip); no checksum is known\n"
        "EigenWorms: 128 + 131 sequences, 6 dimensions, 17984 steps, 5 classes; LEM: \"split\": \"sklearn\"\n"
        "BIDMC32HR: 7949 sequences, 2 dimensions, 4000 steps; LEM: \"split\": \"torch\"",
    .read = read_ts_task,
};

}  // namespace lagtape
