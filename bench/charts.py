"""The charts of bench/run: bars relative to BoringSSL = 1, and bytes per idle stream. matplotlib draws them."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402

from cases import TLS_PEERS  # noqa: E402

OURS, OTHERS = "#c2410c", "#64748b"
NAMES = {"1": "1 B", "16384": "16 KiB", "1048576": "1 MiB", "server-p256": "ECDSA P-256", "server-rsa2048": "RSA-2048"}


def bars(axes: Any, title: str, values: dict[str, float], unit: str) -> None:
    peers = [peer for peer in (*TLS_PEERS, "aead") if peer in values]
    drawn = axes.barh(peers, [values[peer] for peer in peers], color=[OURS if p == "securestream" else OTHERS for p in peers])
    axes.bar_label(drawn, fmt="%.2f" if unit != "B" else "%.0f", padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.set_title(title, fontsize=10)
    axes.margins(x=0.15)
    axes.spines[["top", "right"]].set_visible(False)


def figure(path: Path, title: str, panels: list[tuple[str, dict[str, float]]], unit: str) -> None:
    shown, all_axes = plt.subplots(1, len(panels), figsize=(4.4 * len(panels), 3.6), squeeze=False)
    for axes, (name, values) in zip(all_axes[0], panels):
        bars(axes, name, values, unit)
    shown.suptitle(title, fontsize=11)
    shown.tight_layout()
    shown.savefig(path, dpi=110)
    plt.close(shown)


def relative(results: dict[str, Any], kind: str, argument: str) -> dict[str, float]:
    best = {r["peer"]: r["best"] for r in results["timed"] if (r["kind"], r["argument"]) == (kind, argument)}
    return {peer: value / best["boringssl"] for peer, value in best.items()}


def draw(results: dict[str, Any], stem: Path) -> list[Path]:
    data = [(NAMES[size], relative(results, "move", size)) for size in ("1", "16384", "1048576")]
    shakes = [(name + NAMES[leaf], relative(results, kind, leaf))
              for kind, name in (("handshake", ""), ("resumed", "resumed, ")) for leaf in ("server-p256", "server-rsa2048")]
    idle = {r["peer"]: r["bytes"] for r in results["counted"] if r["kind"] == "idle"}
    memory = [(side, {peer: b[i] for peer, b in idle.items() if len(b) == 2}) for i, side in enumerate(("client", "server"))]
    calls = {r["peer"]: r["calls"] for r in results["counted"] if (r["kind"], r["argument"]) == ("handshake", "server-p256")}
    paths = [stem.with_name(f"{stem.name}-{name}.png") for name in ("data", "handshakes", "memory")]
    figure(paths[0], "encrypt + decrypt, time, BoringSSL = 1 (less is better)", data, "")
    figure(paths[1], "handshake, both sides, time, BoringSSL = 1 (less is better)", shakes, "")
    figure(paths[2], "heap: bytes per idle stream; calls per handshake (less is better)",
           [*memory, ("calls per handshake", calls)], "B")
    return paths
