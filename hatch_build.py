"""What a wheel has in another form than the source: packed scripts and sheets, and languages as JSON."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    """Hatchling calls it by this name."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the files of a wheel in place of those of the source; an editable one is the source itself."""
        if version == "editable":
            return
        import rcssmin  # noqa: F401 - without them the package would quietly leave its files as they are
        import rjsmin  # noqa: F401

        sys.path.insert(0, self.root)
        from convviz.facts.i18n.current_language import READY
        from convviz.facts.i18n.read_po import read
        from convviz.web.minify import packed_file, packed_sheet

        self.made = tempfile.TemporaryDirectory()  # goes with the hook

        def give(path: Path, text: str) -> None:
            file = Path(self.made.name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            build_data["force_include"][str(file)] = path.as_posix()

        sources = [path.relative_to(self.root) for path in Path(self.root, "convviz").rglob("*")]
        for path in sources:
            text = Path(self.root, path).read_text(encoding="utf-8") if path.suffix in (".js", ".css", ".po") else ""
            ours = path.is_relative_to("convviz/web") or path.is_relative_to("convviz/features")
            if path.suffix == ".css" and ours:
                give(path, packed_sheet(text))
            if path.suffix == ".js" and ours and "vendor" not in path.parts:
                give(path, packed_file(text))
            if path.suffix == ".po":
                give(path.with_suffix(READY), json.dumps(read(path.stem, text), ensure_ascii=False))
