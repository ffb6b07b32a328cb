"""The rows of the dashboard "vLLM engine" that are about what it runs on: its server's process and its GPUs."""

from collections.abc import Mapping, Sequence

from dashboards.chosen import ENGINE, engines, everywhere, ranks, servers
from dashboards.look import About, Query, Steps
from dashboards.panels import Panel, lines
from dashboards.tables import Column, rows
from dashboards.thresholds import threshold

GPU = "GPU {{gpu}} {{Hostname}}"


def gpus() -> Mapping[str, Sequence[Panel]]:
    return {"GPU": _gpu(), "What the GPU is used for": _used()}


def server() -> list[Panel]:
    answers = About(
        "HTTP answers",
        "By status, of the paths that answer prompts. What breaks off while it streams is a 2xx.",
        "reqps",
        "VLLMClientErrorsHigh",
    )
    files = About("API server: open files", "Of those that it may open: each connection is one.", "percentunit")
    process = About("API server: CPU", "Of one core. Not told with several API servers.", "percentunit")
    memory = About("API server: memory", "Resident. Not told with several API servers.", "bytes")
    scrape = About(
        "Scrapes",
        "How long the metrics page takes to answer. Slow: the API server's event loop is blocked.",
        "s",
        "VLLMScrapeSlow",
    )
    adapters = About(
        "LoRA adapters",
        "Which run and which wait, as the engine last said (--enable-lora). From 0.12 on both name all with a request.",
        "short",
        "VLLMLoRASlotsExhausted",
    )
    return [
        lines(
            answers,
            Query(f"sum by (status) ({servers('vllm_engine:http_requests:rate5m')})", "{{status}}"),
            stacked=True,
        ),
        lines(files, Query(servers("vllm_engine:api_server_open_files:ratio"), "{{instance}}"), top=1),
        lines(process, Query(servers("vllm_engine:api_server_cpu:rate5m"), "{{instance}}")),
        lines(
            memory,
            Query(servers("vllm_engine:api_server_memory:bytes"), "{{instance}}"),
        ),
        lines(
            scrape,
            Query(servers("scrape_duration_seconds"), "{{instance}}"),
            steps={"orange": threshold("VLLMScrapeSlow", "seconds")},
        ),
        rows(
            adapters,
            ("instance", "running_lora_adapters", "waiting_lora_adapters", "max_lora"),
            Column(
                "Said at",
                "max by (instance, running_lora_adapters, waiting_lora_adapters, max_lora) "
                f"({ranks('vllm_engine:lora_requests_info')}) * 1000",
                "dateTimeFromNow",
            ),
        ),
    ]


def _gpu() -> list[Panel]:
    hot: Steps = {
        "orange": threshold("VLLMGPUTemperatureHigh", "celsius"),
        "red": threshold("VLLMGPUTemperatureHigh", "critical_celsius"),
    }
    whose = "Where the DCGM exporter is scraped; of all GPUs that it shows."
    return [
        lines(
            About("Temperature", whose, "celsius", "VLLMGPUTemperatureHigh"),
            Query(everywhere("vllm_engine:gpu_temperature:celsius"), GPU),
            steps=hot,
        ),
        lines(
            About("Power", f"{whose} A hung kernel reads as busy, and draws hardly anything.", "watt"),
            Query(everywhere("vllm_engine:gpu_power:watts"), GPU),
        ),
        lines(
            About("Utilisation", f"{whose} How much of the time something ran, not how well.", "percentunit"),
            Query(everywhere("vllm_engine:gpu_utilization:ratio"), GPU),
            top=1,
        ),
        lines(
            About("Memory", f"{whose} Full from the start on: vLLM takes it all.", "percentunit", "VLLMGPUEccErrors"),
            Query(everywhere("vllm_engine:gpu_memory_used:ratio"), GPU),
            top=1,
        ),
    ]


def _used() -> list[Panel]:
    told = "For each GPU, as vLLM estimates it (0.17.0 and later, --enable-mfu-metrics)."
    return [
        lines(
            About("Arithmetic", f"{told} Divided by what the GPU can: its utilisation by the model.", "flops"),
            Query(engines("vllm_engine:flops_per_gpu:rate5m"), ENGINE),
        ),
        lines(
            About("Memory traffic", told, "Bps"),
            Query(engines("vllm_engine:read_bytes_per_gpu:rate5m"), f"read {ENGINE}"),
            Query(engines("vllm_engine:write_bytes_per_gpu:rate5m"), f"written {ENGINE}"),
        ),
        lines(
            About(
                "Faults",
                "Codes of the driver (XID) and errors of memory. The last code stays until the next.",
                "none",
                "VLLMGPUXidError",
            ),
            Query(everywhere("vllm_engine:gpu_xid:code"), f"XID {GPU}"),
            Query(everywhere("vllm_engine:gpu_memory_faults:count"), f"{{{{fault}}}} {GPU}"),
        ),
    ]
