import type { CasePage } from "../pages.ts";
import { formatTable } from "../report.ts";
import { type SummaryLine, summaryLines } from "./lines.ts";
import { type Recorded, type RecordedFigure, readRecorded } from "./recorded.ts";

const [opening, closing] = ["<!-- summary -->", "<!-- /summary -->"];

/**
 * Returns the page with its first table replaced, made from the figures in the pages of the cases. Throws if the page has no place for the
 * table.
 */
export function withSummary(page: string, cases: readonly CasePage[]): string {
  const [start, end] = [page.indexOf(opening), page.indexOf(closing)];
  if (start < 0 || end < start) throw new Error(`docs/benchmarks.md has no place for its first table: ${opening}`);
  const columns = ["what", "svc", "peers and limits", "compared with its aim", "", "recorded"];
  const rows = summaryLines.map((line) => {
    const source = cases.find(({ text }) => text.includes(`<!-- bench:${line.from} -->`));
    return rowOf(line, readRecorded(source?.text ?? "", line.from), source?.link ?? "");
  });
  return `${page.slice(0, start)}${opening}\n${formatTable(columns, rows)}\n${page.slice(end)}`;
}

function rowOf(
  { what, from, own = [], others = {}, figures }: SummaryLine,
  recorded: Recorded,
  page: string,
): string[] {
  const link = `[${from}](${page}#${from})`;
  if (recorded.when === undefined) return [what, "-", "-", "-", "", `${link}: not yet`];
  const cell = ({ row, column }: { row: string | readonly string[]; column: string }) =>
    recorded.cell(row, column) ?? "-";
  const peers = Object.entries(others).map(([name, place]) => `${name} ${cell(place)}`);
  const judged = Object.entries(figures).map(([name, pattern]) => ({
    name,
    figure: worstOf(recorded.figures(pattern)),
  }));
  const missed = judged.filter(({ figure }) => figure?.isMet === false).length;
  const known = judged.filter(({ figure }) => figure !== undefined).length;
  return [
    what,
    own.map(cell).join("; ") || "-",
    peers.join("; ") || "-",
    judged.map(({ name, figure }) => `${name}: ${describe(figure)}`).join("; "),
    verdict(missed, known),
    `${link}, ${recorded.when}`,
  ];
}

function describe(figure: RecordedFigure | undefined): string {
  return figure === undefined ? "-" : `${figure.measured} (${figure.aim}${figure.isMet ? "" : ": missed"})`;
}

function verdict(missed: number, known: number): string {
  if (known === 0) return "";
  return missed === 0 ? "met" : `${missed} of ${known} missed`;
}

/** Returns the worst figure: a missed aim before a met one, then the one that differs most in the wrong direction. */
function worstOf(figures: readonly RecordedFigure[]): RecordedFigure | undefined {
  const badness = ({ measured, aim, isMet }: RecordedFigure) => {
    const value = Number.parseFloat(measured.replaceAll(",", ""));
    return (isMet ? 0 : 1e12) + (aim.startsWith("at least") ? -value : value);
  };
  return figures.toSorted((a, b) => badness(b) - badness(a))[0];
}
