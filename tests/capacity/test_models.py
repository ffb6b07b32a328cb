"""The table of models, and `config.json` files of others."""

import json
from math import inf
from pathlib import Path
from typing import Any

import pytest

from monitor.capacity.config_json import architecture
from monitor.capacity.failure import CapacityError
from monitor.capacity.gpus import gpu
from monitor.capacity.layers import Kind
from monitor.capacity.memory import GIB
from monitor.capacity.models import model, names, served_as
from monitor.capacity.plan import Settings, plan

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "hidden_size": 64,
    "intermediate_size": 128,
    "vocab_size": 1000,
    "max_position_embeddings": 512,
    "torch_dtype": "float32",
}


def read(folder: Path, config: Any) -> Path:
    path = folder / "config.json"
    path.write_text(config if isinstance(config, str) else json.dumps(config))
    return path


# Seeing parts and shared experts are not in the shapes that are counted, states are refused.
@pytest.mark.parametrize(
    "named", [name for name in names() if not name.startswith(("gemma-3", "nemotron", "qwen3-next", "llama-4"))]
)
def test_the_weights_counted_from_the_shapes_are_the_published_ones(named: str) -> None:
    published = model(named)
    entries = json.loads((Path(__file__).parents[2] / "monitor/capacity/models.json").read_text())
    (entry,) = [entry for name, entry in entries.items() if named == name or named in entry.get("aliases", ())]
    counted = architecture(entry["config"], named, "").parameters
    assert counted == pytest.approx(published.parameters, rel=0.015)
    assert published.source.startswith("config.json of ")


def test_a_config_json_is_read_by_path_or_by_folder(tmp_path: Path) -> None:
    path = read(tmp_path, CONFIG)
    for named in (str(path), str(tmp_path)):
        found = model(named)
        assert found.layer_count == 2
        assert found.max_positions == 512
        # Two layers, two KV heads of 16 numbers, keys and values; of 32 bits `--dtype auto` makes 16.
        planned = plan(found, gpu("1"), Settings(512))
        assert planned.token_bytes == 2 * 2 * 32 * 2
        assert planned.memory.weights.likely == found.parameters * 2 / GIB


@pytest.mark.parametrize(
    ("dtype", "weights", "bytes_a_number"), [("auto", 2, 2), ("half", 2, 2), ("float32", 4, 4), ("float", 4, 4)]
)
def test_weights_and_cache_are_of_the_dtype_that_is_asked_for(dtype: str, weights: float, bytes_a_number: int) -> None:
    found = architecture(CONFIG, "m", "")
    planned = plan(found, gpu("1"), Settings(512, dtype=dtype))
    assert planned.memory.weights.likely == found.parameters * weights / GIB
    assert planned.token_bytes == 2 * 2 * 32 * bytes_a_number
    eight = plan(found, gpu("1"), Settings(512, dtype=dtype, kv_cache_dtype="fp8"))
    assert eight.token_bytes == 2 * 2 * 32


def test_quantised_weights_stay_as_they_are_whatever_is_computed_in() -> None:
    found = architecture(CONFIG | {"quantization_config": {"quant_method": "awq"}}, "m", "")
    sizes = [plan(found, gpu("1"), Settings(512, dtype=dtype)).memory.weights for dtype in ("auto", "float16")]
    assert sizes[0] == sizes[1]
    assert sizes[0].likely == found.parameters * 0.56 / GIB


def test_a_state_is_of_the_dtype_that_is_computed_in() -> None:
    planned = [plan(model("nemotron-h-8b"), gpu("80"), Settings(8192, dtype=each)) for each in ("auto", "float32")]
    # Twice the numbers of attention and of the states: blocks of twice the bytes, and of the same length.
    assert [one.cache.block_size for one in planned] == [528, 528]
    assert planned[1].cache.block_bytes == 2 * planned[0].cache.block_bytes


def test_an_unknown_architecture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CapacityError, match="the model type 'hyena' is not known here"):
        model(str(read(tmp_path, CONFIG | {"model_type": "hyena"})))


def test_everything_that_a_file_lacks_is_said_at_once(tmp_path: Path) -> None:
    path = read(tmp_path, {"model_type": "llama", "vocab_size": "many", "num_attention_heads": -1})
    with pytest.raises(CapacityError) as caught:
        model(str(path))
    told = str(caught.value)
    for field in ("num_hidden_layers", "hidden_size", "max_position_embeddings", "vocab_size", "num_attention_heads"):
        assert field in told


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is no JSON"),
        ("[1]", "holds no mapping"),
        ("[" * 100_000, "is no JSON"),
        (json.dumps(CONFIG | {"layer_types": ["full_attention", "hyper_attention"]}), "hyper_attention"),
    ],
)
def test_what_is_no_config_json_is_refused(tmp_path: Path, content: str, told: str) -> None:
    with pytest.raises(CapacityError, match=told):
        model(str(read(tmp_path, content)))


@pytest.mark.parametrize(
    ("named", "served"),
    [
        ("llama-3.1-8b", "meta-llama/Llama-3.1-8B"),
        ("deepseek-r1", "deepseek-ai/DeepSeek-R1"),
        ("meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"),
        ("./folder/config.json", "./folder/config.json"),
        ("unknown", "unknown"),
    ],
)
def test_what_is_served_is_a_repository_that_there_is(named: str, served: str) -> None:
    assert served_as(named) == served
    assert all("/" in served_as(name) for name in names())


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(CapacityError, match="No such file"):
        model(str(tmp_path / "none.json"))


@pytest.mark.parametrize(
    ("more", "kinds"),
    [
        (
            {"layer_types": ["full_attention", "sliding_attention"], "sliding_window": 64},
            {Kind.FULL: 1, Kind.SLIDING: 1},
        ),
        ({"model_type": "mistral", "sliding_window": 64}, {Kind.SLIDING: 2}),
        ({"model_type": "mistral", "sliding_window": None}, {Kind.FULL: 2}),
        ({"model_type": "qwen2", "sliding_window": 64, "use_sliding_window": False}, {Kind.FULL: 2}),
        ({"model_type": "qwen2", "sliding_window": 64, "use_sliding_window": True}, {Kind.SLIDING: 2}),
        ({"model_type": "gemma2", "sliding_window": 64}, {Kind.FULL: 1, Kind.SLIDING: 1}),
    ],
)
def test_windows_are_found_as_each_model_writes_them(more: dict[str, Any], kinds: dict[Kind, int]) -> None:
    found = architecture(CONFIG | more, "m", "")
    assert {layers.kind: layers.count for layers in found.layers if layers.count} == kinds


def test_a_model_that_sees_is_read_by_the_part_that_writes() -> None:
    inside = {"model_type": "gemma3", "text_config": {**CONFIG, "sliding_window": 64, "num_hidden_layers": 12}}
    found = architecture(inside, "m", "")
    assert {layers.kind: layers.count for layers in found.layers} == {Kind.FULL: 2, Kind.SLIDING: 10}


def test_yarn_lengthens_the_context() -> None:
    scaled = {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}}
    assert architecture(CONFIG | scaled, "m", "").max_positions == 2048


@pytest.mark.parametrize("factor", ["four", inf, -1, None])
def test_a_scaling_that_is_no_number_is_refused(factor: object) -> None:
    scaled = {"rope_scaling": {"rope_type": "yarn", "factor": factor}}
    with pytest.raises(CapacityError, match="lacks numbers in rope_scaling"):
        architecture(CONFIG | scaled, "m", "")


def test_weights_that_cannot_be_counted_are_asked_for() -> None:
    with pytest.raises(CapacityError, match="give --weights-gib"):
        architecture(CONFIG | {"model_type": "nemotron_h"}, "m", "")


@pytest.mark.parametrize("named", ["L9", "0", "-4", "nan", "1e12", ""])
def test_a_gpu_that_is_not_known_is_refused_with_those_that_are(named: str) -> None:
    with pytest.raises(CapacityError, match="A100-80GB"):
        gpu(named)


@pytest.mark.parametrize(
    ("named", "gib"), [("l4", 22.05), ("A100", 79.2), ("a100 40gb", 39.5), ("24GiB", 24), ("7.5", 7.5)]
)
def test_a_gpu_is_found_however_it_is_written(named: str, gib: float) -> None:
    assert gpu(named).gib == gib
