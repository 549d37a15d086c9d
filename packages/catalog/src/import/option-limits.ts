/** Maximum entries of each of the lists `only`, `except` and `overrides` of an import request. */
export const entriesMax = 1_000;
/** Maximum bytes of all options of an import together, as JSON: they are stored, and read again with the source of the toolkit. */
export const optionsBytesMax = 262_144;
