import { pointerOf } from "../json.ts";
import type { Expression } from "../template.ts";
import { translated } from "./cel-advice.ts";
import { parseExpression } from "./cel-calls.ts";
import { parsePath, referenceRoots } from "./reference.ts";
import type { ShapeNode, ShapeReader } from "./shape.ts";
import { conditionForm, textForm } from "./value-advice.ts";

/** Reads the text of an expression (CEL) in a program. Only its form is checked here; names and types are checked later. */
export function readExpression(node: ShapeNode, reader: ShapeReader): Expression | undefined {
  const source = reader.text(node, { max: Number.MAX_SAFE_INTEGER, hint: conditionForm(node.value) });
  return source === undefined ? undefined : { source, pointer: pointerOf(node.path) };
}

// Pattern for the start of a path in a program, such as `row.`. It serves to find plain texts with such a path in braces: they look like
// templates, but would be sent unchanged.

const root = String.raw`(?:row|rows|steps|input|params|calls|output)\s*\.`;
/** Pattern for names that people often write for the current row. In a program, this name is `row`. */
const rowAlias = String.raw`(?:item|it|this|record|each|element|entry)\s*\.`;
/** Pattern for braces around a value of the program, such as `{row.id}`, `{{row.id}}` or `${row.id}`. */
const own = new RegExp(
  String.raw`\$?\{\{?\s*${root}[^{}]*\}\}?|\$?\{\{\s*${rowAlias}[^{}]*\}\}|\$\{\s*${rowAlias}[^{}]*\}`,
  "g",
);
/** Pattern for the form of a value (`$cel`, `$ref` …) that was written inside a text by mistake. */
const form = String.raw`["']?\$(?:(?:cel|text|secret)["']?\s*[:(]|ref["']?\s*[:(]\s*["']?${root})`;
/** Pattern for braces of any template language. */
const any = new RegExp(String.raw`\{\{\s*[^{}\s][^{}]*\}\}|\$\{[^{}]+\}|\{\s*${root}[^{}]*\}|\{\s*${form}[^{}]*\}`);
/**
 * Pattern for a path in double braces inside `$text`, such as `{{row.name}}`. This is a mistake: `{{` means one literal brace there, so svc
 * would send the text of the path and not its value.
 */
const doubled = new RegExp(String.raw`(?<!\{)\{\{\s*(?:${root}|${form})[^{}]*\}\}`);

/**
 * True if a text that a program uses as a constant looks like a template (of svc or of another language), so that the author probably meant
 * a computed value.
 */
export function looksLikeTemplate(text: string): boolean {
  return text.includes("{") && any.test(text);
}

/**
 * True if a constant text contains braces around a name of the program (for example `{row.id}`). The author probably meant the value of
 * that name.
 */
export function namesPlace(text: string): boolean {
  own.lastIndex = 0;
  return text.includes("{") && own.test(text);
}

/** True if a `$text` has a path in double braces, so that svc would send the path itself as text and not its value. */
export function hasDoubledPath(text: string): boolean {
  return text.includes("{{") && doubled.test(text);
}

/** Maximum number of characters of the program's text that a hint quotes. */
const repeatedMax = 300;

/** Returns advice on how to write a value correctly, for a text that looks like a template of another language. */
export function rightForm(text: string): string {
  const meant = 'if the braces are part of the text, {"$literal": "…"}';
  const paths = [...text.matchAll(own)].map(([found]) => pathIn(found));
  const computed = expressionIn(text);
  if (computed !== undefined && paths.length <= 1 && paths[0] === undefined) {
    return `write {"$cel": ${JSON.stringify(computed)}}; ${meant}`;
  }
  if (paths.length === 0) {
    const other = text.replace(/^=/, "").replaceAll(/\{\{([^{}]*)\}\}|\$\{([^{}]*)\}/g, "{$1$2}");
    const known = textForm(other);
    if (known !== undefined) return `write ${known}; ${meant}`;
    return `write {"$text": "… {path} …"} for a text with values in it: paths start with ${[...referenceRoots].join(", ")}; ${meant}`;
  }
  if (paths.includes(undefined)) {
    return `write {"$cel": "…"} for a computed value, and {"$text": "… {path} …"} for a text with values in it; ${meant}`;
  }
  const [only] = paths;
  const isWhole = paths.length === 1 && text.trim() === text.match(own)?.[0];
  if (isWhole) return `write {"$ref": "${only}"}; ${meant}`;
  return `write {"$text": ${JSON.stringify(textOf(text))}}; ${meant}`;
}

/**
 * Returns the expression between the braces of a text that consists of exactly one template, such as `{{row.id}}`. Returns undefined for
 * any other text.
 */
function expressionIn(text: string): string | undefined {
  const inner = innerOf(text.trim());
  if (inner === undefined || !new RegExp(root).test(inner)) return undefined;
  const source = translated(inner) ?? inner;
  return "fault" in parseExpression(source) ? undefined : source;
}

/**
 * Returns the part between the braces of a text that begins and ends with braces. Written without a regular expression, which would be slow
 * for many spaces.
 */
function innerOf(text: string): string | undefined {
  const [open, close] = text.startsWith("{{") ? ["{{", "}}"] : text.startsWith("${") ? ["${", "}"] : ["{", "}"];
  if (text.length > repeatedMax || !text.startsWith(open) || !text.endsWith(close)) return undefined;
  const inner = text.slice(open.length, text.length - close.length).trim();
  return /[{}]/.test(inner) ? undefined : inner;
}

/**
 * Returns the path (such as `steps.a.value`) in a text with braces that an author wrote, for example `${steps.a.value}`. Returns undefined
 * if the braces contain no path.
 */
function pathIn(braced: string): string | undefined {
  const inner = braced.replaceAll(/^\$?\{+|\}+$/g, "").trim();
  const path = inner.replace(new RegExp(`^${rowAlias}`), "row.");
  return parsePath(path) === undefined ? undefined : path;
}

/**
 * Rewrites a text in the form of `$text`, where a path of the program is in single braces, for example `{row.id}`. Of a long text, only the
 * paths are kept, with `…` between them.
 */
function textOf(text: string): string {
  let written = "";
  let at = 0;
  const isLong = text.length > repeatedMax;
  for (const { 0: found, index } of text.matchAll(own)) {
    written += `${plain(text.slice(at, index), isLong)}{${pathIn(found)}}`;
    at = index + found.length;
  }
  return (written + plain(text.slice(at), isLong)).slice(0, 2 * repeatedMax);
}

function plain(text: string, isLong: boolean): string {
  return isLong && text.trim() !== "" ? " … " : text.replaceAll("{", "{{");
}
