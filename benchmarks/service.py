"""Requests a second of the service, and how long the slowest hundredth takes, beside a bare echo of FastAPI.

    python benchmarks/service.py [--json FILE] [--quick] [--memory]

Each server runs in a process of its own, with uvicorn; clients on a few kept connections ask one thing after the other
and in turn of the two. A request is what to ask next after so many answers, of ETANA on 30 measurements. The peer is an
application that reads a body of JSON and gives it back. ``ours_s`` and ``peer_s`` are seconds a request, all together.
In the last row, 32 clients at once work through the same 200 cases each, in orders of their own, from the first
question to the decision; what differs from the answers to one client alone is an error. The echo gets the same. Each
row comes twice, the second time with seconds of the server's processor, which other work on the machine leaves alone.
With ``--memory`` the script tells instead what the service keeps of 100,000 requests with different values.
"""

from __future__ import annotations

import http.client
import json
import math
import multiprocessing
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

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

    def close(self) -> None:
        """End the connection."""
        self.connection.close()


def together(tasks: list[Callable[[], None]]) -> float:
    """Seconds that tasks take, each in a thread of its own."""
    threads = [threading.Thread(target=task) for task in tasks]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


class Server(NamedTuple):
    """Where a server listens, and its process."""

    port: int
    process: int

    def processor_seconds(self) -> float:
        """Seconds of the processor so far; NaN where the system does not say."""
        with suppress(OSError):
            numbers = Path(f"/proc/{self.process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")
        return math.nan


class Rate(NamedTuple):
    """Seconds a request, those that 99 of 100 stay below, and those of the server's processor."""

    seconds: float
    p99: float
    processor: float


def rate(server: Server, parts: list[list[tuple[str, bytes]]]) -> Rate:
    """The rate of clients that ask one thing after the other."""
    taken, n, before = list[float](), sum(map(len, parts)), server.processor_seconds()

    def ask(part: list[tuple[str, bytes]]) -> None:
        with closing(Client(server.port, taken)) as client:
            for path, body in part:
                client.post(path, body)

    seconds = together([partial(ask, part) for part in parts])
    if len(taken) < n:
        raise ValueError("a request was not answered")
    return Rate(seconds / n, float(np.percentile(taken, 99)), (server.processor_seconds() - before) / n)


def work_through(client: Client, row: dict[str, float]) -> tuple[list[bytes], list[bytes]]:
    """What is sent and what comes back of one case, from the first question to the decision."""
    sent, got = [b"{}"], [client.post("/cases", b"{}")]
    while not (step := json.loads(got[-1]))["decide"]:
        [name] = [question["name"] for question in step["questions"]]
        sent.append(json.dumps({"case": step["case"], "answers": {name: row[name]}}).encode())
        got.append(client.post("/cases/answer", sent[-1]))
    return sent, got


def crowd(servers: list[Server], rows: list[dict[str, float]], n_clients: int) -> tuple[Rate, Rate]:
    """The rate of many who work through cases at once, and of the echo."""
    with closing(Client(servers[0].port, [])) as alone:
        sent, wanted = zip(*(work_through(alone, row) for row in rows))
    taken, same = list[float](), list[bool]()
    orders = [np.random.default_rng(seed).permutation(len(rows)).tolist() for seed in range(n_clients)]

    def work(order: list[int]) -> None:
        with closing(Client(servers[0].port, taken)) as client:
            same.extend(work_through(client, rows[i])[1] == wanted[i] for i in order)

    before = servers[0].processor_seconds()
    seconds = together([partial(work, order) for order in orders])
    processor = servers[0].processor_seconds() - before
    if len(same) < n_clients * len(rows) or not all(same):
        raise ValueError(f"{sum(same)} of {n_clients * len(rows)} cases went as they go alone")
    ours = Rate(seconds / len(taken), float(np.percentile(taken, 99)), processor / len(taken))
    return ours, rate(servers[1], [[("/next", body) for i in order for body in sent[i]] for order in orders])


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


def as_rows(name: str, ours: list[Rate], theirs: list[Rate]) -> list[Row]:
    """Rows of seconds a request and of the processor's, ours and the echo's, the least of the repeats."""
    one, other = min(ours), min(theirs)
    told = f"{name}, {1 / one.seconds:.0f} requests a second (p99 {1e3 * one.p99:.1f} ms; "
    told += f"echo {1 / other.seconds:.0f}, {1e3 * other.p99:.1f} ms)"
    busy, idle = (min(rate.processor for rate in rates) for rates in (ours, theirs))
    pairs = ((told, one.seconds, other.seconds), (f"{name}, processor of the server", busy, idle))
    # of few requests the system may count no tick
    return [Row(text, a, "FastAPI echo", b, b / a, None) for text, a, b in pairs if a > 0 < b]


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
        servers, processes = list[Server](), []
        for model in (str(path), None):
            with socket.socket(proto=socket.IPPROTO_TCP) as listening:  # by which asyncio tells that nothing is to wait
                listening.bind(("127.0.0.1", 0))
                listening.listen(100)
                processes.append(multiprocessing.get_context("fork").Process(target=serve, args=(model, listening)))
                processes[-1].start()
                servers.append(Server(listening.getsockname()[1], processes[-1].pid or 0))
        names = [clf.feature_name(column) for column in clf.order_.tolist()]
        try:
            if arguments.memory:
                memory(*servers[0], names, 1000 if arguments.quick else 100_000)
                return
            for n_answers in (0, 1, 3):
                # values as they come, so that nothing is answered from memory
                bodies = [
                    json.dumps({"answers": {name: float(X[name].iloc[i % len(X)]) for name in names[:n_answers]}})
                    for i in range(n)
                ]
                parts = [[("/next", body.encode()) for body in bodies[part::CLIENTS]] for part in range(CLIENTS)]
                for server in servers:
                    rate(server, [part[: n // 16] for part in parts])  # to warm up
                ours, theirs = [], []
                for _ in range(1 if arguments.quick else arguments.repeats):
                    ours.append(rate(servers[0], parts))
                    theirs.append(rate(servers[1], parts))
                rows += as_rows(f"/next after {n_answers} answers", ours, theirs)
            n_clients, n_cases = (4, 3) if arguments.quick else (CROWD, N_CASES)
            cases = X.iloc[:n_cases].to_dict("records")
            rows += as_rows(
                f"{n_clients} clients x {n_cases} cases", *([one] for one in crowd(servers, cases, n_clients))
            )
        finally:
            for process in processes:
                process.terminate()
                process.join()
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
