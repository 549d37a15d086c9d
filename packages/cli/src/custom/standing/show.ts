import { GetStandingProgramResponseSchema, StandingService } from "@svc/gen/standing";
import { command, type Run } from "../../command/declared.ts";
import { messageText } from "../../text/message.ts";
import { plainText } from "../../text/plain.ts";
import { factLines, tableLines, timeText } from "../../text/table.ts";
import { backfillLine } from "./backfill.ts";
import { passedOverText, pollFacts, programStateText, runHeader, runRow } from "./text.ts";

/** Runs that are shown beside a program. */
const runsShown = 10;

/** `svc standing show`. */
export const addStandingShow = command(
  StandingService.method.getStandingProgram,
  {
    says: "show a standing program: when it is due, what it used, and its latest runs",
    takes: { "<program>": "its slug or its id, stp_…" },
    json: "the program and its versions as JSON",
    examples: ["svc standing show morning-report"],
  },
  async ({ values: { program: id }, context, project, asJson }: Run<{ readonly program: string }>) => {
    const { standing: client } = await project();
    const found = await client.getStandingProgram({ id });
    const { standingProgram: program, backfill, passedOver } = found;
    if (program === undefined) return;
    if (asJson) return context.print(messageText(GetStandingProgramResponseSchema, found));
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
  },
);
