import { stepsOf } from "../json/locate.ts";
import type { Shape } from "./read-schema.ts";

/** Returns `pointer`, a JSON Pointer (RFC 6901), with one more step. `step`: a property's name or an item's index. */
export function pointerTo(pointer: string, step: string | number): string {
  return `${pointer}/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/**
 * One error in the arguments, as the service reports it. If a property is missing, `pointer` is the pointer of its parent object, and
 * `missing` is its name.
 */
export type FormFault = { readonly pointer: string; readonly message: string; readonly missing?: string };

/** Error texts by the JSON Pointer of the field that shows them. The empty pointer has the errors of the whole form. */
export type PlacedFaults = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the errors by the field that shows them. An error inside a JSON field, or at a value that has no field, is shown at the nearest
 * field around it.
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
 * Returns the errors to show in a form: only those of fields that the user has left, so that no error appears while the user types. `left`:
 * JSON Pointers of these fields; fields inside them count too. "" means every field.
 */
export function shownFaults(faults: PlacedFaults, left: ReadonlySet<string>): PlacedFaults {
  const isLeft = (pointer: string) =>
    [...left].some((one) => one === "" || one === pointer || one.startsWith(`${pointer}/`));
  return new Map([...faults].filter(([pointer]) => isLeft(pointer)));
}

/** True if a form field, or any field inside it, has an error. */
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
