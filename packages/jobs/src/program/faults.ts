import type { Path, ProgramFault, ProgramFaultCode } from "./program.ts";

/** Collects the faults of one document. A pointer is cut to its longest part that exists there. */
export type FaultList = {
  add(code: ProgramFaultCode, path: Path, message: string, hint: string): void;
  readonly count: number;
  /** Whether a fault stands at a pointer or below it. */
  has(pointer: string): boolean;
  /** Every fault once, in the order of the document. */
  list(): ProgramFault[];
};

/** Writes a path as a JSON Pointer (RFC 6901). */
export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Reads a JSON Pointer as a path; indexes stay texts. */
export function pathOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A list of faults of a parsed document. */
export function createFaultList(document: unknown): FaultList {
  const found = new Map<string, { readonly position: readonly number[]; readonly fault: ProgramFault }>();
  const pointers = new Set<string>();
  return {
    add(code, path, message, hint) {
      const { existing, position } = locate(document, path);
      const fault = { code, pointer: pointerOf(existing), message, hint };
      const key = JSON.stringify([code, fault.pointer, message]);
      if (found.has(key)) return;
      found.set(key, { position, fault });
      for (let length = existing.length; length > 0; length--) pointers.add(pointerOf(existing.slice(0, length)));
    },
    has(pointer) {
      return pointers.has(pointer);
    },
    get count() {
      return found.size;
    },
    list() {
      return [...found.values()].sort((a, b) => compare(a.position, b.position)).map(({ fault }) => fault);
    },
  };
}

/** The part of a path that exists, and where each of its steps stands among its siblings. */
function locate(document: unknown, path: Path): { existing: (string | number)[]; position: number[] } {
  const existing: (string | number)[] = [];
  const position: number[] = [];
  let value = document;
  for (const step of path) {
    if (typeof value !== "object" || value === null) break;
    const index = Array.isArray(value) ? Number(step) : orderOf(value).get(String(step));
    if (index === undefined) break;
    const child: unknown = Array.isArray(value) ? value[index] : (value as Record<string, unknown>)[String(step)];
    if (child === undefined) break;
    existing.push(step);
    position.push(index);
    value = child;
  }
  return { existing, position };
}

const orders = new WeakMap<object, ReadonlyMap<string, number>>();

/** Where each name of an object stands; kept, because a faulty document asks again and again. */
function orderOf(object: object): ReadonlyMap<string, number> {
  const known = orders.get(object);
  if (known !== undefined) return known;
  const made = new Map(Object.keys(object).map((name, index) => [name, index]));
  orders.set(object, made);
  return made;
}

/** Document order: what stands before, then what contains. */
function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, step] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (step !== other) return step - other;
  }
  return a.length - b.length;
}
