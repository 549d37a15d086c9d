import { GetStandingProgramResponseSchema } from "@svc/gen/standing";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { factLines, tableLines, timeText } from "../text/table.ts";
import { backfillLine } from "./backfill-text.ts";
import { passedOverText, pollFacts, programStateText, runHeader, runRow } from "./text.ts";

/** Runs that are shown beside a program. */
const runsShown = 10;

/** Adds `svc standing show`. */
export function addStandingShow(standing: Command, context: CommandContext): void {
  const show = standing
    .command("show")
    .description("show a standing program: when it is due, what it used, and its latest runs")
    .argument("<program>", "its slug or its id, stp_…")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { standing: client } = await openProjectClient(options, context);
      const found = await client.getStandingProgram({ id });
      const { standingProgram: program, backfill, passedOver } = found;
      if (program === undefined) return;
      if (options.json) return context.print(messageText(GetStandingProgramResponseSchema, found));
      const { counts, usedToday } = program;
      const facts = factLines([
        ["id", program.id],
        ["slug", program.slug],
        ["title", plainText(program.title)],
        ["state", programStateText(program)],
        ["why", plainText(program.pauseDetail)],
        ["version", String(program.version)],
        ["pending", program.pendingVersion === 0 ? "" : `version ${program.pendingVersion} waits for approval`],
        ["approval", program.approvalId],
        ["key", program.keyId],
        ["next", program.nextTimes.map((time) => timeText(time)).join(", ")],
        ["zone", program.sourceKind === "schedule" ? program.timeZone : ""],
        ["runs", `${counts?.started} started, ${counts?.skipped} skipped, ${counts?.missed} missed`],
        ["passed", passedOver === 0 ? "" : passedOverText(passedOver)],
        ["open", `${counts?.underWay} under way, ${counts?.queued} waiting`],
        ...(backfill === undefined ? [] : [["backfill", backfillLine(backfill)] as const]),
        ...pollFacts(program.pollState),
        ["today", `${usedToday?.runs} runs, ${usedToday?.toolCalls} calls, ${usedToday?.writes} writes`],
      ]);
      for (const line of facts) context.print(line);
      const { runs } = await client.listStandingRuns({ standingProgramId: program.id, pageSize: runsShown });
      if (runs.length === 0) return;
      context.print("");
      for (const line of tableLines(runHeader, runs.map(runRow))) context.print(line);
    });
  addExamples(addProjectOptions(addJson(show, "the program and its versions as JSON")), [
    "svc standing show morning-report",
  ]);
}
