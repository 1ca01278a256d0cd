"""What could have been found is not simulated: it takes longer than all else of small data."""

from tests.engine.asking import planting as planting
