import { readFile, rename, writeFile } from "node:fs/promises";
import { requireText } from "@svc/core";
import { EventSchema, TriggersService } from "@svc/gen/triggers";
import { type Event, pollEvents } from "@svc/sdk";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { messageLine } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { timeText } from "../text/table.ts";

type PollValues = { readonly cursorFile?: string; readonly follow?: true };

/** The command `svc events poll`, which prints the events since a cursor (a position in the list of events), each exactly once. */
export const addEventPoll = command(
  TriggersService.method.pollEvents,
  {
    says: "print events since a cursor, oldest first, each exactly once",
    options: [
      ["--cursor-file <file>", "begin at the cursor in this file, and write the next cursor to it after each page"],
      ["--since <when>", "without a cursor, begin with events received since then: 2h, or 2026-03-14T09:00:00Z"],
      ["--follow", "wait for further events until interrupted"],
      ["--toolkit <slug>", "only events of this toolkit", { fills: "toolkitSlug" }],
      [
        "--trigger <slug...>",
        "only events of these triggers, such as calendar.events_changed",
        { fills: "triggerSlugs" },
      ],
      ["--entity <id>", "only events of this entity", { fills: "entityId" }],
      ["--filter <cel>", "only events for which this CEL expression is true, such as 'event.payload.amount > 1000'"],
    ],
    json: "each event with its payload as JSON, one per line",
    more: "\nWithout a cursor and --since, it begins now. If it is interrupted before a cursor is written, the next run prints the events of the\nlast page again.",
    examples: [
      "svc events poll --cursor-file orders.cursor --since 2h",
      "svc events poll --cursor-file orders.cursor --follow --json | jq -r .payloadJson",
    ],
  },
  async ({ values: { cursorFile, follow }, context, project, asJson }: Run<PollValues>, request) => {
    const client = await project();
    const cursor = cursorFile === undefined ? "" : await readCursor(cursorFile);
    const signal = follow === true ? context.untilInterrupted() : undefined;
    for await (const page of pollEvents(client, { ...request, cursor, signal, untilRead: follow !== true })) {
      if (page.truncated) context.note("Events before these may be missing: their retention time has passed.");
      for (const event of page.events) context.print(asJson ? messageLine(EventSchema, event) : eventText(event));
      if (cursorFile !== undefined) await writeCursor(cursorFile, page.cursor);
    }
    if (signal?.aborted === true) throw new CommandError("the poll was interrupted", 130);
  },
);

function eventText({ receivedAt, id, triggerSlug, entityId }: Event): string {
  return [timeText(receivedAt), id, triggerSlug, plainText(entityId) || "-"].join("  ");
}

/** Returns the saved cursor (the position in the list of events) from a file. Returns an empty text if the file does not exist. */
async function readCursor(file: string): Promise<string> {
  try {
    return requireText(await readFile(file)).trim();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "";
    throw new CommandError(`${file} cannot be read: ${code ?? message}`);
  }
}

/** Stores a cursor (position in the events) in a file. After a crash, the file has the old cursor or the new one, never a part of one. */
async function writeCursor(file: string, cursor: string): Promise<void> {
  const made = `${file}.next`;
  try {
    await writeFile(made, `${cursor}\n`, { mode: 0o600 });
    await rename(made, file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError(`${file} cannot be written: ${code ?? message}`);
  }
}
