import { formatValue, isExactDouble } from "@svc/core";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";

/** Position of an error in a file: the keys and list indexes from the root. */
export type FaultPath = readonly (string | number)[];

/** An error of a definition or deployment file, and the correction. `line` counts from 1. */
export type FileFault = {
  readonly file: string;
  readonly line?: number;
  readonly path: string;
  readonly reason: string;
  readonly cure: string;
};

/** Error for definitions that svc cannot use. `faults`: every error in the order of the file. The message lists them. */
export class DefinitionError extends Error {
  readonly faults: readonly FileFault[];

  constructor(faults: readonly FileFault[]) {
    const count = faults.length === 1 ? "1 problem" : `${faults.length} problems`;
    super(`${count} in the definitions:\n${faults.map((fault) => `  ${definitionFaultText(fault)}`).join("\n")}`);
    this.name = "DefinitionError";
    this.faults = faults;
  }
}

/** Returns an error as one line of text: position, reason and correction. */
export function definitionFaultText({ file, line, path, reason, cure }: FileFault): string {
  const place = line === undefined ? file : `${file}:${line}`;
  return `${place}${path === "" ? "" : ` ${path}`}: ${reason}; ${cure}`;
}

/**
 * Returns the line number of a path, from 1. If the path does not exist, returns the line of its longest existing part. Undefined for
 * values that are not in a file.
 */
export type LineOf = (path: FaultPath) => number | undefined;

/** A definition file during its checks: the parsed value, and the errors found so far. `fault`: adds an error. */
export type DefinitionFile = {
  readonly file: string;
  readonly value: unknown;
  readonly lineOf: LineOf;
  readonly faults: readonly FileFault[];
  fault(path: FaultPath, reason: string, cure: string): void;
};

/** Maximum number of errors that are kept for one file. An error may list thousands of known names. */
const faultsMax = 1_000;

/** Creates a definition file from a value that is already parsed, or whose source is not YAML. */
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
      if (faults.length >= faultsMax) return;
      const line = lineOf(path);
      faults.push({ file, ...(line !== undefined && { line }), path: formatPath(path), reason, cure });
    },
  };
}

/**
 * Returns the definition file (a part of a toolkit) of a YAML text. If the text is not valid YAML, the file gets an error and its value is
 * undefined.
 */
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

/** Advice for a number in a definition that a double cannot hold exactly. */
export const inexactCure = "write a number of fewer digits, or a text";

/**
 * Matches a text that may contain a number which no double represents exactly. Only such texts are checked value by value, because nearly
 * no file has such a number and the check takes long.
 */
const mayBeInexact = /[\d.]{16}|\d[eE][+-]?\d{3}/;

const decimalForm = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Returns errors for the numbers in a YAML file that a double cannot hold exactly. The parser would change their value. */
function inexactNumbers(document: Document, lines: LineCounter): { line: number; reason: string; cure: string }[] {
  const found: { line: number; reason: string; cure: string }[] = [];
  visit(document, {
    Scalar(_, { value, source, range }) {
      if (typeof value !== "number" || source === undefined || !decimalForm.test(source) || isExactDouble(source))
        return;
      const line = lines.linePos(range?.[0] ?? 0).line;
      found.push({
        line,
        reason: `has the number ${formatValue(source)}, which a double cannot represent`,
        cure: inexactCure,
      });
    },
  });
  return found;
}

/**
 * Returns the definition file (a part of a toolkit) of a YAML text whose value is already known. The text is parsed only if a line number
 * is needed.
 */
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

/** Returns the YAML node of a path. If the value has a key, returns the node of the key, because the value may begin some lines below. */
function nodeAt(document: Document.Parsed, path: FaultPath): unknown {
  const last = path.at(-1);
  if (last === undefined) return document.contents;
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const pair = isMap(parent)
    ? parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(last))
    : undefined;
  return pair?.key ?? document.getIn(path, true);
}

/** Returns a definition file that has only errors and no value. It stands for a file that cannot be read or parsed. */
export function brokenFile(
  file: string,
  faults: readonly { line?: number; reason: string; cure: string }[],
): DefinitionFile {
  const found = faults.map((fault) => ({ file, path: "", ...fault }));
  return createDefinitionFile(file, undefined, undefined, found);
}

/** Returns a path as text: `input.properties.id`, `intents[2]`. */
function formatPath(path: FaultPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}
