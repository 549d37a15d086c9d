const token = /"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Maximum depth of formatting; deeper values stay as they came. Indented, 20,000 nested brackets of a post would make more text than a
 * browser can hold.
 */
const levelsMax = 32;

/**
 * Formats JSON text with a line for each value, down to 32 levels. The text is not parsed: numbers keep all their digits. For text that is
 * not JSON, its tokens are formatted in the same way.
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
