#pragma once

#include <cstddef>
#include <cstdint>

namespace lagtape {

/// Bytes that stand for a message of Protocol Buffers, with a field mutated, left out or repeated at any depth; the
/// lengths around it are those of the new content.
std::size_t mutate_protobuf(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed);

}  // namespace lagtape
