import { count, type FaultText, type PartedText, text } from "@svc/core";
import { type Path, pointerOf } from "./json.ts";

/** Maximum number of faults that are listed for one document. Further faults are only counted. */
const programFaultsMax = 500;

/** The codes of the faults that a program can have. They are exactly the error reasons of the call SubmitJob that begin with PROGRAM_. */
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

/** The codes of the notes that a program can get. They are exactly the values that `reason` of the API message ProgramNote can have. */
export type NoteCode =
  | "PAGES_UNREAD"
  | "SKIP_LEAVES_WRITES"
  | "FIELD_UNVERIFIED"
  | "VALUE_UNLISTED"
  | "OUTPUT_UNDECLARED"
  | "SAGA_UNDOES_NOTHING"
  | "ZONE_DEFAULT"
  | "ENTITY_UNHEARD";

/** One fault of a document. `pointer`: a JSON Pointer to the faulty part. `hint`: what would be right. */
export type DocumentFault<Code extends string> = {
  readonly code: Code;
  readonly pointer: string;
  readonly message: string;
  readonly hint: FaultText;
};

/** One fault of a program: its code, the JSON Pointer of the faulty part, what is wrong, and what would be right. */
export type ProgramFault = DocumentFault<ProgramFaultCode>;

/** A note on one part of a document that may not do what the author means. The document is accepted anyway. `hint`: what would be right. */
export type ProgramNote = DocumentFault<NoteCode>;

/** Maximum number of notes that are kept for one document. */
const notesMax = 100;

/**
 * Collects the faults of one document. The first 500 faults are listed, and others are only counted. If a fault is at a missing part, its
 * pointer names the nearest part around it that exists. Pointers are cut to 1,000 characters.
 */
export type FaultList<Code extends string = ProgramFaultCode> = {
  add(code: Code, path: Path, message: string, hint: FaultText): void;
  /** Replaces the hint of a recorded fault. Used if a later finding changes what the author should write. */
  rehint(code: Code, path: Path, message: string, hint: FaultText): void;
  /**
   * Records an error for a rule that is newer than some stored programs. The error counts only after a call of `takeYounger`, which happens
   * only for new programs. So stored programs that break the rule stay valid.
   */
  addYounger(code: Code, path: Path, message: string, hint: FaultText): void;
  /** Adds the faults that `addYounger` has recorded to the faults of the program. Before this call they are ignored. */
  takeYounger(): void;
  /** Adds a note, which is not a fault. Only the first 100 notes are kept. */
  note(code: NoteCode, path: Path, message: string, hint: FaultText): void;
  /** Returns every note about the program, once, in the order of the parts of the program that the notes are about. */
  notes(): ProgramNote[];
  /** Adds `count` to the number of faults that are not listed one by one. */
  omit(count: number): void;
  readonly count: number;
  /** True if a fault was recorded for the part at this JSON Pointer, or for a part inside it. */
  has(pointer: string): boolean;
  /** Returns every recorded fault, once, in the order of the document. */
  list(): DocumentFault<Code>[];
};

/** Creates the empty list that collects the faults of a parsed document. */
export function createFaultList<Code extends string = ProgramFaultCode>(document: unknown): FaultList<Code> {
  const found = new Map<string, { readonly position: readonly number[]; fault: DocumentFault<Code> }>();
  const noted = new Map<string, { readonly position: readonly number[]; readonly note: ProgramNote }>();
  const pointers = new Set<string>();
  let omitted = 0;
  /**
   * Faults against new rules that some stored programs break. They count only after `takeYounger` was called. Undefined after that call.
   */
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

/**
 * Returns the beginning of a path, as far as it exists in the document. `position`: the index of each key or item in its object or list.
 */
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

/** Returns the index of each name in an object. Cached, because a document with many faults needs it repeatedly. */
function orderOf(object: object): ReadonlyMap<string, number> {
  const known = orders.get(object);
  if (known !== undefined) return known;
  const made = new Map(Object.keys(object).map((name, index) => [name, index]));
  orders.set(object, made);
  return made;
}

/** Compares the positions of two parts of a document by their order in the document. A container comes before its members. */
function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, step] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (step !== other) return step - other;
  }
  return a.length - b.length;
}

/** Maximum number of faults that one error message quotes. Each quoted fault is cut to `quotedCharactersMax` characters. */
const quotedMax = 5;
const quotedCharactersMax = 300;

/**
 * Returns a sentence about the first faults of a document. `of`: name of the request field that contains the document. `whole`: words that
 * name the whole document; they are used for a fault whose pointer is empty.
 */
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
  return text`${of} has ${count(all)} ${all === 1 ? "problem" : "problems"}: ${quoted.join("; ")}${others}`;
}
