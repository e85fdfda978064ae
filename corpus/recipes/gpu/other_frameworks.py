"""GPU memory runs out in JAX or in CuPy; or JAX trains a little and all is well.

Needs: one GPU, jax or cupy. Run: python train.py {jax|jaxhealthy|cupy}
"""

import sys

if sys.argv[1] == "jax":
    import jax.numpy as jnp

    table = jnp.zeros((64, 1024, 1024, 1024), dtype=jnp.float32)
    print(table.sum(), flush=True)
elif sys.argv[1] == "jaxhealthy":
    import jax

    print(jax.devices(), flush=True)
    weights = jax.numpy.ones((512, 512))
    step = jax.jit(lambda w: w - 0.1 * jax.grad(lambda v: (v @ v).mean())(w))
    for i in range(5):
        weights = step(weights)
        print(f"step {i} mean {weights.mean():.4f}", flush=True)
else:
    import cupy

    table = cupy.zeros((64, 1024, 1024, 1024), dtype=cupy.float32)
    print(table.sum(), flush=True)
