import type { PlanMode, TableReads } from "./explain.ts";
import type { Statistics } from "./seed.ts";

/** The tables and indexes that a statement reads, if planned with this mode and these statistics. */
export type PlannedReads = { readonly mode: PlanMode; readonly statistics: Statistics; readonly reads: TableReads };

/** The name of a recorded statement, and its plans. */
export type RecordedStatement = { readonly name: string; readonly planned: readonly PlannedReads[] };

/**
 * Returns the text of a file that records how PostgreSQL reads the tables for each statement. It has one line for each statement, by name.
 * Below the line are the reads that occur only with some planner modes or table statistics.
 */
export function recordingOf(statements: readonly RecordedStatement[]): string {
  const byName = Map.groupBy(statements, ({ name }) => name);
  const blocks = [...byName].map(([name, ofName]) => {
    // Statements with one name and the same reads share a line.
    const lines = new Set(ofName.map(({ planned }) => linesOf(planned)));
    return [name, ...[...lines].sort()].join("\n");
  });
  return `${blocks.sort().join("\n\n")}\n`;
}

function linesOf(planned: readonly PlannedReads[]): string {
  const writes = planned[0]?.reads.writes ?? [];
  const facts = [...new Set(planned.flatMap(({ reads }) => factsOf(reads)))].sort();
  const byWhen = Map.groupBy(facts, (fact) => whenOf(planned, fact));
  const always = byWhen.get("") ?? [];
  const sometimes = [...byWhen]
    .filter(([when]) => when !== "")
    .map(([when, found]) => `    ${when}: ${found.join("; ")}`);
  const first = `  ${writes.join(", ") || "select"}: ${always.join("; ") || "-"}`;
  return [first, ...sometimes.sort()].join("\n");
}

function factsOf({ access, isSorted }: TableReads): string[] {
  const reads = Object.entries(access).flatMap(([table, found]) =>
    found.map((one) => (one.startsWith(`${table}_`) ? one : `${one} of ${table}`)),
  );
  return isSorted ? [...reads, "sort"] : reads;
}

/**
 * Returns in words when PostgreSQL's plan has the property `fact`: the planner modes and the table statistics. Returns "" if every plan has
 * it.
 */
function whenOf(planned: readonly PlannedReads[], fact: string): string {
  const holding = planned.filter(({ reads }) => factsOf(reads).includes(fact));
  if (holding.length === planned.length) return "";
  const every = new Set(planned.map(({ statistics }) => statistics)).size;
  const byStatistics = Map.groupBy(
    [...Map.groupBy(holding, ({ mode }) => mode)].map(([mode, ofMode]) => {
      const statistics = ofMode.map((one) => one.statistics).sort();
      return { mode, statistics: statistics.length === every ? "" : `${statistics.join(", ")} statistics` };
    }),
    ({ statistics }) => statistics,
  );
  const parts = [...byStatistics].map(([statistics, modes]) => {
    const ofModes = modes.length === 2 ? "" : `${modes[0]?.mode} plan`;
    return [ofModes, statistics].filter(Boolean).join(" with ");
  });
  return parts.sort().join(" and ");
}
