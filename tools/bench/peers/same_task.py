"""One task in several libraries: an hourly load is forecast 48 steps ahead, with temperature and holiday known ahead.

    python3 same_task.py PEER [--lagtape LAGTAPE]     PEER: lagtape, darts, statsforecast, neuralforecast, torch or keras

The data, the 200 origins and the error are those of hourly_load.py. Each function below is the whole task in one library, from
a table to forecasts, and its lines are counted. Each network is one LSTM with 32 units, trained on windows of 168 hours until
the error on the validation rows has not improved for 5 epochs. Prints one line of JSON: wall-clock and CPU seconds from the
table to the last forecast, without imports; lines; and the root mean squared error over all 48 steps.
"""

import argparse
import inspect
import json
import pathlib
import resource
import subprocess
import tempfile
import time

from hourly_load import ORIGINS, STEPS, rows_of_load

COUNT = 9000
TRAIN, TEST = round(0.7 * COUNT), round(0.85 * COUNT)
STRIDE = (COUNT - STEPS - TEST) // ORIGINS + 1
STARTS = range(TEST, COUNT - STEPS + 1, STRIDE)


def lagtape(frame, tool, folder):
    frame.to_csv(folder / "load.csv", index_label="time", columns=["load", "temperature", "holiday"])
    for command in ("new load.csv --target load --future temperature,holiday --output load.json",
                    "train load.json --out run --quiet", f"eval run --horizon {STEPS} --json"):
        done = subprocess.run([tool, *command.split()], cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)["targets"]["load"]["overall"]["model"]["rmse"]


def darts(frame):
    series = TimeSeries.from_dataframe(frame[["load"]])
    known = TimeSeries.from_dataframe(frame[["temperature", "holiday", "sine", "cosine"]])
    model = LinearRegressionModel(lags=48, lags_future_covariates=(24, 1))
    model.fit(series[:TEST], future_covariates=known[:TEST])
    return model.historical_forecasts(series, future_covariates=known, start=frame.index[TEST], forecast_horizon=STEPS,
                                      stride=STRIDE, retrain=False, last_points_only=False)


def statsforecast(frame):
    table = frame.rename_axis("ds").reset_index().rename(columns={"load": "y"}).assign(unique_id="load")
    models = StatsForecast([AutoARIMA(seasonal=False)], freq="h")
    return models.cross_validation(STEPS, table, step_size=STRIDE, test_size=STEPS + STRIDE * (len(STARTS) - 1), refit=False)


def neuralforecast(frame):
    table = frame.rename_axis("ds").reset_index().rename(columns={"load": "y"}).assign(unique_id="load")
    model = LSTM(h=STEPS, input_size=168, futr_exog_list=["temperature", "holiday", "sine", "cosine"], encoder_n_layers=1,
                 encoder_hidden_size=32, loss=MSE(), learning_rate=0.01, scaler_type="standard", max_steps=1000,
                 val_check_steps=10, early_stop_patience_steps=5, batch_size=1, windows_batch_size=32, random_seed=0,
                 accelerator="cpu", logger=False, enable_progress_bar=False, enable_checkpointing=False)
    return NeuralForecast([model], freq="h").cross_validation(
        table, n_windows=None, step_size=STRIDE, val_size=TEST - TRAIN, test_size=STEPS + STRIDE * (len(STARTS) - 1))


def torch_lstm(frame):
    torch.manual_seed(0)
    past = TRAIN - 1
    mean, scale = frame[:TRAIN].mean(), frame[:TRAIN].std()
    values = torch.tensor(((frame - mean) / scale).to_numpy(), dtype=torch.float32)
    inputs, target = torch.cat([values[:-1, :1], values[1:, 1:]], 1), values[1:, :1]  # the previous load, the current known columns

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.readout = torch.nn.LSTM(inputs.shape[1], 32, batch_first=True), torch.nn.Linear(32, 1)

        def forward(self, x, state=None):
            hidden, state = self.lstm(x, state)
            return self.readout(hidden), state

    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    windows = torch.arange(0, past - 168, 24)
    best, bad, kept = float("inf"), 0, None
    while bad < 5:
        for rows in windows[torch.randperm(len(windows))].split(32):
            place = rows[:, None] + torch.arange(168)
            loss = (network(inputs[place])[0] - target[place]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            found = (network(inputs[None, :TEST - 1])[0][0, past:] - target[past:TEST - 1]).square().mean().item()
        bad = 0 if found < best else bad + 1
        if found < best:
            best, kept = found, {name: value.clone() for name, value in network.state_dict().items()}
    network.load_state_dict(kept)
    with torch.no_grad():
        starts = torch.tensor(list(STARTS))
        y, state = network(inputs[starts[:, None] + torch.arange(-169, 0)])
        forecasts = [y[:, -1:]]
        for step in range(1, STEPS):
            known = values[starts + step, 1:][:, None]
            y, state = network(torch.cat([forecasts[-1], known], 2), state)
            forecasts.append(y)
    return (torch.cat(forecasts, 1)[..., 0] * scale["load"] + mean["load"]).numpy()


def keras_lstm(frame):
    keras.utils.set_random_seed(0)
    past = TRAIN - 1
    mean, scale = frame[:TRAIN].mean(), frame[:TRAIN].std()
    values = ((frame - mean) / scale).to_numpy(dtype="float32")
    inputs, target = np.concatenate([values[:-1, :1], values[1:, 1:]], 1), values[1:, :1]
    given = keras.Input((None, inputs.shape[1]))
    first = [keras.Input((32,)), keras.Input((32,))]
    lstm, readout = keras.layers.LSTM(32, return_sequences=True, return_state=True), keras.layers.Dense(1)
    trained = keras.Model(given, readout(lstm(given)[0]))
    hidden, *last = lstm(given, initial_state=first)
    stepped = keras.Model([given, *first], [readout(hidden), *last])
    trained.compile(keras.optimizers.Adam(0.01), "mse")
    train = np.arange(0, past - 168, 24)[:, None] + np.arange(168)
    valid = np.arange(past, TEST - 169, 168)[:, None] + np.arange(168)
    trained.fit(inputs[train], target[train], batch_size=32, epochs=1000, verbose=0, validation_data=(inputs[valid], target[valid]),
                callbacks=[keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True)])
    starts = np.array(STARTS)
    zeros = np.zeros((len(starts), 32), "float32")
    y, *state = stepped.predict_on_batch([inputs[starts[:, None] + np.arange(-169, 0)], zeros, zeros])
    forecasts = [y[:, -1:]]
    for step in range(1, STEPS):
        known = values[starts + step, 1:][:, None]
        y, *state = stepped.predict_on_batch([np.concatenate([forecasts[-1], known], 2), *state])
        forecasts.append(y)
    return np.concatenate(forecasts, 1)[..., 0] * scale["load"] + mean["load"]


def table():
    frame = pd.DataFrame(list(rows_of_load(COUNT)), columns=["time", "load", "temperature", "holiday"]).set_index("time").astype(float)
    angle = 2 * np.pi * frame.index.hour / 24
    return frame.assign(sine=np.sin(angle), cosine=np.cos(angle))


def processors():
    """CPU seconds used by this process and its children."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def error_of(forecasts, frame):
    """The root mean squared error of forecasts [origins, steps] in any array type."""
    if isinstance(forecasts, float):
        return forecasts
    if isinstance(forecasts, list):
        forecasts = np.array([each.values()[:, 0] for each in forecasts])
    if isinstance(forecasts, pd.DataFrame):
        model = next(name for name in ("AutoARIMA", "LSTM") if name in forecasts)
        truth, forecasts = (forecasts[name].to_numpy().reshape(-1, STEPS) for name in ("y", model))
    else:
        truth = frame["load"].to_numpy()[np.array(STARTS)[:, None] + np.arange(STEPS)]
    assert forecasts.shape == truth.shape == (len(STARTS), STEPS), (forecasts.shape, truth.shape)
    return float(np.sqrt(np.mean((forecasts - truth) ** 2)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=("lagtape", "darts", "statsforecast", "neuralforecast", "torch", "keras"))
    parser.add_argument("--lagtape", type=pathlib.Path, default=pathlib.Path("build/release/lagtape"))
    arguments = parser.parse_args()
    import numpy as np
    import pandas as pd
    if arguments.peer == "darts":
        from darts import TimeSeries
        from darts.models import LinearRegressionModel
    elif arguments.peer == "statsforecast":
        from statsforecast import StatsForecast
        from statsforecast.models import AutoARIMA
    elif arguments.peer == "neuralforecast":
        from neuralforecast import NeuralForecast
        from neuralforecast.losses.pytorch import MSE
        from neuralforecast.models import LSTM
    elif arguments.peer == "torch":
        import torch
    elif arguments.peer == "keras":
        import keras
    function = {"torch": torch_lstm, "keras": keras_lstm}.get(arguments.peer) or globals()[arguments.peer]
    data = table()
    with tempfile.TemporaryDirectory() as temporary:
        more = (arguments.lagtape.resolve(), pathlib.Path(temporary)) if arguments.peer == "lagtape" else ()
        begin, used = time.perf_counter(), processors()
        error = error_of(function(data, *more), data)
        seconds, used = time.perf_counter() - begin, processors() - used
    lines = [line for line in inspect.getsource(function).splitlines() if line.strip()]
    print(json.dumps({"peer": arguments.peer, "seconds": round(seconds, 1), "processor_seconds": round(used, 1), "lines": len(lines) - 1, "rmse": round(error, 3)}))
