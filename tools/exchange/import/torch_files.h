#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/json/json.h"
#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

// Readers for models stored as tensors under PyTorch's names. `where` names the file in messages, and `order`
// is as in layers_of (state_dict.h). The functions below throw InputError.

/// A safetensors file with a state_dict, in f32, f64, f16 or bf16. The model is f64 if any tensor is. The
/// metadata entry "nonlinearity" is nn.RNN's, by default tanh.
ForeignModel read_torch(std::string_view bytes, const std::vector<std::string>& order,
                        const std::string& where);

/// The same for a torch.save file, whose tensors are in the order in which the model defines its modules.
ForeignModel read_torch_file(std::string_view bytes, const std::vector<std::string>& order,
                             const std::string& where);

/// The input width of the first layer. Throws InputError if there is no layer with weights.
std::int64_t input_of(const std::vector<ForeignLayer>& layers, const std::string& where);

/// Sets the function of every nn.RNN in the model to "tanh" or "relu". Throws InputError for any other
/// function, and if there is no nn.RNN.
void set_nonlinearity(ForeignModel& model, const std::string& function, const std::string& where);

/// The functions supported between two maps of a state_dict.
const std::vector<std::string>& functions_between_maps();

/// Inserts a function between consecutive maps. An empty one adds a note about such maps, because a state_dict
/// does not say what is between them; "none" means nothing. Throws InputError if there are no consecutive maps.
void set_between(ForeignModel& model, const std::string& function, const std::string& where);

/// RTNeural's form for PyTorch: { "lstm.weight_ih_l0": [[..]], ..., "dense.weight": [[..]], "dense.bias": [..]
/// } in the model's order.
ForeignModel read_torch_json(const Json& root, const std::vector<std::string>& order,
                             const std::string& where);

/// GuitarML and Proteus: { "model_data": {"model": "SimpleRNN", "unit_type": "LSTM", "skip": 1, ...},
/// "state_dict": {"rec.weight_ih_l0": .., "lin.weight": ..} }. With skip k the first k inputs are added to the
/// outputs; inputs other than the sound are knob positions.
ForeignModel read_guitarml(const Json& root, const std::string& where);

}  // namespace lagtape::foreign
