import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addStandingBackfill } from "./standing/backfill.ts";
import { addStandingCreate } from "./standing/create.ts";
import { addStandingDelete } from "./standing/delete.ts";
import { addStandingList } from "./standing/list.ts";
import { addStandingPause } from "./standing/pause.ts";
import { addStandingPreview } from "./standing/preview.ts";
import { addStandingResume } from "./standing/resume.ts";
import { addStandingRun } from "./standing/run.ts";
import { addStandingRuns } from "./standing/runs.ts";
import { addStandingShow } from "./standing/show.ts";
import { addStandingUpdate } from "./standing/update.ts";

/** Adds `svc standing create|update|preview|list|show|runs|run|backfill|pause|resume|delete`. */
export function addStandingCommand(program: Command, context: CommandContext): void {
  const standing = program
    .command("standing")
    .description("programs that the service starts by itself, and their runs");
  addExamples(standing, [
    "svc standing",
    "svc standing create morning-report morning-report.json",
    "svc standing runs morning-report --skipped",
  ]);
  addStandingCreate(standing, context);
  addStandingUpdate(standing, context);
  addStandingPreview(standing, context);
  addStandingList(standing, context);
  addStandingShow(standing, context);
  addStandingRuns(standing, context);
  addStandingRun(standing, context);
  addStandingBackfill(standing, context);
  addStandingPause(standing, context);
  addStandingResume(standing, context);
  addStandingDelete(standing, context);
}
