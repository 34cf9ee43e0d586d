"""Fails on public declarations without a comment: classes, concepts, free functions, constants and types, and
members that take arguments. Of functions with one name, a comment at one of them is enough, since it speaks
for the overloads below it. Constructors, operators, data members and members without arguments are taken to
say by their names what they are.

usage: reference.py FOLDER     the XML that Doxygen wrote
"""
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def has_comment(element: ElementTree.Element) -> bool:
    return any("".join(part.itertext()).strip()
               for name in ("briefdescription", "detaileddescription") for part in element.findall(name))


def place_of(element: ElementTree.Element) -> str:
    at = element.find("location")
    return "" if at is None else f"{at.get('file')}:{at.get('line')}: "


def needs_comment(member: ElementTree.Element, is_free: bool) -> bool:
    name, kind = member.findtext("name", ""), member.get("kind")
    if member.get("prot") != "public" or not name or name.startswith(("operator", "~", "@")):
        return False
    if is_free:
        return kind in {"function", "variable", "enum", "typedef"}
    return kind == "function" and name[0].islower() and member.find("param") is not None


def uncommented_members(compound: ElementTree.Element) -> list[str]:
    """The names of which no declaration has a comment, with a place of each."""
    owner = compound.findtext("compoundname", "")
    commented, places = set(), {}
    for section in compound.findall("sectiondef"):
        for member in section.findall("memberdef"):
            name = member.findtext("name")
            if has_comment(member):
                commented.add(name)
            if needs_comment(member, compound.get("kind") == "namespace"):
                places.setdefault(name, place_of(member))
    return [f"{place}{owner}::{name}" for name, place in places.items() if name not in commented]


def complaints(path: pathlib.Path) -> list[str]:
    found = []
    for compound in ElementTree.parse(path).getroot().iter("compounddef"):
        kind = compound.get("kind")
        if kind not in {"class", "struct", "concept", "namespace"} or compound.get("prot", "public") != "public":
            continue
        if kind != "namespace" and not has_comment(compound):
            found.append(place_of(compound) + compound.findtext("compoundname", ""))
        found += uncommented_members(compound)
    return found


def main(folder: pathlib.Path) -> int:
    pages = [path for path in sorted(folder.glob("*.xml")) if path.name != "index.xml"]
    wrong = [text for path in pages for text in complaints(path)]
    for text in wrong:
        print(f"no comment: {text}")
    print(f"{len(wrong)} of the public declarations on {len(pages)} pages have no comment")
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
