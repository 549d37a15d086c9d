import { JobsService } from "@svc/gen/jobs";
import { Link, useParams } from "@tanstack/react-router";
import { useDeployment } from "../calls/identity.ts";
import { useWrite } from "../calls/write.ts";
import { randomKey } from "../random.ts";
import { Button } from "../ui/buttons/button.tsx";
import { FaultNotice } from "../ui/notice/fault.tsx";
import { Notice } from "../ui/notice/notice.tsx";
import { jobStatusWord } from "../words/jobs.ts";
import { labelOf } from "../words/word.ts";

/** Time in seconds for which the service waits for the end of a job that is tried. */
const waitSeconds = 20;

/**
 * Returns the button that runs a program once, and its result. In the sandbox the program really runs, because no real app is called.
 * Otherwise it is a simulation run: reads are made, writes are not sent. `programJson`: undefined if the program cannot run; `why` then has
 * the reason.
 */
export function useRunOnce(programJson: string | undefined, why: string | undefined) {
  const { projectId = "" } = useParams({ strict: false });
  const { isSandbox } = useDeployment();
  const submit = useWrite(JobsService.method.submitJob);
  const job = submit.answer?.job;
  const mode = isSandbox ? "live" : "simulate";
  return {
    button: (
      <Button
        icon="play"
        why={programJson === undefined ? (why ?? "The program cannot run") : why}
        busy={submit.isSending ? "Running" : undefined}
        onPress={() => submit.send({ programJson: programJson ?? "", mode, waitSeconds, idempotencyKey: randomKey() })}
      >
        {isSandbox ? "Run once in the sandbox" : "Dry run"}
      </Button>
    ),
    result: (
      <>
        <FaultNotice error={submit.error} />
        {job !== undefined && (
          <Notice
            tone={jobStatusWord(job.status).tone}
            title={`${isSandbox ? "Run in the sandbox" : "Dry run"}: ${labelOf(jobStatusWord(job.status))}`}
            actions={
              <Link to="/p/$projectId/jobs/$jobId" params={{ projectId, jobId: job.id }}>
                Open it
              </Link>
            }
          >
            <p>{job.lastError || job.receipt?.resultJson || jobStatusWord(job.status).says}</p>
          </Notice>
        )}
      </>
    ),
  };
}
