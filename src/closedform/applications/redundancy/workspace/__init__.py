"""Maps of a workspace: every target of a grid solved to a certified optimum, or why it is not.

    grids       places and orientations, made when they are needed
    ascents     many climbs in step
    seeds       certified optima all over the workspace, to start from
    maps        `map`: blocks of targets, by threads or a Dask client, into memory, Zarr or Parquet
    pictures    slices, isosurface, histogram
"""
