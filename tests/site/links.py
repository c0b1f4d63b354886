"""The links of a built site: files and headings that are not there, and whatever a page loads from elsewhere."""

import html.parser
import pathlib
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif values.get("src") or tag == "link" and values.get("href") and values.get("rel") != "canonical":
            self.loads.append(values.get("src") or values["href"])


def breaches(site):
    """(number of links, a line for each that is broken)."""
    pages = {path: Page(path) for path in sorted(pathlib.Path(site).rglob("*.html"))}
    count, found = 0, []
    for path, page in pages.items():
        # 404.html is for servers: its addresses begin at the server's root.
        if path.name == "404.html":
            continue
        name = path.relative_to(site)
        found += [f"{name}: loads {load}" for load in page.loads if urllib.parse.urlsplit(load).scheme not in ("", "data")]
        found += [f"{name}: loads {load}" for load in page.loads if load.startswith("//")]
        for link in [*page.links, *(load for load in page.loads if "//" not in load and not load.startswith("data:"))]:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.is_file():
                found.append(f"{name}: {link} is not there")
            elif anchor and not anchor.startswith("__") and target in pages and anchor not in pages[target].anchors:
                found.append(f"{name}: {link} has no such heading")
    return count, found
