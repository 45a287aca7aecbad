"""Requests a second of the service, and how long the slowest hundredth takes, beside a bare echo of FastAPI.

    python benchmarks/service.py [--json FILE] [--quick] [--memory]

Each server runs in a process of its own, with uvicorn; clients on a few kept connections ask one thing after the other
and in turn of the two. A request is what to ask next after so many answers, of ETANA on 30 measurements. The peer is an
application that reads a body of JSON and gives it back. ``ours_s`` and ``peer_s`` are seconds a request, all together.
In the last row, 32 clients at once work through the same 200 cases each, in orders of their own, from the first
question to the decision; what differs from the answers to one client alone is an error. The echo gets the same.
With ``--memory`` the script tells instead what the service keeps of 100,000 requests with different values.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _common import Row, needed, parser, report
from sklearn.datasets import load_breast_cancer

import seqclass
from seqclass.serve import create_app

#: Connections at once: the machine has to run the clients, too.
CLIENTS = 4
#: Those who work through cases at once, and how many cases each.
CROWD, N_CASES = 32, 200


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
    uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, timeout_keep_alive=300)).run(
        sockets=[listening]
    )


class Client:
    """One kept connection."""

    def __init__(self, port: int, taken: list[float]) -> None:
        self.connection, self.taken = http.client.HTTPConnection("127.0.0.1", port, timeout=300), taken
        self.connection.connect()
        # head and body are two packets, and the second would wait for the receipt of the first
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def post(self, path: str, body: bytes) -> bytes:
        """What comes back, after noting how long that took."""
        began = time.perf_counter()
        self.connection.request("POST", path, body, {"content-type": "application/json"})
        response = self.connection.getresponse()
        content = response.read()
        self.taken.append(time.perf_counter() - began)
        if response.status != 200:
            raise ValueError(content.decode())
        return content


def together(tasks: list[Callable[[], None]]) -> float:
    """Seconds that tasks take, each in a thread of its own."""
    threads = [threading.Thread(target=task) for task in tasks]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


def rate(port: int, parts: list[list[tuple[str, bytes]]]) -> tuple[float, float]:
    """Seconds a request, and those that 99 of 100 stay below, of clients that ask one thing after the other."""
    taken, n = list[float](), sum(map(len, parts))

    def ask(part: list[tuple[str, bytes]]) -> None:
        client = Client(port, taken)
        for path, body in part:
            client.post(path, body)

    seconds = together([partial(ask, part) for part in parts])
    if len(taken) < n:
        raise ValueError("a request was not answered")
    return seconds / n, float(np.percentile(taken, 99))


def work_through(client: Client, row: dict[str, float]) -> tuple[list[bytes], list[bytes]]:
    """What is sent and what comes back of one case, from the first question to the decision."""
    sent, got = [b"{}"], [client.post("/cases", b"{}")]
    while not (step := json.loads(got[-1]))["decide"]:
        [name] = [question["name"] for question in step["questions"]]
        sent.append(json.dumps({"case": step["case"], "answers": {name: row[name]}}).encode())
        got.append(client.post("/cases/answer", sent[-1]))
    return sent, got


def crowd(ports: list[int], rows: list[dict[str, float]], n_clients: int) -> tuple[tuple[float, float], ...]:
    """Seconds a request and the 99th of 100, of many who work through cases at once, and of the echo."""
    alone = Client(ports[0], [])
    sent, wanted = zip(*(work_through(alone, row) for row in rows))
    taken, same = list[float](), list[bool]()
    orders = [np.random.default_rng(seed).permutation(len(rows)).tolist() for seed in range(n_clients)]

    def work(order: list[int]) -> None:
        client = Client(ports[0], taken)
        same.extend(work_through(client, rows[i])[1] == wanted[i] for i in order)

    seconds = together([partial(work, order) for order in orders])
    if len(same) < n_clients * len(rows) or not all(same):
        raise ValueError(f"{sum(same)} of {n_clients * len(rows)} cases went as they go alone")
    ours = seconds / len(taken), float(np.percentile(taken, 99))
    return ours, rate(ports[1], [[("/next", body) for i in order for body in sent[i]] for order in orders])


def memory(port: int, process: int, names: list[str], n: int) -> None:
    """Print what a process takes up as it answers requests with values that do not come again."""
    rng, client = np.random.default_rng(0), Client(port, [])
    for done in range(n + 1):
        if done in {n // 50, n // 10, n // 4, n // 2, 3 * n // 4, n}:
            status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
            kilobytes = int(status.partition("VmRSS:")[2].split()[0])
            print(f"after {done:,} requests: {kilobytes / 1024:.1f} MB resident", flush=True)
        answers = dict(zip(names[: done % 4], rng.normal(size=4).tolist()))
        client.post("/next", json.dumps({"answers": answers}).encode())


def as_row(name: str, ours: tuple[float, float], theirs: tuple[float, float]) -> Row:
    """A row of seconds a request and the 99th of 100, ours and the echo's."""
    (seconds, p99), (peer, peer_p99) = ours, theirs
    told = f"{name}, {1 / seconds:.0f} requests a second (p99 {1e3 * p99:.1f} ms; "
    told += f"echo {1 / peer:.0f}, {1e3 * peer_p99:.1f} ms)"
    return Row(told, seconds, "FastAPI echo", peer, peer / seconds, None)


def main() -> None:
    """Measure, print and write."""
    options = parser(__doc__)
    options.add_argument("--memory", action="store_true", help="what the service keeps of 100,000 requests")
    arguments = options.parse_args()
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
        names = [clf.feature_name(column) for column in clf.order_.tolist()]
        try:
            if arguments.memory:
                memory(ports[0], processes[0].pid or 0, names, 1000 if arguments.quick else 100_000)
                return
            for n_answers in (0, 1, 3):
                # values as they come, so that nothing is answered from memory
                bodies = [
                    json.dumps({"answers": {name: float(X[name].iloc[i % len(X)]) for name in names[:n_answers]}})
                    for i in range(n)
                ]
                parts = [[("/next", body.encode()) for body in bodies[part::CLIENTS]] for part in range(CLIENTS)]
                for port in ports:
                    rate(port, [part[: n // 16] for part in parts])  # to warm up
                ours, theirs = [], []
                for _ in range(1 if arguments.quick else arguments.repeats):
                    ours.append(rate(ports[0], parts))
                    theirs.append(rate(ports[1], parts))
                rows.append(as_row(f"/next after {n_answers} answers", min(ours), min(theirs)))
            n_clients, n_cases = (4, 3) if arguments.quick else (CROWD, N_CASES)
            cases = X.iloc[:n_cases].to_dict("records")
            rows.append(as_row(f"{n_clients} clients x {n_cases} cases", *crowd(ports, cases, n_clients)))
        finally:
            for process in processes:
                process.terminate()
                process.join()
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
