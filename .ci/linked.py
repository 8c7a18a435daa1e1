"""The crates that our programs and the C library contain, as `cargo metadata` knows them; for components and
licences."""

PROGRAMS = {
    "phaselock-client", "phaselock-server", "phaselock-bots", "phaselock-directory", "phaselock-lab", "phaselock-c",
}


def linked(metadata, programs):
    """Returns the packages by their ids, and the ids of those that each one needs: of everything that these
    programs depend on, on the platforms of the metadata, except build and dev dependencies."""
    needs = {it["id"]: normal(it) for it in metadata["resolve"]["nodes"]}
    packages = {it["id"]: it for it in metadata["packages"]}
    found, waiting = set(), [it["id"] for it in packages.values() if it["name"] in programs]
    while waiting:
        package = waiting.pop()
        if package not in found:
            found.add(package)
            waiting.extend(needs[package])
    return {it: packages[it] for it in found}, {it: needs[it] for it in found}


def normal(node):
    """Returns a node's normal dependencies, without build and dev dependencies."""
    kinds = ((it["pkg"], {kind["kind"] for kind in it["dep_kinds"]}) for it in node["deps"])
    return {package for package, kind in kinds if None in kind}
