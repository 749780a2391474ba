"""Workers on one campaign, killed at random and replaced: run as a script, watched by a test.

``swarm.py URL NAME FOLDER WORKERS KILLS SEED``: every worker is killed KILLS times (SIGKILL), then
all work on until the campaign ends. What a worker was acknowledged it writes to a journal in
FOLDER, on the disk before it goes on. Printed at the end: the kills while there was work to do.
"""

import os
import random
import signal
import sys
import time
import zlib
from pathlib import Path

from bayes_passk.campaign import Campaign


def verdict(attempt):
    return zlib.crc32(attempt.encode()) % 3 == 0


def work(url, name, journal):
    campaign = Campaign.open(url, name)
    with journal.open("a") as file:
        while campaign.finished() is None:
            for attempt in campaign.ask(3, worker=str(os.getpid())):
                passed = verdict(attempt.id)
                answer = campaign.tell(attempt.id, passed)
                file.write(f"{attempt.id} {passed} {answer}\n")
                file.flush()
                os.fsync(file.fileno())
            time.sleep(0.001)


def start(url, name, folder, number):
    # Forked, so that a new worker costs no imports; each opens the store by itself.
    if (process := os.fork()) == 0:
        try:
            work(url, name, folder / f"journal{number}")
        except BaseException as error:
            (folder / f"crash{number}").write_text(f"{type(error).__name__}: {error}")
            os._exit(1)
        os._exit(0)
    return process


def main(url, name, folder, n_workers, n_kills, seed):
    rng = random.Random(seed)
    workers = {number: start(url, name, folder, number) for number in range(n_workers)}
    victims = [number for number in workers for _ in range(n_kills)]
    rng.shuffle(victims)
    killed = 0
    for number in victims:
        time.sleep(rng.uniform(0.0, 0.08))
        os.kill(workers[number], signal.SIGKILL)
        _, status = os.waitpid(workers[number], 0)
        killed += os.WIFSIGNALED(status)
        workers[number] = start(url, name, folder, number)
    for process in workers.values():
        os.waitpid(process, 0)
    print(killed)


if __name__ == "__main__":
    url, name, folder, *numbers = sys.argv[1:]
    main(url, name, Path(folder), *map(int, numbers))
