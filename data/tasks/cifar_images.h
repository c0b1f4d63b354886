#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "lagtape/core/option_table.h"
#include "lagtape/data/formats/cifar10.h"
#include "lagtape/data/splits.h"
#include "lagtape/data/task.h"

namespace lagtape {

/// The CIFAR-10 files, as `lagtape list tasks NAME` describes them.
inline constexpr std::string_view kCifarFiles =
    "cifar-10-binary.tar.gz from https://www.cs.toronto.edu/~kriz/cifar.html, packed or unpacked:\n"
    "170052171 bytes, MD5 c32a1d4ab5d03f1284b67883e8d87530";

/// The options shared by all CIFAR-10 tasks: where the images are, and how many are in each split.
struct CifarOptions {
  std::string path;
  std::int64_t train = 48000, valid = 2000, test = 10000;
};

extern const OptionTable kCifarOptions;

/// Reads the images and splits the training images at random by the experiment's seed. Throws InputError if
/// there are too few.
std::pair<std::shared_ptr<const Cifar10>, SplitIndices> load_cifar10(const CifarOptions& options,
                                                                     const TaskContext& context);

}  // namespace lagtape
