// Shared parts of the generated pages.

/** The name of a page: `CreateApiKey` as `create-api-key`. */
export function kebab(name) {
  return name
    .replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "-")
    .replaceAll(" ", "-")
    .toLowerCase();
}

/** Blocks of a page, with an empty line between two; empty ones are left out. */
export function blocks(...parts) {
  return parts
    .flat()
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n");
}

/** A whole page, marked as generated. */
export function page(...parts) {
  return `${blocks(...parts, "<!-- Written by `npm run reference`. -->")}\n`;
}

/** A table as Markdown, without padding. */
export function table(heads, rows) {
  const line = (cells) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A table as the formatter writes it: each column as wide as its widest cell. */
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

/** Plain text as Markdown: no angle bracket makes a tag of it. Code spans stay. */
export function plain(text) {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll("<", "\\<").replaceAll("*", "\\*")))
    .join("");
}
