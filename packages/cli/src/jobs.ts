import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addJobCancel } from "./jobs/cancel.ts";
import { addJobCheck } from "./jobs/check.ts";
import { addJobList } from "./jobs/list.ts";
import { addJobLog } from "./jobs/log.ts";
import { addJobPark } from "./jobs/park.ts";
import { addJobPause } from "./jobs/pause.ts";
import { addJobPromote } from "./jobs/promote.ts";
import { addJobRelease } from "./jobs/release.ts";
import { addJobRerun } from "./jobs/rerun.ts";
import { addJobResume } from "./jobs/resume.ts";
import { addJobRetry } from "./jobs/retry.ts";
import { addJobShow } from "./jobs/show.ts";
import { addJobSteps } from "./jobs/steps.ts";
import { addJobSubmit } from "./jobs/submit.ts";
import { addJobUndoEntries } from "./jobs/undo-entries.ts";
import { addJobWatch } from "./jobs/watch.ts";

/** Adds `svc jobs submit|check|list|show|steps|undo-entries|watch|log|retry|rerun|pause|resume|cancel|promote|park|release`. */
export function addJobsCommand(program: Command, context: CommandContext): void {
  const jobs = program
    .command("jobs")
    .description(
      "check programs and submit them as jobs, and follow, read, retry, pause, resume, cancel and promote them; as administrator, park and release them",
    );
  addExamples(jobs, [
    "svc jobs",
    "svc jobs submit remind.json --simulate --watch",
    "svc jobs submit remind.json --watch",
    "svc jobs show job_01h455vb4pex5vsknk084sn02q",
  ]);
  addJobSubmit(jobs, context);
  addJobCheck(jobs, context);
  addJobList(jobs, context);
  addJobShow(jobs, context);
  addJobSteps(jobs, context);
  addJobUndoEntries(jobs, context);
  addJobWatch(jobs, context);
  addJobLog(jobs, context);
  addJobRetry(jobs, context);
  addJobRerun(jobs, context);
  addJobPause(jobs, context);
  addJobResume(jobs, context);
  addJobCancel(jobs, context);
  addJobPromote(jobs, context);
  addJobPark(jobs, context);
  addJobRelease(jobs, context);
}
