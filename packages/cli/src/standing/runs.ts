import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { StandingRunSchema } from "@svc/gen/standing";
import { StandingRunState } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount, parseMoment } from "../command/options.ts";
import { messageListText, messageText } from "../text/message.ts";
import { tableLines } from "../text/table.ts";
import { runHeader, runRow } from "./text.ts";

type RunsOptions = ProjectOptions &
  JsonOption & { skipped?: true; reason?: string; since?: number; until?: number; limit: number };

/** Adds `svc standing runs`. */
export function addStandingRuns(standing: Command, context: CommandContext): void {
  const runs = standing
    .command("runs")
    .description("list what was decided about a standing program, newest first; or show one run")
    .argument("<program>", "slug or id of the program; or id of a run, srn_…")
    .option("--skipped", "only what was left out")
    .option("--reason <reason>", "only runs with this reason, such as overlap or missed")
    .option("--since <when>", "only runs decided then or later: 2h ago, or 2026-03-14T09:00:00Z", parseMoment)
    .option("--until <when>", "only runs decided before", parseMoment)
    .option("--limit <count>", "most runs to list", parseCount, 50)
    .action((id: string, options: RunsOptions) => listRuns(id, options, context));
  addExamples(addProjectOptions(addJson(runs, "the runs as a JSON list")), [
    "svc standing runs morning-report",
    "svc standing runs morning-report --skipped --since 2d",
  ]);
}

async function listRuns(id: string, options: RunsOptions, context: CommandContext): Promise<void> {
  const { standing: client } = await openProjectClient(options, context);
  if (id.startsWith("srn_")) {
    const { run } = await client.getStandingRun({ id });
    if (run === undefined) return;
    if (options.json) return context.print(messageText(StandingRunSchema, run));
    for (const line of tableLines(runHeader, [runRow(run)])) context.print(line);
    return;
  }
  const { since, until, reason = "", limit } = options;
  const filter = {
    standingProgramId: id,
    reason,
    state: options.skipped ? StandingRunState.SKIPPED : StandingRunState.UNSPECIFIED,
    ...(since !== undefined && { since: timestampFromMs(since) }),
    ...(until !== undefined && { until: timestampFromMs(until) }),
  };
  const found = await collectPages(async (pageToken) => {
    const request = { ...filter, pageSize: Math.min(limit, 500), pageToken };
    const { runs: items, nextPageToken } = await client.listStandingRuns(request);
    return { items, nextPageToken };
  }, limit);
  if (options.json) return context.print(messageListText(StandingRunSchema, found));
  for (const line of tableLines(runHeader, found.map(runRow))) context.print(line);
}
