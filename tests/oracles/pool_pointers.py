"""Pointers that clients map (spec 5, R25-R27): what a request's answer costs on top of the service."""


def answered(rows, options):
    """When each application has its answer, from the service's rows."""
    result = []
    for row in rows:
        late = 0
        if options.pointer_mode == "mapped_pointer":
            if row["outcome"] in ("cached", "physical", "stitched"):
                late = options.map_ns
            elif row["outcome"] == "released":
                late = options.unmap_ns
        result.append(row["done"] + late)
    return result
