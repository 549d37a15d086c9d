import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { NoticeSchema } from "@svc/gen/stats";
import { type Notice, NoticeKind } from "@svc/sdk";
import { type Command, Option } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "./client/open-client.ts";
import type { CommandContext } from "./command/context.ts";
import { CommandError } from "./command/error.ts";
import { addExamples } from "./command/examples.ts";
import { addJson, type JsonOption, parseMoment } from "./command/options.ts";
import { enumWords } from "./text/enum-name.ts";
import { messageLine } from "./text/message.ts";
import { timeText } from "./text/table.ts";

const kinds: Readonly<Record<string, NoticeKind>> = {
  event: NoticeKind.EVENT,
  delivery: NoticeKind.DELIVERY,
  call: NoticeKind.CALL,
  job: NoticeKind.JOB,
  ask: NoticeKind.ASK,
};

type WatchOptions = ProjectOptions & JsonOption & { kind?: string[]; since?: number };

/** Adds `svc watch`. */
export function addWatchCommand(program: Command, context: CommandContext): void {
  const watch = program
    .command("watch")
    .description(
      "tell of events, deliveries, calls, jobs and asks of the project as they come and change, until it is interrupted",
    )
    .addOption(new Option("--kind <kind...>", "only of these").choices(Object.keys(kinds)))
    .option("--since <when>", "begin with what is new since then, up to 10 minutes back", parseMoment)
    .action((options: WatchOptions) => watchProject(options, context));
  addExamples(addProjectOptions(addJson(watch, "each notice as JSON, one a line")), [
    "svc watch",
    "svc watch --kind job ask",
    "svc watch --kind event --since 10m --json",
  ]);
}

async function watchProject(options: WatchOptions, context: CommandContext): Promise<void> {
  const { stats } = await openProjectClient(options, context);
  const { since } = options;
  const request = {
    kinds: (options.kind ?? []).map((kind) => kinds[kind] ?? NoticeKind.UNSPECIFIED),
    ...(since !== undefined && { since: timestampFromMs(since) }),
  };
  const signal = context.untilInterrupted();
  try {
    for await (const { notice } of stats.watchProject(request, { signal })) {
      if (notice === undefined) continue;
      context.print(options.json ? messageLine(NoticeSchema, notice) : noticeText(notice));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (signal.aborted) throw new CommandError("the watch was interrupted", 130);
}

function noticeText({ kind, id, state, at, event, gap }: Notice): string {
  const word = enumWords(NoticeKind, kind);
  if (gap) return `${timeText(at)}  more of kind ${word} is new than is told here`;
  return [timeText(at), word.padEnd(8), id, event?.triggerSlug ?? state].join("  ");
}
