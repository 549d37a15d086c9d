// Functions that all generators of pages use.

/** Returns the name of a page: `create-api-key` for `CreateApiKey`. */
export function kebab(name) {
  return name
    .replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "-")
    .replaceAll(" ", "-")
    .toLowerCase();
}

/** Returns the blocks of a page, joined with empty lines. Empty blocks are left out. */
export function blocks(...parts) {
  return parts
    .flat()
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n");
}

/** Returns a whole page with a note that it is generated. */
export function page(...parts) {
  return `${blocks(...parts, "<!-- Written by `npm run reference`. -->")}\n`;
}

/** Returns a table as Markdown, without padding. */
export function table(heads, rows) {
  const line = (cells) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Returns a table in the form of the formatter: each column is as wide as its widest cell. */
export function paddedTable(heads, rows) {
  const cells = [heads, ...rows].map((row) => row.map(cell));
  const widths = heads.map((_, column) => Math.max(3, ...cells.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((text, column) => text.padEnd(widths[column])).join(" | ")} |`;
  const [head, ...body] = cells.map(line);
  return [head, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body].join("\n");
}

function cell(text) {
  return text.replaceAll("\n", " ").replaceAll("|", "\\|").trim();
}

/** Returns a plain text as Markdown. Angle brackets are escaped, so that they do not become tags. Code spans stay unchanged. */
export function plain(text) {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll("<", "\\<").replaceAll("*", "\\*")))
    .join("");
}
