import { TriggersService } from "@svc/gen/triggers";
import type { Replay } from "@svc/sdk";
import { parseCount } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { parsePace } from "../custom/replays/replay.ts";
import { addReplayWatch, progressText, replayFacts, replayStateText } from "../custom/replays/watch.ts";
import { factLines } from "../text/table.ts";

const { listReplays, getReplay, updateReplay, cancelReplay } = TriggersService.method;
const exampleId = "rpl_01h455vb4pex5vsknk084sn02q";

/**
 * Parts that are the same in all commands that act on one replay and print its new state: the argument, the result field, and the printed
 * text.
 */
const aboutReplay = {
  takes: { "<id>": "id of the replay, rpl_…" },
  result: "replay",
  shows: ({ replay }: { readonly replay?: Replay | undefined }) =>
    replay === undefined ? [] : factLines(replayFacts(replay)),
} as const;

/** The commands `svc replays list|show|watch|update|pause|resume|cancel`, for throttled replays of past events. */
export const addReplaysCommand = topic({
  says: "throttled replays: progress, pace, pauses; `svc events replay` starts one",
  examples: ["svc replays", `svc replays watch ${exampleId}`],
  commands: {
    list: list(listReplays, {
      says: "list the project's replays, newest first",
      isDefault: true,
      options: [["--limit <count>", "largest number of replays to list", { parse: parseCount, default: 100 }]],
      rows: "replays",
      table: {
        STARTED: "createdAt",
        ID: "id",
        QUEUED: progressText,
        PACE: ({ perSecond }) => `${perSecond}/s`,
        SINCE: "since",
        STATE: replayStateText,
      },
      json: "the replays as a JSON list",
      examples: ["svc replays list", "svc replays list --limit 5"],
    }),
    show: call(getReplay, {
      ...aboutReplay,
      says: "show a replay: its progress, what it waits for, what it delivers",
      examples: [`svc replays show ${exampleId}`],
    }),
    watch: addReplayWatch,
    update: call(updateReplay, {
      ...aboutReplay,
      says: "change the pace of a replay, from its next step",
      options: [
        [
          "--rate <pace>",
          "deliveries per second, such as 50/s",
          { fills: "perSecond", parse: parsePace, required: true },
        ],
      ],
      examples: [`svc replays update ${exampleId} --rate 200/s`],
    }),
    pause: call(updateReplay, {
      ...aboutReplay,
      says: "pause a replay; queued deliveries are still sent",
      request: () => ({ paused: true }),
      examples: [`svc replays pause ${exampleId}`],
    }),
    resume: call(updateReplay, {
      ...aboutReplay,
      says: "continue a paused replay",
      request: () => ({ paused: false }),
      examples: [`svc replays resume ${exampleId}`],
    }),
    cancel: call(cancelReplay, {
      ...aboutReplay,
      says: "end a replay; queued deliveries are still sent",
      examples: [`svc replays cancel ${exampleId}`],
    }),
  },
});
