"""The parts that a cluster on one machine is made of."""
