import { count, type FaultText, type PartedText, text } from "@svc/core";
import { type Path, pointerOf } from "./json.ts";

/** Most faults that are listed; the rest is counted. */
const programFaultsMax = 500;

/** A kind of fault: exactly the PROGRAM_* reasons of SubmitJob. */
export type ProgramFaultCode =
  | "PROGRAM_TOO_LARGE"
  | "PROGRAM_MALFORMED"
  | "PROGRAM_REFERENCE_INVALID"
  | "PROGRAM_TOOL_UNKNOWN"
  | "PROGRAM_TOOL_NOT_CALLABLE"
  | "PROGRAM_ACCOUNT_MISSING"
  | "PROGRAM_ENTITY_BOUND"
  | "PROGRAM_TOOL_NOT_GRANTED"
  | "PROGRAM_ARGUMENT_INVALID"
  | "PROGRAM_SENSITIVE_LITERAL"
  | "PROGRAM_SECRET_UNKNOWN"
  | "PROGRAM_HOST_NOT_ALLOWED"
  | "PROGRAM_CONFIRM_MISSING"
  | "PROGRAM_EXPRESSION_INVALID"
  | "PROGRAM_TEMPLATE_LITERAL"
  | "PROGRAM_POINT_INVALID"
  | "PROGRAM_CONTACT_UNKNOWN"
  | "PROGRAM_LIMIT_INVALID";

/** A kind of note: exactly the reasons of ProgramNote. */
export type NoteCode =
  | "PAGES_UNREAD"
  | "SKIP_LEAVES_WRITES"
  | "FIELD_UNVERIFIED"
  | "VALUE_UNLISTED"
  | "SAGA_UNDOES_NOTHING"
  | "ZONE_DEFAULT"
  | "ENTITY_UNHEARD";

/** One thing wrong with a document. `pointer` is a JSON Pointer that resolves in it; `hint` says what would be right. */
export type DocumentFault<Code extends string> = {
  readonly code: Code;
  readonly pointer: string;
  readonly message: string;
  readonly hint: FaultText;
};

/** One thing wrong with a program. */
export type ProgramFault = DocumentFault<ProgramFaultCode>;

/** One thing that a document may not mean, for which it is not refused. `hint` says what would be right if it does not. */
export type ProgramNote = DocumentFault<NoteCode>;

/** Most notes of one document. */
const notesMax = 100;

/**
 * Collects the faults of one document, the first 500 of them; more are counted. A pointer is cut to its longest part that exists
 * there and has not more than 1,000 characters.
 */
export type FaultList<Code extends string = ProgramFaultCode> = {
  add(code: Code, path: Path, message: string, hint: FaultText): void;
  /** Gives a fault that was added another hint: what would be right may depend on what was not looked at by then. */
  rehint(code: Code, path: Path, message: string, hint: FaultText): void;
  /** Notes a fault of a rule that is younger than programs in the store: it is none before `takeYounger`, which stored ones never meet. */
  addYounger(code: Code, path: Path, message: string, hint: FaultText): void;
  /** Makes faults of those that were noted, and of those to come. */
  takeYounger(): void;
  /** Adds a note, up to 100 of them. A note is no fault. */
  note(code: NoteCode, path: Path, message: string, hint: FaultText): void;
  /** Returns every note, once, in the order of the document. */
  notes(): ProgramNote[];
  /** Counts faults that are not looked at one by one. */
  omit(count: number): void;
  readonly count: number;
  /** Whether a fault stands at a pointer or below it. */
  has(pointer: string): boolean;
  /** Every fault that was collected, once, in the order of the document. */
  list(): DocumentFault<Code>[];
};

/** A list of faults of a parsed document. */
export function createFaultList<Code extends string = ProgramFaultCode>(document: unknown): FaultList<Code> {
  const found = new Map<string, { readonly position: readonly number[]; fault: DocumentFault<Code> }>();
  const noted = new Map<string, { readonly position: readonly number[]; readonly note: ProgramNote }>();
  const pointers = new Set<string>();
  let omitted = 0;
  /** Undefined once they are faults like all others. */
  let younger: Parameters<FaultList<Code>["add"]>[] | undefined = [];
  const list: FaultList<Code> = {
    add(code, path, message, hint) {
      if (found.size >= programFaultsMax) {
        omitted++;
        return;
      }
      const { existing, position } = locate(document, path);
      const fault = { code, pointer: pointerOf(existing), message, hint };
      const key = JSON.stringify([code, fault.pointer, message]);
      if (found.has(key)) return;
      found.set(key, { position, fault });
      for (let length = existing.length; length > 0; length--) pointers.add(pointerOf(existing.slice(0, length)));
    },
    rehint(code, path, message, hint) {
      const pointer = pointerOf(locate(document, path).existing);
      const known = found.get(JSON.stringify([code, pointer, message]));
      if (known !== undefined) known.fault = { ...known.fault, hint };
    },
    note(code, path, message, hint) {
      if (noted.size >= notesMax) return;
      const { existing, position } = locate(document, path);
      const note = { code, pointer: pointerOf(existing), message, hint };
      noted.set(JSON.stringify([code, note.pointer, message]), { position, note });
    },
    notes() {
      return [...noted.values()].sort((a, b) => compare(a.position, b.position)).map(({ note }) => note);
    },
    addYounger(...fault) {
      if (younger === undefined) list.add(...fault);
      else if (younger.length < programFaultsMax) younger.push(fault);
    },
    takeYounger() {
      const kept = younger ?? [];
      younger = undefined;
      for (const fault of kept) list.add(...fault);
    },
    has(pointer) {
      return pointers.has(pointer);
    },
    omit(count) {
      omitted += count;
    },
    get count() {
      return found.size + omitted;
    },
    list() {
      return [...found.values()].sort((a, b) => compare(a.position, b.position)).map(({ fault }) => fault);
    },
  };
  return list;
}

const pointerCharactersMax = 1_000;

/** The part of a path that exists, and where each of its steps stands among its siblings. */
function locate(document: unknown, path: Path): { existing: (string | number)[]; position: number[] } {
  const existing: (string | number)[] = [];
  const position: number[] = [];
  let value = document;
  let characters = 0;
  for (const step of path) {
    characters += String(step).length + 1;
    if (characters > pointerCharactersMax) break;
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

/** Faults that a message quotes, and characters of each. */
const quotedMax = 5;
const quotedCharactersMax = 300;

/** What is wrong with a document, by the first of its faults. `of` is the field it came in, `whole` stands for its empty pointer. */
export function faultsText({
  of,
  whole,
  found,
  omitted,
}: {
  readonly of: string;
  readonly whole: string;
  readonly found: readonly DocumentFault<string>[];
  readonly omitted: number;
}): PartedText {
  const all = found.length + omitted;
  const quoted = found
    .slice(0, quotedMax)
    .map(({ pointer, message }) => `${pointer === "" ? whole : pointer} ${message}`)
    .map((said) =>
      said.length > quotedCharactersMax ? `${said.slice(0, quotedCharactersMax).toWellFormed()}...` : said,
    );
  const others = all > quoted.length ? `; and ${all - quoted.length} more` : "";
  return text`${of} has ${count(all)} ${all === 1 ? "fault" : "faults"}: ${quoted.join("; ")}${others}`;
}
