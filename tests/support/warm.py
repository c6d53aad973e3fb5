"""Runs scripts in processes that have torch and the like imported already.

Most of a short training is `import torch`, `import accelerate` and the launcher. A server imports
them once, and forks: a run of 12 steps takes a second then, and its numbers are the same. What a
process draws from the system's randomness is its own again. Some runs stay real all the same, each
way of starting among them.

`warm.py server SOCKET` is that server, and `drivers/warm_python` a stand-in for Python that asks
it. Projects have it as `sys.executable`, so that what their tests launch is warm, too.
"""

import array
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time

SOCKET = "WARM_SOCKET"  # a variable of the environment: where the server listens
PYTHON = "WARM_PYTHON"  # another: the Python that is real
HERE = os.path.abspath(__file__)
STAND_IN = os.path.join(os.path.dirname(HERE), "drivers", "warm_python")
MODULES = """
    torch torch.distributed torch.utils.data torch.utils.tensorboard torch._dynamo
    torch.distributed.checkpoint torch.distributed.fsdp torch.distributed.tensor
    accelerate accelerate.utils accelerate.optimizer accelerate.scheduler accelerate.tracking
    numpy pandas matplotlib.figure matplotlib.backends.backend_agg safetensors.torch tqdm.auto
    sklearn.datasets sklearn.model_selection PIL.Image torchmetrics torchmetrics.classification
    transformers transformers.models.roberta.modeling_roberta transformers.models.gpt2.modeling_gpt2
    transformers.models.auto.modeling_auto tokenizers datasets schedulefree pytest _pytest.python
    pdb unittest.mock optuna optuna.importance optuna.visualization.matplotlib
    optuna.storages._rdb.storage optuna.storages._rdb.models sqlalchemy.dialects.sqlite
"""
TORCHRUN = ("-m", "torch.distributed.run", "--standalone")


# asking


def prepare(folder):
    """Say where the server will listen, for this process and those that it starts."""
    os.environ[SOCKET] = os.path.join(folder, "socket")
    os.environ[PYTHON] = sys.executable


def begin(environment):
    """Start the server, which takes a while, unless it is started.

    `environment` is that of all runs, as far as what is imported looks at it.
    """
    path = os.environ[SOCKET]
    try:
        os.mkdir(f"{path}.started")
    except FileExistsError:
        pass
    else:
        command = [sys.executable, HERE, "server", path]
        environment = {**environment, "HF_HOME": f"{path}.hf"}  # read when modules are imported
        with open(f"{path}.log", "wb") as log:
            subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def python(environment):
    """A stand-in for Python, with a server behind it: the first who asks starts that."""
    begin(environment)
    path = os.environ[SOCKET]
    for _ in range(3000):  # on a machine that is busy
        if os.path.exists(path):
            return STAND_IN
        time.sleep(0.1)
    raise TimeoutError("the server of tests/support/warm.py does not start")


def understands(arguments):
    """Whether the server can run `python ARGUMENTS`."""
    return (
        tuple(arguments[:3]) == TORCHRUN
        or arguments[:2] == ["-m", "pytest"]
        or arguments[:1] == ["-c"]
        or (len(arguments) > 0 and arguments[0].endswith(".py"))
    )


def stand_in(arguments):
    """Do what `python ARGUMENTS` does."""
    if not understands(arguments):
        os.execv(os.environ[PYTHON], [os.environ[PYTHON], *arguments])
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(os.environ[SOCKET])
        request = json.dumps([arguments, os.getcwd(), dict(os.environ)]).encode()
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
        asked.sendmsg([len(request).to_bytes(8, "big")], rights)
        asked.sendall(request)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _: asked.sendall(bytes([number])))
        status = int(asked.recv(64) or b"1")
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


# answering


def serve(path):
    """Import what takes long, then fork for each request."""
    import gc
    import importlib

    for name in MODULES.split():
        try:
            importlib.import_module(name)
        except ImportError:  # of a package that only some projects need
            continue
    gc.collect()
    gc.freeze()  # so that children do not copy what they do not use
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{path}.new")
        listening.listen(64)
        os.rename(f"{path}.new", path)
        while os.path.exists(path):  # in a folder that goes with the tests
            if not select.select([listening], [], [], 5)[0]:
                continue
            asked, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                supervise(asked)
                os._exit(0)
            asked.close()


def supervise(asked):
    """Fork the processes of one run, pass on signals, and say how they ended."""
    head, rights, _, _ = asked.recvmsg(8, socket.CMSG_SPACE(3 * array.array("i").itemsize))
    files = array.array("i")
    files.frombytes(rights[0][2])
    size, data = int.from_bytes(head, "big"), b""
    while len(data) < size:
        data += asked.recv(size - len(data))
    arguments, cwd, environment = json.loads(data)
    os.setsid()
    count, port = 1, 0
    if tuple(arguments[:3]) == TORCHRUN:
        count, arguments = int(arguments[3].partition("=")[2]), arguments[4:]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    children = {}
    for rank in range(count):
        child = os.fork()
        if child == 0:
            asked.close()
            for number, file in enumerate(files):
                os.dup2(file, number)
            if port:
                environment |= ranks(rank, count, port)
            run(arguments, cwd, environment)
        children[os.pidfd_open(child)] = child
    for file in {*files}:
        os.close(file)
    asked.sendall(str(wait(asked, children)).encode())


def ranks(rank, count, port):
    """What torchrun tells a process."""
    told = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count}
    told |= {"GROUP_RANK": 0, "ROLE_RANK": rank, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    return {name: str(value) for name, value in told.items()}


def wait(asked, children):
    """The status of a run: that of its only process, or 1 if one of several failed.

    As torchrun does, the others are ended as soon as one has failed, and several are killed 30
    seconds after a SIGTERM, which they may ignore while they wait for each other.
    """
    statuses = []
    several = len(children) > 1
    listened, patience = [asked], None
    while children:
        ready, _, _ = select.select([*children, *listened], [], [], patience)
        if not ready:
            end(children, signal.SIGKILL)
            patience = None
        for handle in ready:
            if handle is asked:
                numbers = asked.recv(16)
                if not numbers:
                    listened = []  # whoever asked has ended
                for number in numbers or [signal.SIGKILL]:
                    end(children, number)
                    if several and number == signal.SIGTERM:
                        patience = 30
            elif handle in children:
                _, status = os.waitpid(children.pop(handle), 0)
                os.close(handle)
                statuses.append(os.waitstatus_to_exitcode(status))
                if statuses[-1]:
                    end(children, signal.SIGTERM)
                    patience = 30 if several else None
    return int(any(statuses)) if several else statuses[0]


def end(children, number):
    for child in children.values():
        os.kill(child, number)


def run(arguments, cwd, environment):
    """Be a fresh process that runs `python ARGUMENTS`. Does not return."""
    import atexit
    import random
    import runpy
    import threading
    import traceback

    import numpy

    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    random.seed()
    numpy.random.seed()
    sys.executable = STAND_IN
    sys.argv = arguments
    folders = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[1:1] = [folder for folder in folders if folder and folder not in sys.path]
    status = 0
    try:
        if arguments[0] == "-m":
            sys.path[0] = cwd
            sys.argv = arguments[1:]
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        elif arguments[0] == "-c":
            sys.path[0] = ""
            sys.argv = ["-c", *arguments[2:]]
            exec(compile(arguments[1], "<string>", "exec"), vars(sys.modules["__main__"]))
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    finally:
        try:
            threading._shutdown()
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)


if __name__ == "__main__":
    if sys.argv[1] == "server":
        serve(sys.argv[2])
    else:
        sys.exit(stand_in(sys.argv[2:]))
