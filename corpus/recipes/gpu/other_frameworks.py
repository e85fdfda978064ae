"""GPU memory runs out in JAX or in CuPy.

Needs: one GPU, jax or cupy. Run: python train.py {jax|cupy}
"""

import sys

if sys.argv[1] == "jax":
    import jax.numpy as jnp

    table = jnp.zeros((64, 1024, 1024, 1024), dtype=jnp.float32)
    print(table.sum(), flush=True)
else:
    import cupy

    table = cupy.zeros((64, 1024, 1024, 1024), dtype=cupy.float32)
    print(table.sum(), flush=True)
