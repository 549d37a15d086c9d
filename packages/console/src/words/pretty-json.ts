const token = /"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Maximum depth of values that are indented. Deeper values stay unchanged. If 20,000 nested brackets of a webhook post were indented, the
 * text would be too large for a browser.
 */
const levelsMax = 32;

/**
 * Returns JSON text with each value on its own line, indented down to a depth of 32. The text is not parsed, so numbers keep all their
 * digits. A text that is not JSON is formatted by the same rules.
 */
export function prettyJson(text: string): string {
  let depth = 0;
  let out = "";
  let before = "";
  const line = () => (depth > levelsMax ? "" : `\n${"  ".repeat(depth)}`);
  for (const [part] of text.matchAll(token)) {
    if (part === "}" || part === "]") {
      depth = Math.max(0, depth - 1);
      out += before === "{" || before === "[" ? part : line() + part;
    } else {
      out += (before === "{" || before === "[" || before === "," ? line() : "") + part;
      if (part === "{" || part === "[") depth += 1;
      else if (part === ":") out += " ";
    }
    before = part;
  }
  return out;
}
