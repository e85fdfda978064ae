"""Records -> hits. Once this package is loaded Python binds it as `troubleshoot.scan`, over the public function of
that name; so it can be called as the function is, and `troubleshoot.scan("job.log")` works the second time too."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """This package, called as `troubleshoot.scanning.scan` is."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from troubleshoot.scanning import scan  # late: the front end imports the engine, which imports this

        return scan(*args, **kwargs)


sys.modules[__name__].__class__ = _CallablePackage
