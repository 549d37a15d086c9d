import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { StandingRunSchema, StandingService } from "@svc/gen/standing";
import { StandingRunState } from "@svc/sdk";
import { collectPages, type ProjectOptions } from "../../command/client.ts";
import { command, type Run } from "../../command/declared.ts";
import { type JsonOption, parseCount, parseMoment } from "../../command/options.ts";
import { messageListText, messageText } from "../../text/message.ts";
import { tableLines } from "../../text/table.ts";
import { runHeader, runRow } from "./text.ts";

type RunsOptions = ProjectOptions &
  JsonOption & { skipped?: true; reason?: string; since?: number; until?: number; limit: number };

/** Adds `svc standing runs`. */
export const addStandingRuns = command(
  StandingService.method.listStandingRuns,
  {
    says: "list what was decided about a standing program, newest first; or show one run",
    takes: { "<program>": "slug or id of the program; or id of a run, srn_…" },
    options: [
      ["--skipped", "only what was left out"],
      ["--reason <reason>", "only runs with this reason, such as overlap or missed"],
      ["--since <when>", "only runs decided then or later: 2h ago, or 2026-03-14T09:00:00Z", { parse: parseMoment }],
      ["--until <when>", "only runs decided before", { parse: parseMoment }],
      ["--limit <count>", "most runs to list", { parse: parseCount, default: 50 }],
    ],
    json: "the runs as a JSON list",
    also: [[StandingService.method.getStandingRun, "<run>"]],
    examples: ["svc standing runs morning-report", "svc standing runs morning-report --skipped --since 2d"],
  },
  async ({ values: options, context, project, asJson }: Run<RunsOptions & { readonly program: string }>) => {
    const { program: id } = options;
    const { standing: client } = await project();
    if (id.startsWith("srn_")) {
      const { run } = await client.getStandingRun({ id });
      if (run === undefined) return;
      if (asJson) return context.print(messageText(StandingRunSchema, run));
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
    if (asJson) return context.print(messageListText(StandingRunSchema, found));
    for (const line of tableLines(runHeader, found.map(runRow))) context.print(line);
  },
);
