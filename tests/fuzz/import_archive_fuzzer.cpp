#include <deque>

#include "lagtape/tests/fuzz/fuzz.h"
#include "lagtape/tools/exchange/files/hdf5.h"
#include "lagtape/tools/exchange/files/pickle.h"
#include "lagtape/tools/exchange/files/stored_zip.h"
#include "lagtape/tools/exchange/import/import_model.h"

using namespace lagtape;

/// Archives, and by themselves what is in them, whose checksums would refuse nearly all changes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return try_on(data, size, [](std::string_view bytes) {
    const std::string where = "f";
    std::deque<foreign::PickledValue> values;
    if (foreign::begins_like_hdf5(bytes)) {
      foreign::read_hdf5(bytes, where);
    } else if (foreign::begins_like_zip(bytes)) {
      const MemoryFile file(bytes);
      const Model model = import_model(file.path()).model;
      model.predict(Tensor({3, model.input_width()}, model.dtype()));
    } else {
      foreign::read_pickle(bytes, values, where);
    }
  });
}
