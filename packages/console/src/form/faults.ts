import type { Shape } from "./read-schema.ts";

/** The JSON Pointer (RFC 6901) to a property or an item of the value at a pointer. */
export function pointerTo(pointer: string, step: string | number): string {
  return `${pointer}/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The steps of a JSON Pointer. */
function stepsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** One fault of arguments, as the service reports it: a missing property is reported at its parent, and `missing` names it. */
export type FormFault = { readonly pointer: string; readonly message: string; readonly missing?: string };

/** What is wrong, by the JSON Pointer of the field that says so. Empty stands for the form as a whole. */
export type PlacedFaults = ReadonlyMap<string, readonly string[]>;

/** Places each fault at its field; one within a cell of JSON, or at something that no field asks for, at what is nearest above it. */
export function placeFaults(shape: Shape, faults: readonly FormFault[]): PlacedFaults {
  const placed = new Map<string, string[]>();
  for (const fault of faults) {
    const { pointer, message } = placeOf(shape, fault);
    const messages = placed.get(pointer) ?? [];
    if (!messages.includes(message)) placed.set(pointer, [...messages, message]);
  }
  return placed;
}

/** The faults of fields that were left, or of which a part was, by their pointers; "" stands for all that is written. */
export function shownFaults(faults: PlacedFaults, left: ReadonlySet<string>): PlacedFaults {
  const isLeft = (pointer: string) =>
    [...left].some((one) => one === "" || one === pointer || one.startsWith(`${pointer}/`));
  return new Map([...faults].filter(([pointer]) => isLeft(pointer)));
}

/** Whether anything at or below a field is wrong. */
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
