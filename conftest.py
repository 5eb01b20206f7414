"""What has no doctests to collect here: modules for tools or extras that are not installed."""

from importlib.util import find_spec

_PAGES = ("access", "admin_page", "app", "forms", "guards", "incoming", "pages", "rating_page")

collect_ignore = [
    *(
        []
        if find_spec("starlette") and find_spec("uvicorn")
        else [f"src/textassay/survey/{name}.py" for name in _PAGES]
    ),
    *([] if find_spec("evaluate") else ["src/textassay/adapters/evaluate.py"]),
]
