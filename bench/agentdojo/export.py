"""Writes what the bench case `agentdojo` reads: the tools of AgentDojo's four suites, and the ground-truth calls of their tasks.

    python3 bench/agentdojo/export.py CHECKOUT VERSION > FOLDER/agentdojo.json

CHECKOUT is a checkout of the AgentDojo benchmark, VERSION one of its versions, such as v1.2.1. Needs Python 3.10 or newer with
pydantic[email], pyyaml, docstring_parser, deepdiff and typing_extensions. Nothing of a model is loaded: the packages of the agents'
pipelines are replaced by empty ones, since tasks import their names alone. FOLDER is given to the bench as --sets.
"""

import datetime
import importlib.abc
import importlib.machinery
import json
import sys
from unittest.mock import MagicMock

UNUSED = ("agentdojo.agent_pipeline", "agentdojo.logging", "agentdojo.models")


class Unused(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the packages that no task runs, and gives them any name that is asked for."""

    def find_spec(self, name, path, target=None):
        if any(name == one or name.startswith(one + ".") for one in UNUSED):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = MagicMock(name=spec.name)
        module.__path__, module.__spec__, module.__name__ = [], spec, spec.name
        return module

    def exec_module(self, module):
        pass


def calls_of(task, environment):
    return [
        {"function": call.function, "args": json.loads(json.dumps(dict(call.args), default=str))}
        for call in task.ground_truth(environment)
    ]


class Day(str):
    """Some versions keep the calendar's day as a text, which a task takes for a date."""

    def isoformat(self):
        return datetime.date.fromisoformat(self).isoformat()


def suite_of(name, suite):
    environment = suite.load_and_inject_default_environment({})
    calendar = getattr(environment, "calendar", None)
    if isinstance(getattr(calendar, "current_day", None), str):
        calendar.current_day = Day(calendar.current_day)
    # A task may begin in an environment of its own.
    begun = lambda task: task.init_environment(environment.model_copy(deep=True))
    return {
        "name": name,
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters.model_json_schema()}
            for tool in suite.tools
        ],
        "userTasks": [{"id": id, "calls": calls_of(task, begun(task))} for id, task in suite.user_tasks.items()],
        "injectionTasks": [
            {"id": id, "goal": task.GOAL, "calls": calls_of(task, environment)}
            for id, task in suite.injection_tasks.items()
        ],
    }


def main():
    checkout, version = sys.argv[1:3]
    sys.meta_path.insert(0, Unused())
    sys.path.insert(0, checkout + "/src")
    from agentdojo.task_suite.load_suites import get_suites

    suites = [suite_of(name, suite) for name, suite in get_suites(version).items()]
    json.dump({"version": version, "suites": suites}, sys.stdout, indent=1)


main()
