"""Where source and image are published, as deploy/ says."""

from deploy.publish import published
from tests.deploy.tools import ROOT

IMAGE = published(ROOT)["image"]
SOURCE = published(ROOT)["source"]
