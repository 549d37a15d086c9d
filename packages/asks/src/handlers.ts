import type { ClaimedJobTask } from "@svc/db/job-tasks/queue";
import type { AskContext } from "./context.ts";
import { runHop } from "./hop.ts";
import { runPublish, runWatch } from "./publish.ts";
import { runReach } from "./reach.ts";
import { readSubject } from "./task-subject.ts";

/** Who does the tasks that asks make, by kind. */
export type AskHandlers = Readonly<Record<"hop" | "reach" | "publish", (task: ClaimedJobTask) => Promise<void>>>;

/**
 * Makes what does the tasks of asks under their leases; each ends or moves its task, and writes nothing once the lease is lost. They
 * reject when the store, or what a tool call needs, is away: the task is then to be given back.
 */
export function createAskHandlers(context: AskContext): AskHandlers {
  const handle = async (task: ClaimedJobTask) => {
    await run(context, task);
    context.onLogged(task.jobId);
    context.onDue();
  };
  return { hop: handle, reach: handle, publish: handle };
}

function run(context: AskContext, task: ClaimedJobTask): Promise<void> {
  const subject = readSubject(task);
  switch (subject.kind) {
    case "hop":
      return runHop(context, task, subject);
    case "reach":
      return runReach(context, task, subject);
    case "publish":
      return runPublish(context, task, subject);
    case "watch":
      return runWatch(context, task, subject);
  }
}
