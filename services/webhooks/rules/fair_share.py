"""How a dispatcher is shared between studios: the backlog of one must not delay the events of another."""

# Attempts in flight of all lanes of a studio together, as long as each lane may have the minimum.
STUDIO_WINDOW = 256
MIN_LANE_WINDOW = 2
# Out of the lanes that one process runs at once.
MAX_LANES_PER_STUDIO = 250


def lane_window(lanes_of_studio: int) -> int:
    """How many attempts a lane may have in flight.

    It depends only on the number of lanes, not on what the others do: a slow endpoint takes nothing from the
    other endpoints of its studio. The circuit breaker may allow less.
    """
    return max(MIN_LANE_WINDOW, STUDIO_WINDOW // max(1, lanes_of_studio))
