#pragma once

#include <cstddef>
#include <cstdint>

namespace lagtape {

/// Bytes that stand for a safetensors file, with a field of its header or of the JSON texts in its metadata mutated. The
/// buffer is as long as the header says where there is room, so that most changes get past the first checks.
std::size_t mutate_safetensors(std::uint8_t* data, std::size_t size, std::size_t most, unsigned int seed);

}  // namespace lagtape
