import { cpus } from "node:os";
import type { CaseReport, Figure } from "./case.ts";
import type { LatencySummary } from "./histogram.ts";
import type { CpuShares } from "./measure.ts";
import type { BenchPostgres } from "./postgres.ts";
import type { Spread } from "./statistics.ts";

/** Returns the machine, the versions and the settings, one a line. A reader needs them to understand the figures. */
export function describeMachine(postgres: BenchPostgres): string[] {
  const processors = cpus();
  const { settings } = postgres;
  const shown = [...settings].filter(([name]) => name !== "server_version").map(([name, value]) => `${name}=${value}`);
  return [
    `Machine: ${processors.length} cores (${processors[0]?.model ?? "unknown"}), ${process.platform} ${process.arch}`,
    `Node.js ${process.versions.node}, PostgreSQL ${settings.get("server_version") ?? "unknown"} (${postgres.origin})`,
    `PostgreSQL settings: ${shown.join(", ")}`,
  ];
}

/** Returns a case's report as Markdown, for the terminal and for docs/concepts/benchmarks. */
export function formatReport({ columns, rows, figures, notes }: CaseReport): string {
  const parts = [formatTable(columns, rows)];
  if (figures.length > 0) parts.push(formatTable(["figure", "measured", "aim", ""], figures.map(figureRow)));
  if (notes.length > 0) parts.push(notes.map((note) => `- ${note}`).join("\n"));
  return `${parts.join("\n\n")}\n`;
}

/** Formats the median of a rate, with its lowest and highest value. */
export function formatRate(rate: Spread): string {
  return formatSpread(rate, (value) => Math.round(value).toLocaleString("en-US"));
}

/** Formats the results for each second of processor time that the system used. This is comparable even on a busy machine. */
export function formatPerCpuSecond(rate: Spread, { system }: CpuShares): string {
  return system ? Math.round((rate.median * 100) / system).toLocaleString("en-US") : "-";
}

/** Returns table cells for `cpuColumns`. */
export function cpuCells({ system, postgres, load, sink }: CpuShares): string[] {
  return [system, postgres, load, sink].map((share) => (share === undefined ? "-" : `${Math.round(share)} %`));
}

/** Table columns for the processor use of the median round, in percent of one core. */
export const cpuColumns = ["CPU: system", "PostgreSQL", "load", "sink"];

/** Returns table cells for `latencyColumns`. */
export function latencyCells({ p50, p95, p99, p999, max }: LatencySummary): string[] {
  return [p50, p95, p99, p999, max].map((ms) => `${ms.toFixed(1)} ms`);
}

/** Table columns for the percentiles of a latency. */
export const latencyColumns = ["p50", "p95", "p99", "p99.9", "max"];

/** Formats a number with two decimal places, or with none from 1,000 on. */
function formatFigure(value: number): string {
  return Math.abs(value) < 1_000 ? value.toFixed(2) : Math.round(value).toLocaleString("en-US");
}

function figureRow({ name, value, unit, aim }: Figure): string[] {
  const isMet = "atLeast" in aim ? value.median >= aim.atLeast : value.median < aim.below;
  const wanted =
    "atLeast" in aim ? `at least ${aim.atLeast.toLocaleString("en-US")}` : `below ${aim.below.toLocaleString("en-US")}`;
  const suffix = unit === "" ? "" : ` ${unit}`;
  return [name, `${formatSpread(value, formatFigure)}${suffix}`, `${wanted}${suffix}`, isMet ? "met" : "missed"];
}

/** Formats a table as Markdown, with columns as wide as their widest cell. */
export function formatTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((column, index) =>
    Math.max(3, column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, index) => (cells[index] ?? "").padEnd(width)).join(" | ")} |`;
  return [line(columns), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

function formatSpread({ median, min, max }: Spread, format: (value: number) => string): string {
  return min === max ? format(median) : `${format(median)} (${format(min)} to ${format(max)})`;
}
