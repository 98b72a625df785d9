"""The kinds of models whose quantities leave."""

from collections.abc import Mapping
from types import MappingProxyType

from closedform.applications.export.sources.elastic_joints import ElasticJointsSource
from closedform.applications.export.sources.flexible_arms import FlexibleArmSource
from closedform.applications.export.sources.robots import RobotSource
from closedform.applications.export.sources.source import Source

SOURCES: Mapping[type, type[Source]] = MappingProxyType({source.of.model: source for source in (
    RobotSource, FlexibleArmSource, ElasticJointsSource,
)})
"""Every source by the class of its models."""
