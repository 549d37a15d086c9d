import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addReplayCancel } from "./replays/cancel.ts";
import { addReplayList } from "./replays/list.ts";
import { addReplayPause } from "./replays/pause.ts";
import { addReplayResume } from "./replays/resume.ts";
import { addReplayShow } from "./replays/show.ts";
import { addReplayUpdate } from "./replays/update.ts";
import { addReplayWatch } from "./replays/watch.ts";

/** Adds `svc replays list|show|watch|update|pause|resume|cancel`. */
export function addReplaysCommand(program: Command, context: CommandContext): void {
  const replays = program
    .command("replays")
    .description("replays at a pace: how far they are, their pace, pauses; `svc events replay` starts one");
  addExamples(replays, ["svc replays", "svc replays watch rpl_01h455vb4pex5vsknk084sn02q"]);
  addReplayList(replays, context);
  addReplayShow(replays, context);
  addReplayWatch(replays, context);
  addReplayUpdate(replays, context);
  addReplayPause(replays, context);
  addReplayResume(replays, context);
  addReplayCancel(replays, context);
}
