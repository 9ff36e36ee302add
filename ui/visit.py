"""What every page about a graph begins with: who asks, the graph that is open, and a retriever that sees as they do."""

from __future__ import annotations

from dataclasses import dataclass

from kgcore import KnowledgeGraphRetriever
from kgcore.config import Config, load_config
from kgcore.types import Description
from ui import graphs, identity, resources, runs
from ui.identity import Asker
from ui.resources import Graph


@dataclass(frozen=True, kw_only=True)
class Visit:
    """A person before a graph. `visible` is what of it they may see."""

    config: Config
    asker: Asker
    graph: Graph
    retriever: KnowledgeGraphRetriever
    visible: Description


def visit() -> Visit | None:
    """This run of the page's; None, after saying why, where nobody may ask or no graph opens. Raises KgError.

    Runs of before are forgotten where another asks, of another graph or other data.
    """
    config = load_config()
    asker = identity.gate(config)
    if asker is None:
        runs.forget()
        return None
    graph = graphs.open_chosen(config, administrator=asker.administrator)
    if graph is None:
        return None
    retriever = resources.retriever_for(graph, identity.locked_filter(asker, demo=graph.demo), config)
    visible = graph.store.describe(retriever.filter)
    runs.enter(graph.url, retriever.filter.key, visible.data_version)
    return Visit(config=config, asker=asker, graph=graph, retriever=retriever, visible=visible)
