#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

// Models that are tensors by the names of PyTorch. `where` names the file in messages, `order` is that of
// layers_of (state_dict.h). They throw InputError.

/// A safetensors file of a state_dict, in f32, f64, f16 or bf16. The model is in f64 if a tensor is. Metadata
/// "nonlinearity" is that of nn.RNN, which is tanh without it.
ForeignModel read_torch(std::string_view bytes, const std::vector<std::string>& order,
                        const std::string& where);

/// The same of a file of torch.save, whose tensors have the order in which the model defines its modules.
ForeignModel read_torch_file(std::string_view bytes, const std::vector<std::string>& order,
                             const std::string& where);

/// The input width of the first layer. Throws InputError if there is no layer, or none with weights.
std::int64_t input_of(const std::vector<ForeignLayer>& layers, const std::string& where);

/// Makes every nn.RNN of the model one with that function, "tanh" or "relu". Throws InputError for another one, and
/// where there is no nn.RNN.
void set_nonlinearity(ForeignModel& model, const std::string& function, const std::string& where);

/// The functions that may be between two maps of a state_dict.
const std::vector<std::string>& functions_between_maps();

/// Puts a function between consecutive maps. An empty one notes such maps, because no state_dict says what is between
/// them; "none" means nothing. Throws InputError where no maps follow each other.
void set_between(ForeignModel& model, const std::string& function, const std::string& where);

/// RTNeural's form for PyTorch: { "lstm.weight_ih_l0": [[..]], ..., "dense.weight": [[..]], "dense.bias": [..] }
/// in the order of the model.
ForeignModel read_torch_json(const Json& root, const std::vector<std::string>& order,
                             const std::string& where);

/// GuitarML and Proteus: { "model_data": {"model": "SimpleRNN", "unit_type": "LSTM", "skip": 1, ...},
/// "state_dict": {"rec.weight_ih_l0": .., "lin.weight": ..} }. With skip k the first k inputs are added to the
/// outputs; inputs beside the sound are the positions of knobs.
ForeignModel read_guitarml(const Json& root, const std::string& where);

}  // namespace lagtape::foreign
