#include "lagtape/core/tensor.h"
#include "lagtape/data/formats/word_vectors.h"
#include "lagtape/tests/fuzz/fuzz.h"

using namespace lagtape;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view text) {
    const MemoryFile file(text);
    const std::string words[] = {"the", "a b"};
    Tensor table({2, 2}, Dtype::f32);
    require(read_word_vectors(file.path(), words, 0, table) <= 2);
  });
}
