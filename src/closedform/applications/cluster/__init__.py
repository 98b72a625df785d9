"""Work in blocks: over the threads of this machine, or over the workers of a Dask client.

    blocks      one function over many blocks: bounded, in order, with a bar, errors by name
    client      blocks at the workers of a Dask client: sent, tried again, done there
    tables      where rows of numbers go, block by block: memory, Zarr, Parquet; and what is there
"""
