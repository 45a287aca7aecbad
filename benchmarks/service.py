"""Requests a second of the service, and how long the slowest hundredth takes, beside a bare echo of FastAPI.

    python benchmarks/service.py [--json FILE] [--quick]

Each server runs in a process of its own, with uvicorn; clients on a few kept connections ask one thing after the other
and in turn of the two. A request is what to ask next after so many answers, of ETANA on 30 measurements. The peer is an
application that reads a body of JSON and gives it back. ``ours_s`` and ``peer_s`` are seconds a request, all together.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import socket
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from _common import Row, needed, parser, report
from sklearn.datasets import load_breast_cancer

import seqclass
from seqclass.serve import create_app

#: Connections at once: the machine has to run the clients, too.
CLIENTS = 4


def echo() -> Any:
    """An application that gives a body of JSON back."""
    from fastapi import FastAPI

    app = FastAPI()

    def give(body: dict[str, Any]) -> dict[str, Any]:
        return body

    app.add_api_route("/next", give, methods=["POST"])
    return app


def serve(path: str | None, listening: socket.socket) -> None:
    """Serve a model, or the echo where there is none."""
    import uvicorn

    app = echo() if path is None else create_app(path)
    uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False)).run(sockets=[listening])


def ask(port: int, bodies: list[bytes], taken: list[float]) -> None:
    """Ask one thing after the other on one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.connect()
    # head and body are two packets, and the second would wait for the receipt of the first
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for body in bodies:
        began = time.perf_counter()
        connection.request("POST", "/next", body, {"content-type": "application/json"})
        response = connection.getresponse()
        content = response.read()
        taken.append(time.perf_counter() - began)
        if response.status != 200:
            raise ValueError(content.decode())
    connection.close()


def rate(port: int, bodies: list[bytes]) -> tuple[float, float]:
    """Seconds a request, and those that 99 of 100 stay below."""
    taken = list[float]()
    parts = [bodies[part::CLIENTS] for part in range(CLIENTS)]
    threads = [threading.Thread(target=ask, args=(port, part, taken)) for part in parts]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    if len(taken) < len(bodies):
        raise ValueError("a request was not answered")
    return seconds / len(bodies), float(np.percentile(taken, 99))


def main() -> None:
    """Measure, print and write."""
    arguments = parser(__doc__).parse_args()
    needed("uvicorn")
    needed("fastapi")
    n = 40 if arguments.quick else 2000
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = seqclass.etana(0.01).fit(X, y)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.seq"
        clf.save(path)
        ports, processes = [], []
        for model in (str(path), None):
            with socket.socket(proto=socket.IPPROTO_TCP) as listening:  # by which asyncio tells that nothing is to wait
                listening.bind(("127.0.0.1", 0))
                listening.listen(100)
                ports.append(listening.getsockname()[1])
                processes.append(multiprocessing.get_context("fork").Process(target=serve, args=(model, listening)))
                processes[-1].start()
        try:
            for n_answers in (0, 1, 3):
                names = [clf.feature_name(column) for column in clf.order_[:n_answers].tolist()]
                # values as they come, so that nothing is answered from memory
                bodies = [
                    json.dumps({"answers": {name: float(X[name].iloc[i % len(X)]) for name in names}}).encode()
                    for i in range(n)
                ]
                for port in ports:
                    rate(port, bodies[: n // 4])  # to warm up
                ours, theirs = [], []
                for _ in range(1 if arguments.quick else arguments.repeats):
                    ours.append(rate(ports[0], bodies))
                    theirs.append(rate(ports[1], bodies))
                (seconds, p99), (peer, peer_p99) = min(ours), min(theirs)
                name = (
                    f"/next after {n_answers} answers, {1 / seconds:.0f} requests a second (p99 {1e3 * p99:.1f} ms; "
                    f"echo {1 / peer:.0f}, {1e3 * peer_p99:.1f} ms)"
                )
                rows.append(Row(name, seconds, "FastAPI echo", peer, peer / seconds, None))
        finally:
            for process in processes:
                process.terminate()
                process.join()
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
