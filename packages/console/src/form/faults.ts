import type { Shape } from "./read-schema.ts";

/** Returns the JSON Pointer (RFC 6901) to a property or an item of the value at `pointer`. */
export function pointerTo(pointer: string, step: string | number): string {
  return `${pointer}/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Returns the steps of a JSON Pointer. */
function stepsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** One fault of the arguments, as the service reports it. If a property is missing, `pointer` is its parent and `missing` is its name. */
export type FormFault = { readonly pointer: string; readonly message: string; readonly missing?: string };

/** Fault texts by the JSON Pointer of the field that shows them. The empty pointer belongs to faults of the whole form. */
export type PlacedFaults = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the faults by the field that shows them. A fault inside a JSON cell, or at a value without a field, is shown at the nearest
 * parent that has a field.
 */
export function placeFaults(shape: Shape, faults: readonly FormFault[]): PlacedFaults {
  const placed = new Map<string, string[]>();
  for (const fault of faults) {
    const { pointer, message } = placeOf(shape, fault);
    const messages = placed.get(pointer) ?? [];
    if (!messages.includes(message)) placed.set(pointer, [...messages, message]);
  }
  return placed;
}

/**
 * Returns the faults of fields that the user has left. `left`: the pointers of those fields. A field inside a left field also counts as
 * left; "" in `left` means every field.
 */
export function shownFaults(faults: PlacedFaults, left: ReadonlySet<string>): PlacedFaults {
  const isLeft = (pointer: string) =>
    [...left].some((one) => one === "" || one === pointer || one.startsWith(`${pointer}/`));
  return new Map([...faults].filter(([pointer]) => isLeft(pointer)));
}

/** True if the field or any field inside it has a fault. */
export function isAtFault(faults: PlacedFaults, pointer: string): boolean {
  return [...faults.keys()].some((key) => key === pointer || key.startsWith(`${pointer}/`));
}

function placeOf(shape: Shape, { pointer, message, missing = "" }: FormFault): { pointer: string; message: string } {
  const target = missing === "" ? pointer : pointerTo(pointer, missing);
  const says = missing === "" ? message : "is required";
  let at = "";
  let here: Shape | undefined = shape;
  const steps = stepsOf(target);
  for (const [index, step] of steps.entries()) {
    here = partOf(here, step);
    if (here === undefined) return { pointer: at, message: `${steps.slice(index).join(".")} ${says}` };
    at = pointerTo(at, step);
  }
  return { pointer: at, message: says };
}

function partOf(shape: Shape | undefined, step: string): Shape | undefined {
  if (shape?.type === "list") return /^\d+$/.test(step) ? shape.item : undefined;
  return shape?.type === "object" ? shape.fields.find(({ name }) => name === step)?.shape : undefined;
}
