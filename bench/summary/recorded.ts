/** Results of a case on its page: date, commit, table, and figures with their aims. */
export type Recorded = {
  /** Date and commit. Undefined if nothing is recorded. */
  readonly when: string | undefined;
  /** Returns the cell of the row whose first cells are `row`, without its spread. */
  cell(row: string | readonly string[], column: string): string | undefined;
  /** Returns all figures whose names match, in the page's order. */
  figures(name: RegExp): readonly RecordedFigure[];
};

/** A figure of the page: its median and its aim, each with its unit. */
export type RecordedFigure = {
  readonly name: string;
  readonly measured: string;
  readonly aim: string;
  readonly isMet: boolean;
};

/** Reads the results between `<!-- bench:<name> -->` and `<!-- /bench:<name> -->`. Empty if there is no such place. */
export function readRecorded(page: string, name: string): Recorded {
  const [opening, closing] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const text = page.slice(page.indexOf(opening) + opening.length, page.indexOf(closing));
  const tables = tablesOf(page.includes(opening) ? text : "");
  const [table = []] = tables;
  const [columns = [], ...rows] = table;
  const figures = tables.find(([header]) => header?.[0] === "figure")?.slice(1) ?? [];
  const [, day, commit] = /^Recorded ([\d-]+), commit (\w+)/m.exec(text) ?? [];
  return {
    when: day === undefined ? undefined : `${day}, ${commit}`,
    cell: (wanted, column) => {
      const first = typeof wanted === "string" ? [wanted] : wanted;
      const row = rows.find((cells) => first.every((cell, index) => cells[index] === cell));
      const cell = row?.[columns.indexOf(column)];
      return cell === undefined || cell === "" ? undefined : withoutSpread(cell);
    },
    figures: (wanted) =>
      figures
        .map(([title = "", measured = "", aim = "", met]) => {
          return { name: title, measured: withoutSpread(measured), aim, isMet: met === "met" };
        })
        .filter((figure) => wanted.test(figure.name)),
  };
}

/** Removes the spread from a cell: "6,652 (6,372 to 7,685) ms" becomes "6,652 ms". */
function withoutSpread(cell: string): string {
  return cell.replace(/ \([^)]* to [^)]*\)/, "");
}

/** Returns the rows of every table, the header first, without separator lines. */
function tablesOf(text: string): string[][][] {
  const blocks = text.match(/(?:^\|.*\|$\n?)+/gm) ?? [];
  return blocks.map((block) =>
    block
      .trim()
      .split("\n")
      .filter((line) => !/^[|\s-]+$/.test(line))
      .map((line) =>
        line
          .slice(1, -1)
          .split("|")
          .map((cell) => cell.trim()),
      ),
  );
}
