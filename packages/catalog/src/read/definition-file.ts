import { formatValue, isExactDouble } from "@svc/core";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";

/** Where in a file a fault lies: keys and list indexes from its root. */
export type FaultPath = readonly (string | number)[];

/** One thing wrong with a definition or deployment file, and what would be right. `line` counts from 1. */
export type FileFault = {
  readonly file: string;
  readonly line?: number;
  readonly path: string;
  readonly reason: string;
  readonly cure: string;
};

/** Definitions that cannot be served. `faults` holds everything that was wrong, in file order; the message lists it. */
export class DefinitionError extends Error {
  readonly faults: readonly FileFault[];

  constructor(faults: readonly FileFault[]) {
    const count = faults.length === 1 ? "1 fault" : `${faults.length} faults`;
    super(`${count} in the definitions:\n${faults.map((fault) => `  ${definitionFaultText(fault)}`).join("\n")}`);
    this.name = "DefinitionError";
    this.faults = faults;
  }
}

/** One fault as a line: where, what, and what would be right. */
export function definitionFaultText({ file, line, path, reason, cure }: FileFault): string {
  const place = line === undefined ? file : `${file}:${line}`;
  return `${place}${path === "" ? "" : ` ${path}`}: ${reason}; ${cure}`;
}

/** The line (from 1) on which a path, or the longest part of it that exists, stands; undefined outside files. */
export type LineOf = (path: FaultPath) => number | undefined;

/** A definition under check: its parsed value, and the faults found so far. `fault` adds one. */
export type DefinitionFile = {
  readonly file: string;
  readonly value: unknown;
  readonly lineOf: LineOf;
  readonly faults: readonly FileFault[];
  fault(path: FaultPath, reason: string, cure: string): void;
};

/** A definition that is not read from YAML, or is read already. */
export function createDefinitionFile(
  file: string,
  value: unknown,
  lineOf: LineOf = () => undefined,
  faults: FileFault[] = [],
): DefinitionFile {
  return {
    file,
    value,
    lineOf,
    faults,
    fault(path, reason, cure) {
      const line = lineOf(path);
      faults.push({ file, ...(line !== undefined && { line }), path: formatPath(path), reason, cure });
    },
  };
}

/** Parses one YAML text. What is not YAML is among the file's faults, and its value is then undefined. */
export function parseDefinitionFile(file: string, text: string): DefinitionFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems = [...document.errors, ...document.warnings];
  if (problems.length > 0) {
    return brokenFile(
      file,
      problems.map(({ pos, message }) => ({
        line: lines.linePos(pos[0]).line,
        reason: message,
        cure: "write it as YAML 1.2",
      })),
    );
  }
  const inexact = mayBeInexact.test(text) ? inexactNumbers(document, lines) : [];
  if (inexact.length > 0) return brokenFile(file, inexact);
  return createDefinitionFile(file, document.toJS({ maxAliasCount: 100 }), lineFinder(document, lines));
}

/** What is to be written in place of a number that no double is. */
export const inexactCure = "write a number of fewer digits, or a text";

/** Nearly no file has as many digits, and to look at every value of hundreds of files takes a while. */
const mayBeInexact = /[\d.]{16}|\d[eE][+-]?\d{3}/;

const decimalForm = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Numbers that would be read as others. */
function inexactNumbers(document: Document, lines: LineCounter): { line: number; reason: string; cure: string }[] {
  const found: { line: number; reason: string; cure: string }[] = [];
  visit(document, {
    Scalar(_, { value, source, range }) {
      if (typeof value !== "number" || source === undefined || !decimalForm.test(source) || isExactDouble(source))
        return;
      const line = lines.linePos(range?.[0] ?? 0).line;
      found.push({ line, reason: `has the number ${formatValue(source)}, which no double is`, cure: inexactCure });
    },
  });
  return found;
}

/** One YAML text whose value is known already. It is parsed once a line is asked for. */
export function readDefinitionFile(file: string, text: string, value: unknown): DefinitionFile {
  let lineOf: LineOf | undefined;
  return createDefinitionFile(file, value, (path) => {
    if (lineOf === undefined) {
      const lines = new LineCounter();
      lineOf = lineFinder(parseDocument(text, { lineCounter: lines, prettyErrors: false }), lines);
    }
    return lineOf(path);
  });
}

function lineFinder(document: Document.Parsed, lines: LineCounter): LineOf {
  return (path) => {
    for (let length = path.length; length >= 0; length--) {
      const node = nodeAt(document, path.slice(0, length));
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
    }
    return undefined;
  };
}

/** What stands for a path: the key that a value is written under, where it has one, for the value may begin lines below. */
function nodeAt(document: Document.Parsed, path: FaultPath): unknown {
  const last = path.at(-1);
  if (last === undefined) return document.contents;
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const pair = isMap(parent)
    ? parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(last))
    : undefined;
  return pair?.key ?? document.getIn(path, true);
}

/** A file that cannot be read or parsed at all: nothing but faults. */
export function brokenFile(
  file: string,
  faults: readonly { line?: number; reason: string; cure: string }[],
): DefinitionFile {
  const found = faults.map((fault) => ({ file, path: "", ...fault }));
  return createDefinitionFile(file, undefined, undefined, found);
}

/** Writes a path as people do: `input.properties.id`, `intents[2]`. */
function formatPath(path: FaultPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}
