#!/usr/bin/env bash
# Installs what is missing, builds the tool, trains the tau-GRU on generated Mackey-Glass data, and shows the result.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

install_missing "${tool_packages[@]}"
# A build folder with tests keeps them. A new one goes without, since their packages may not be there.
if [ -e build/release/CMakeCache.txt ]; then
  configure
else
  configure -DLAGTAPE_TESTS=OFF
fi
build "the lagtape tool" --target lagtape_tool

run=runs/quickstart
for ((number = 2; ; number++)); do
  [ -e "$run" ] || break
  run=runs/quickstart-$number
done

say "Training tools/experiments/mackey_glass/tau_gru.json into $run"
build/release/lagtape train tools/experiments/mackey_glass/tau_gru.json --out "$run"

result=$(build/release/lagtape eval "$run" --split test --json)
rmse=$(sed -n 's/.*"rmse": *\([0-9.eE+-]*\).*/\1/p' <<<"$result" | head -n 1)
[ -n "$rmse" ] || fail "no rmse in the result: $result"

paper=0.00136
say "Next-step RMSE on the 1024 test sequences: $rmse. The paper's table: $paper."
if awk -v rmse="$rmse" -v paper="$paper" 'BEGIN { exit !(rmse <= paper) }'; then
  say "Reached: at or below the paper's error. The model is $run/weights.safetensors."
else
  fail "not reached: above the paper's error."
fi
