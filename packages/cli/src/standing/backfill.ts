import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { BackfillSchema } from "@svc/gen/standing";
import type { Backfill, SvcClient } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount, parseMoment } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { numberText } from "../text/plain.ts";
import { factLines } from "../text/table.ts";
import { backfillFacts } from "./backfill-text.ts";
import { backfillWatchNotes, watchBackfill } from "./watch-backfill.ts";

type BackfillOptions = ProjectOptions &
  JsonOption & {
    since?: number;
    until?: number;
    again?: true;
    rate?: number;
    policy?: string;
    dryRun?: true;
    watch?: true;
    cancel?: true;
  };

/** Adds `svc standing backfill`. */
export function addStandingBackfill(standing: Command, context: CommandContext): void {
  const backfill = standing
    .command("backfill")
    .description("make up for times or events of the past; or show, watch or end a backfill")
    .argument("<program>", "slug or id of the program; or id of a backfill, bkf_…")
    .option("--since <when>", "the first time to make up for: 2h ago, or 2026-03-14T09:00:00Z", parseMoment)
    .option("--until <when>", "the first time not to make up for; now, where nothing is said", parseMoment)
    .option("--again", "also what has a run; of a program that polls: everything that the list has")
    .option("--rate <count>", "runs that start in a minute at most; 60 where nothing is said", parseCount)
    .option("--policy <policy>", "what happens to a run while others are under way: skip, queueAll, allow, …")
    .option("--dry-run", "only count what would be made up for")
    .option("--watch", "show its progress to the end")
    .option("--cancel", "end a backfill")
    .action(async (name: string, options: BackfillOptions) => {
      const client = await openProjectClient(options, context);
      const found = name.startsWith("bkf_") ? await act(client, name, options) : await begin(client, name, options);
      if (found !== undefined) await show(client, found, { options, context });
    });
  addProjectOptions(addJson(backfill)).addHelpText("after", backfillWatchNotes);
  addExamples(backfill, [
    "svc standing backfill morning-report --since 2026-03-01T00:00:00Z --dry-run",
    "svc standing backfill morning-report --since 7d --rate 10 --watch",
    "svc standing backfill bkf_01h455vb4pex5vsknk084sn02q --cancel",
  ]);
}

async function begin(
  { standing }: SvcClient,
  id: string,
  { since, until, again, rate = 0, policy = "", dryRun }: BackfillOptions,
): Promise<Backfill | undefined> {
  const { backfill } = await standing.backfillStandingProgram({
    ...{ id, policy, perMinute: rate, again: again === true, dryRun: dryRun === true },
    ...(since !== undefined && { since: timestampFromMs(since) }),
    ...(until !== undefined && { until: timestampFromMs(until) }),
  });
  return backfill;
}

async function act({ standing }: SvcClient, id: string, { cancel }: BackfillOptions): Promise<Backfill | undefined> {
  const { backfill } = cancel ? await standing.cancelBackfill({ id }) : await standing.getBackfill({ id });
  return backfill;
}

async function show(
  client: SvcClient,
  backfill: Backfill,
  { options, context }: { readonly options: BackfillOptions; readonly context: CommandContext },
): Promise<void> {
  const { id, total, started, passed } = backfill;
  if (options.watch && id !== "") return watchBackfill(client, id, { options, context });
  if (options.json) return context.print(messageText(BackfillSchema, backfill));
  if (id !== "") for (const line of factLines(backfillFacts(backfill))) context.print(line);
  if (id !== "") return;
  const looked = started + passed < total ? `; ${numberText(started + passed)} of them were looked at` : "";
  context.print(`${numberText(started)} of ${numberText(total)} would make a run${looked}`);
}
