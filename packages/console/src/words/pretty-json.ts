const token = /"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** What lies deeper stands as it came: indented, 20,000 brackets of a post would be more text than a browser holds. */
const levelsMax = 32;

/**
 * JSON text with a line for each value, 32 levels deep. The text is laid out as it is and not read: numbers keep all their digits. What is
 * not JSON comes back with its tokens laid out, which is better than nothing.
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
