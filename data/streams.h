#pragma once

#include "lagtape/core/random.h"

namespace lagtape {

/// The splits of a task. Their numbers select their random streams.
enum class Split : std::uint64_t { train = 0, valid = 1, test = 2 };

/// The purposes for which data/ draws random numbers from an experiment's seed, each with its own streams.
enum class DataStream : std::uint64_t {
  sequence = 0x6461746101,      ///< the numbers of a sequence
  order = 0x6461746102,         ///< the order of an epoch
  split = 0x6461746103,         ///< the split of sequences into train, valid and test
  noise = 0x6461746104,         ///< noise that all sequences share
  augmentation = 0x6461746105,  ///< the augmentation of a sequence in an epoch
  subsample = 0x6461746106,     ///< which steps of a sequence are kept
};

/// The stream from which sequence `index` of a split is drawn.
inline RandomStream sequence_stream(std::uint64_t seed, Split split, std::int64_t index) {
  return {seed, stream_name({static_cast<std::uint64_t>(DataStream::sequence),
                             static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(index)})};
}

}  // namespace lagtape
