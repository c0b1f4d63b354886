#pragma once

#include "lagtape/core/random.h"

namespace lagtape {

/// The splits of a task, numbered for their random streams.
enum class Split : std::uint64_t { train = 0, valid = 1, test = 2 };

/// The uses of an experiment's seed in data/, each with streams of its own.
enum class DataStream : std::uint64_t {
  sequence = 0x6461746101,      ///< the numbers of a sequence
  order = 0x6461746102,         ///< the order of an epoch
  split = 0x6461746103,         ///< which sequences train and which validate
  noise = 0x6461746104,         ///< noise that all sequences share
  augmentation = 0x6461746105,  ///< how an epoch sees a sequence
  subsample = 0x6461746106,     ///< which steps of a sequence are kept
};

/// The stream that decides sequence `index` of a split.
inline RandomStream sequence_stream(std::uint64_t seed, Split split, std::int64_t index) {
  return {seed, stream_name({static_cast<std::uint64_t>(DataStream::sequence),
                             static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(index)})};
}

}  // namespace lagtape
