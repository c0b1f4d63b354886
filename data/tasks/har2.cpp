#include "lagtape/data/tasks/registry.h"

#include <array>
#include <map>

#include "lagtape/core/error.h"
#include "lagtape/core/json/options.h"
#include "lagtape/data/formats/file_tree.h"
#include "lagtape/data/splits.h"
#include "lagtape/data/stored_sequences.h"
#include "lagtape/data/table/number_table.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSteps = 128, kWindows = 7352, kTestWindows = 2947, kLargestFile = 1 << 28;
constexpr std::array kSignals = {"body_acc_x",  "body_acc_y",  "body_acc_z",  "body_gyro_x", "body_gyro_y",
                                 "body_gyro_z", "total_acc_x", "total_acc_y", "total_acc_z"};
constexpr std::int64_t kHar2Inputs = kSignals.size();
constexpr DataShape kShape{.length = kSteps, .input = kHar2Inputs, .classes = 2};
/// The group (class) for the published labels 1..6: walking, walking upstairs, walking downstairs, sitting,
/// standing, laying.
constexpr std::array<std::int32_t, 7> kGroup = {-1, 0, 1, 0, 1, 0, 1};

struct Har2Options {
  std::string path;
  std::int64_t train = kWindows, valid = 900, test = kTestWindows;
};

using Tables = std::map<std::string, std::vector<float>>;

std::string signal_file(const char* signal, const std::string& part) {
  return text_of(part, "/Inertial Signals/", signal, "_", part, ".txt");
}
std::string label_file(const std::string& part) { return text_of(part, "/y_", part, ".txt"); }

/// The name of a table starting at "train/" or "test/"; empty for a file that the task does not need.
std::string needed_name(std::string_view name) {
  for (const char* part : {"train", "test"}) {
    auto is = [&](const std::string& file) { return name == file || name.ends_with("/" + file); };
    if (is(label_file(part))) return label_file(part);
    for (const char* signal : kSignals) {
      if (is(signal_file(signal, part))) return signal_file(signal, part);
    }
  }
  return {};
}

Tables read_tables(const fs::path& path) {
  Tables tables;
  const FileWish wish{.wanted = [](std::string_view name) { return !needed_name(name).empty(); },
                      .largest = kLargestFile};
  read_files(path, wish, [&](const std::string& name, const std::string& text) {
    const std::string needed = needed_name(name);
    const std::int64_t columns = needed.find("/y_") == std::string::npos ? kSteps : 1;
    if (tables.contains(needed)) throw InputError({place_of(path, name)}, Rule::conflict, "occurs twice.");
    tables[needed] = parse_number_table(text, columns, place_of(path, name));
  });
  return tables;
}

const std::vector<float>& table_of(const Tables& tables, const std::string& name, const fs::path& path) {
  const auto found = tables.find(name);
  if (found != tables.end()) return found->second;
  throw InputError({place_of(path, name)}, Rule::missing,
                   "no such file. The task har2 reads y_PART.txt and nine files of Inertial Signals/ in "
                   "train and test of 'UCI HAR Dataset', from the folder or archive data.path.");
}

std::shared_ptr<const StoredSequences> windows_of(const Tables& tables, const std::string& part,
                                                  const fs::path& path) {
  auto stored = std::make_shared<StoredSequences>();
  stored->input = kHar2Inputs;
  const std::vector<float>& labels = table_of(tables, label_file(part), path);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    if (labels[i] < 1 || labels[i] > 6 || labels[i] != static_cast<float>(label)) {
      throw InputError({place_of(path, label_file(part))}, Rule::out_of_range,
                       text_of("label ", i, " is ", labels[i], ", expected 1..6."));
    }
    stored->classes.push_back(kGroup[label]);
  }
  stored->x.resize(labels.size() * kSteps * kHar2Inputs);
  for (std::size_t input = 0; input < kSignals.size(); ++input) {
    const std::string name = signal_file(kSignals[input], part);
    const std::vector<float>& signal = table_of(tables, name, path);
    if (signal.size() != labels.size() * kSteps) {
      throw InputError({place_of(path, name)}, Rule::shape,
                       text_of("contains ", signal.size() / kSteps, " windows, expected ", labels.size(),
                               ", one for each label."));
    }
    for (std::size_t n = 0; n < signal.size(); ++n) stored->x[n * kHar2Inputs + input] = signal[n];
  }
  for (std::size_t i = 1; i <= labels.size(); ++i)
    stored->starts.push_back(static_cast<std::int64_t>(i) * kSteps);
  return stored;
}

Task load_har2(const Har2Options& options, const TaskContext& context) {
  const fs::path path = (context.base / options.path).lexically_normal();
  const Tables tables = read_tables(path);
  const auto learning = windows_of(tables, "train", path), testing = windows_of(tables, "test", path);
  const SplitIndices split = published_split({options.train, options.valid, options.test}, learning->size(),
                                             testing->size(), "windows", path, context.seed);
  return Task{.shape = kShape,
              .train = std::make_shared<StoredDataset>(kShape, learning, split.train),
              .valid = std::make_shared<StoredDataset>(kShape, learning, split.valid),
              .test = std::make_shared<StoredDataset>(kShape, testing, split.test),
              .normalization = {.input = input_scaling(*learning, split.train), .output = {}}};
}

void train_on_other_windows(Har2Options& options) { options.train = kWindows - options.valid; }

constexpr Option kHar2Rows[] = {
    required<&Har2Options::path>(
        "path", "the folder 'UCI HAR Dataset' or its archive, relative to the experiment file")
        .at_least_one(),
    option<&Har2Options::valid>("valid", between(0, kWindows - 1), "number of validation windows"),
    option<&Har2Options::train>("train", between(1, kWindows),
                                "number of training windows; by default all others")
        .after<train_on_other_windows>(),
    option<&Har2Options::test>("test", between(0, kTestWindows),
                               "number of test windows, the first of the test files"),
};

TaskLoader read_har2_task(JsonReader& reader, const TaskHints&) {
  Har2Options options;
  read_options(reader, kHar2Rows, options);
  return {.shape = kShape, .load = std::bind_front(load_har2, options)};
}

}  // namespace

/// The inputs are scaled by the mean and standard deviation of the training windows. The experiment's seed splits the
/// 7352 windows of train/ at random into training and validation.
constinit const TaskEntry kHar2Task = {
    .name = "har2",
    .summary = "classify human activities into two groups, from the motion sensors of a smartphone",
    .source = "Anguita et al. 2013; grouping of FastGRNN, protocol of the tau-GRU paper",
    .equations =
        "x: [128, 9], body acceleration, angular velocity and total acceleration, each x, y, z; normalized\n"
        "y: 1 for sitting, laying and walking upstairs; 0 for standing, walking and walking downstairs",
    .files =
        "'UCI HAR Dataset.zip' from https://archive.ics.uci.edu/dataset/240, packed or unpacked:\n"
        "7352 + 2947 windows; no checksum is known",
    .read = read_har2_task,
};

}  // namespace lagtape
