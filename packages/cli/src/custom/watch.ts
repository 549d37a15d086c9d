import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { NoticeSchema, StatsService } from "@svc/gen/stats";
import { type Notice, NoticeKind } from "@svc/sdk";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { parseMoment } from "../command/options.ts";
import { messageLine } from "../text/message.ts";
import { enumWords } from "../text/plain.ts";
import { timeText } from "../text/table.ts";

const kinds: Readonly<Record<string, NoticeKind>> = {
  event: NoticeKind.EVENT,
  delivery: NoticeKind.DELIVERY,
  call: NoticeKind.CALL,
  job: NoticeKind.JOB,
  ask: NoticeKind.ASK,
};

type WatchOptions = { readonly kind?: string[]; readonly since?: number };

/** The command `svc watch`, which shows the project's events, deliveries, calls, jobs and asks as they arrive and change. */
export const addWatchCommand = command(
  StatsService.method.watchProject,
  {
    says: "show events, deliveries, calls, jobs and asks of the project as they arrive and change, until interrupted",
    options: [
      ["--kind <kind...>", "only these kinds", { choices: Object.keys(kinds) }],
      ["--since <when>", "begin with changes since this time, up to 10 minutes ago", { parse: parseMoment }],
    ],
    json: "each notice as JSON, one per line",
    examples: ["svc watch", "svc watch --kind job ask", "svc watch --kind event --since 10m --json"],
  },
  async ({ values: options, context, project, asJson }: Run<WatchOptions>) => {
    const { stats } = await project();
    const { since } = options;
    const request = {
      kinds: (options.kind ?? []).map((kind) => kinds[kind] ?? NoticeKind.UNSPECIFIED),
      ...(since !== undefined && { since: timestampFromMs(since) }),
    };
    const signal = context.untilInterrupted();
    try {
      for await (const { notice } of stats.watchProject(request, { signal })) {
        if (notice === undefined) continue;
        context.print(asJson ? messageLine(NoticeSchema, notice) : noticeText(notice));
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (signal.aborted) throw new CommandError("the watch was interrupted", 130);
  },
);

function noticeText({ kind, id, state, at, event, gap }: Notice): string {
  const word = enumWords(NoticeKind, kind);
  if (gap) return `${timeText(at)}  there is more of kind ${word} than is shown here`;
  return [timeText(at), word.padEnd(8), id, event?.triggerSlug ?? state].join("  ");
}
