import { constants } from "node:os";
import { systemClock } from "@svc/core";
import { BackfillSchema, StandingService } from "@svc/gen/standing";
import { type Backfill, BackfillState, type SvcClient } from "@svc/sdk";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import { type JsonOption, parseCount } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { numberText, plainText } from "../../text/plain.ts";
import { factLines, timeText } from "../../text/table.ts";
import { namesOf } from "../jobs/text.ts";

const states = namesOf(BackfillState);

/** Returns the state of a backfill (for example `running (waiting)`). */
function backfillStateText({ state, reason }: Backfill): string {
  const name = states.get(state) ?? String(state);
  return reason === "" ? name : `${name} (${plainText(reason)})`;
}

/** Returns the progress of a backfill (for example `12 of 40, 10 started, 1 skipped, 1 passed by`). */
function backfillProgressText({ total, started, skipped, passed }: Backfill): string {
  const done = numberText(started + skipped + passed);
  const parts = [
    `${numberText(started)} started`,
    ...(skipped > 0 ? [`${numberText(skipped)} skipped`] : []),
    ...(passed > 0 ? [`${numberText(passed)} passed by`] : []),
  ];
  return `${done} of ${numberText(total)}, ${parts.join(", ")}`;
}

/**
 * Returns a backfill as one line (for example `bkf_…, running: 12 of 40, 12 started`). `svc standing show` prints this line for the latest
 * backfill of a schedule.
 */
export function backfillLine(backfill: Backfill): string {
  return `${backfill.id}, ${backfillStateText(backfill)}: ${backfillProgressText(backfill)}`;
}

/** Returns the properties of a backfill as pairs of a name and a value (for example `state` and `pace`). */
function backfillFacts(backfill: Backfill): readonly (readonly [string, string])[] {
  const { id, standingProgramId, since, until, again, perMinute, policy, createdAt, endedAt } = backfill;
  return [
    ["id", id],
    ["program", standingProgramId],
    ["state", backfillStateText(backfill)],
    ["progress", backfillProgressText(backfill)],
    ["since", since === undefined ? "" : timeText(since)],
    ["until", until === undefined ? "" : timeText(until)],
    ["also", again ? "what has a run" : ""],
    ["pace", `${perMinute} a minute`],
    ["policy", policy],
    ["begun", timeText(createdAt)],
    ["ended", endedAt === undefined ? "" : timeText(endedAt)],
  ];
}

/** True if the backfill has ended and makes no further runs. */
function hasBackfillEnded({ state }: Backfill): boolean {
  return state === BackfillState.DONE || state === BackfillState.CANCELLED;
}

const pollMs = 1_000;
const interruptedExitCode = 128 + constants.signals.SIGINT;

/** Help text that says how a watch of a backfill ends. */
const backfillWatchNotes = `
With --watch, progress goes to standard error, at a terminal as one line that is redrawn. Ctrl-C stops watching, and the
backfill continues.

Exit status: 0 done; 1 cancelled, or the service refused or was not reachable; 2 wrong options; 130 Ctrl-C.`;

/** Shows a backfill until it has ended. Rejects with CommandError if the backfill was cancelled or the user interrupted the watch. */
async function watchBackfill(
  { standing }: Pick<SvcClient, "standing">,
  id: string,
  { options, context }: { options: JsonOption; context: CommandContext },
): Promise<void> {
  const signal = context.untilInterrupted();
  let shown = "";
  for (;;) {
    const { backfill } = await standing.getBackfill({ id });
    if (backfill === undefined) return;
    const line = `${backfillStateText(backfill)}: ${backfillProgressText(backfill)}`;
    if (context.screen !== undefined) context.screen.draw([{ text: line, style: "none" }]);
    else if (line !== shown) context.note(line);
    shown = line;
    if (hasBackfillEnded(backfill)) {
      context.screen?.keep();
      if (options.json) context.print(messageText(BackfillSchema, backfill));
      if (backfill.state === BackfillState.DONE) return;
      throw new CommandError(`the backfill was ${backfillStateText(backfill)}`, 1);
    }
    await systemClock.wait(pollMs, signal);
    if (signal.aborted) {
      const left = `the watch was interrupted; the backfill continues: \`svc standing backfill ${id} --watch\``;
      throw new CommandError(left, interruptedExitCode);
    }
  }
}

type BackfillValues = JsonOption & { readonly program: string; readonly watch?: true; readonly cancel?: true };

/**
 * The command `svc standing backfill`, which creates runs of a schedule for past times or events, or shows, watches or ends such a
 * backfill.
 */
export const addStandingBackfill = command(
  StandingService.method.backfillStandingProgram,
  {
    says: "create runs for times or events of the past; or show, watch or end a backfill",
    takes: { "<program>": ["slug or id of the program; or id of a backfill, bkf_…", { fills: "id" }] },
    options: [
      ["--since <when>", "start of the time range: 2h for two hours ago, or 2026-03-14T09:00:00Z"],
      ["--until <when>", "end of the time range, not included (default: now)"],
      ["--again", "start them also if they ran before; for a program that polls, all rows of the list"],
      ["--rate <count>", "most runs that start in a minute (default: 60)", { fills: "perMinute", parse: parseCount }],
      ["--policy <policy>", "overlap policy if other runs are active: skip, queueAll, allow, …"],
      ["--dry-run", "only count the runs"],
      ["--watch", "show its progress until it ends"],
      ["--cancel", "end a backfill"],
    ],
    more: backfillWatchNotes,
    also: [
      [StandingService.method.getBackfill, "<backfill>"],
      [StandingService.method.cancelBackfill, "<backfill> --cancel"],
    ],
    examples: [
      "svc standing backfill morning-report --since 2026-03-01T00:00:00Z --dry-run",
      "svc standing backfill morning-report --since 7d --rate 10 --watch",
      "svc standing backfill bkf_01h455vb4pex5vsknk084sn02q --cancel",
    ],
  },
  async ({ values, context, project }: Run<BackfillValues>, request) => {
    const { program: id, cancel } = values;
    const client = await project();
    const { standing } = client;
    const asked = () => (cancel ? standing.cancelBackfill({ id }) : standing.getBackfill({ id }));
    const { backfill } = await (id.startsWith("bkf_") ? asked() : standing.backfillStandingProgram(request));
    if (backfill !== undefined) await show(client, backfill, { options: values, context });
  },
);

async function show(
  client: SvcClient,
  backfill: Backfill,
  { options, context }: { readonly options: BackfillValues; readonly context: CommandContext },
): Promise<void> {
  const { id, total, started, passed } = backfill;
  if (options.watch && id !== "") return watchBackfill(client, id, { options, context });
  if (options.json) return context.print(messageText(BackfillSchema, backfill));
  if (id !== "") for (const line of factLines(backfillFacts(backfill))) context.print(line);
  if (id !== "") return;
  const looked = started + passed < total ? `; ${numberText(started + passed)} of them were looked at` : "";
  context.print(`${numberText(started)} of ${numberText(total)} would start a run${looked}`);
}
