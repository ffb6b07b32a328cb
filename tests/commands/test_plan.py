"""`vllm-monitor plan`: what it prints, and how it ends."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from monitor.cli import cli

ASKED = ["plan", "--model", "llama-3.1-8b", "--gpu", "L4", "--gpu-memory-utilization", "0.9"]
MEASURED = ["--weights-gib", "14.99", "--reserve-gib", "1.38"]


def test_it_says_whether_vllm_starts_and_ends_with_1_where_it_does_not() -> None:
    starts = CliRunner().invoke(cli, [*ASKED, "--max-model-len", "16384", *MEASURED])
    assert starts.exit_code == 0
    assert "llama-3.1-8b on L4: starts" in starts.stdout
    assert "1.74 (1.60 to 1.87) requests of 16,384 tokens" in starts.stdout
    fails = CliRunner().invoke(cli, [*ASKED, "--max-model-len", "131072", *MEASURED])
    assert fails.exit_code == 1
    assert "does not start (one request needs 16.00 GiB of KV cache, 3.47 (3.20 to 3.74) GiB are there)" in fails.stdout


def test_as_json_it_has_every_number_and_the_ways() -> None:
    asked = [*ASKED, "--max-model-len", "16384", *MEASURED, "--json", "--solve", "concurrency=2.5"]
    told = json.loads(CliRunner().invoke(cli, [*asked, "--compare", "kv-cache-dtype=fp8", "--length", "1600"]).stdout)
    assert told["token_bytes"] == 131_072
    assert told["blocks"] == [1640, 1779, 1917]
    assert told["requests"] == pytest.approx([16.4, 17.79, 19.17])
    assert told["largest_input_share"] == pytest.approx(938 / 1779)
    assert told["solve"][0]["change"] == "--kv-cache-dtype fp8"
    assert told["compare"]["kv-cache-dtype=fp8"]["token_bytes"] == 65_536


def test_the_share_of_the_longest_request_is_what_the_plan_says_of_it() -> None:
    """Layers with a window hold two batches beside it: here as there."""
    asked = ["plan", "--model", "gemma-3-27b", "--gpu", "80", "--max-model-len", "32768", "--json"]
    told = json.loads(CliRunner().invoke(cli, [*asked, "--input-limit", "40000"]).stdout)
    assert told["largest_input_share"] == pytest.approx(1 / told["concurrency"][1])


def test_a_name_with_brackets_is_a_name(tmp_path: Path) -> None:
    folder = tmp_path / "[red]"
    folder.mkdir()
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 100}
    config = {"model_type": "llama", "intermediate_size": 128, "max_position_embeddings": 4096, **sizes}
    (folder / "config.json").write_text(json.dumps(config))
    result = CliRunner().invoke(cli, ["plan", "--model", str(folder), "--gpu", "L4", "--max-model-len", "4096"])
    assert "[red] on L4: starts" in result.stdout


LOG = """\
the current vLLM instance can use total_gpu_memory (22.05GiB) x gpu_memory_utilization (0.90) = 19.85GiB
model weights take 14.99GiB; non_torch_memory takes 0.12GiB; PyTorch activation peak memory takes 1.26GiB; \
the rest of the memory reserved for KV Cache is 3.47GiB.
"""


def test_a_start_up_log_takes_the_place_of_every_guess(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    log.write_text(LOG)
    asked = [*ASKED, "--max-model-len", "16384", "--log", str(log), "--json", "--compare", "tensor-parallel-size=2"]
    told = json.loads(CliRunner().invoke(cli, asked).stdout)
    # 22.05 x 0.90 - 14.99 - what is neither weights nor cache, which is 3.47 GiB again.
    assert told["pool_gib"] == pytest.approx([3.47, 3.47, 3.47])
    assert told["weights_gib"] == [14.99, 14.99, 14.99]
    # Weights that are spread over two are half of the table's.
    assert told["compare"]["tensor-parallel-size=2"]["weights_gib"][1] == pytest.approx(14.96 / 2, abs=0.01)


def test_weights_that_do_not_fit_are_said_to_be_the_reason() -> None:
    asked = ["plan", "--model", "llama-3.3-70b", "--gpu", "22.05", "--max-model-len", "4096"]
    fails = CliRunner().invoke(cli, asked, env={"COLUMNS": "200"})
    assert fails.exit_code == 1
    assert "does not start (weights take 131.42 GiB of the 20.29 that vLLM may use of a GPU)" in fails.stdout
    assert "KV cache  none" in fails.stdout
    assert "vllm serve meta-llama/Llama-3.3-70B-Instruct " in fails.stdout


def test_a_variant_that_makes_no_sense_takes_nothing_from_the_others() -> None:
    asked = [*ASKED, "--max-model-len", "16384", "--length", "12000", "--compare", "max-model-len=8192"]
    asked += ["--compare", "dtype=int8", "--compare", "kv-cache-dtype=fp8"]
    told = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).stdout)["compare"]
    assert told["max-model-len=8192"]["error"] == "a request of 12000 tokens does not fit into --max-model-len 8192"
    assert told["dtype=int8"]["error"].startswith("--dtype 'int8' is not one of auto")
    assert told["kv-cache-dtype=fp8"]["token_bytes"] == 65_536
    shown = CliRunner().invoke(cli, asked).stdout
    assert "max-model-len=8192: a request of 12000 tokens does not fit" in shown


def test_weights_that_are_given_are_those_of_the_dtype_that_is_asked_for() -> None:
    asked = [*ASKED, "--max-model-len", "4096", *MEASURED, "--dtype", "float32", "--json", "--compare", "dtype=half"]
    told = json.loads(CliRunner().invoke(cli, asked).stdout)
    assert told["weights_gib"][1] == pytest.approx(14.99)
    assert told["token_bytes"] == 262_144
    assert "--dtype float32" in told["serve"]
    assert told["compare"]["dtype=half"]["weights_gib"][1] == pytest.approx(14.99 / 2)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--model", "nope"], "--model 'nope' is not in the table"),
        (["--gpu", "L9"], "--gpu 'L9' is not known"),
        (["--solve", "latency=1"], "write concurrency=2.5"),
        (["--solve", "concurrency=0"], "write concurrency=2.5"),
        (["--compare", "speed=2"], "'speed' is none of max-model-len"),
        (["--compare", "max-model-len=long"], "'long' is no number"),
        (["--length", "long=1"], "write 4000=0.7"),
        (["--kv-cache-dtype", "nvfp4"], "its size is not known here"),
        (["--dtype", "bf16"], "--dtype 'bf16' is not one of auto, half, float, bfloat16, float16, float32"),
        (["--quantization", "magic"], "its size is not known here"),
        (["--weights-gib", "-3"], "--weights-gib -3 is not a size"),
        (["--reserve-gib", "-3"], "--reserve-gib -3 is not a size"),
        (["--log", "/nowhere/vllm.log"], "/nowhere/vllm.log: No such file or directory"),
        (["--reserve-gib", "inf"], "--reserve-gib inf is not a size"),
        (["--weights-gib", "1e300"], "--weights-gib 1e+300 is not a size"),
        (["--length", "5=nan"], "the share of a length is a number above 0"),
        (["--solve", "concurrency=1e400"], "--solve 'concurrency=1e400': write concurrency=2.5"),
    ],
)
def test_what_cannot_be_computed_is_said(more: list[str], told: str) -> None:
    result = CliRunner().invoke(cli, [*ASKED, "--max-model-len", "4096", *more])
    assert result.exit_code == 1
    assert told in result.stderr
