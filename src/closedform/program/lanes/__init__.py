"""One state with its isomorphic limbs in lanes: numbers that have one value for each limb."""
