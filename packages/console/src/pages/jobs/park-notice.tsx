import type { Job } from "@svc/gen/jobs";
import { Link } from "@tanstack/react-router";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Time } from "../../ui/values/time.tsx";
import { hasEnded } from "../../words/jobs.ts";
import { parkWords } from "../../words/park.ts";
import { AskBody } from "../asks/ask-body.tsx";
import { Plan } from "../asks/plan.tsx";
import { useAsk } from "../asks/use-ask.ts";
import { JobLink } from "./job-link.tsx";

/** Draws the reason why a job waits, the form that answers its question, and the job's last error. */
export function ParkNotice({ job, projectId }: { job: Job; projectId: string }) {
  const { park, pausedAt, lastError, status } = job;
  return (
    <>
      {lastError !== "" && <Failure job={job} projectId={projectId} />}
      {pausedAt !== undefined && park?.reason !== "paused" && !hasEnded(status) && (
        <Notice tone="warn" title="Pausing" icon="pause">
          <p>Running calls finish first.</p>
        </Notice>
      )}
      {park !== undefined && <Parked job={job} projectId={projectId} />}
    </>
  );
}

/**
 * Draws the last error of a job. If only a different program can succeed, it links to the editor, because a retry would fail in the same
 * way.
 */
function Failure({ job: { id, lastError, status }, projectId }: { job: Job; projectId: string }) {
  const isOfLimits = lastError.startsWith("LIMIT_REACHED") && hasEnded(status);
  if (!isOfLimits) return <Notice tone="bad" title={lastError} />;
  return (
    <Notice
      tone="bad"
      title={lastError}
      actions={
        <Link to="/p/$projectId/programs/new" params={{ projectId }} search={{ from: id }} className={buttonClass()}>
          Raise the limit in the program
        </Link>
      }
    >
      <p>A retry has the same limit. Raise it under “limits” in the program, and submit the program again.</p>
    </Notice>
  );
}

function Parked({ job, projectId }: { job: Job; projectId: string }) {
  const { park } = job;
  const requestId = park?.judgment?.requestId ?? "";
  const asked = useAsk(job.id, requestId);
  if (park === undefined) return null;
  const { title, next, forPerson } = parkWords(park.reason);
  const ask = asked.data?.ask;
  return (
    <>
      <Notice
        tone={forPerson ? "warn" : "info"}
        icon={park.judgment === undefined ? "pause" : "ask"}
        title={park.stepId === "" ? title : `${title}, in step ${park.stepId}`}
      >
        <p>
          Since <Time at={park.since} />. {next}
          {park.wakeAt !== undefined && (
            <>
              {" "}
              That is <Time at={park.wakeAt} />.
            </>
          )}
        </p>
        {park.childJobId !== "" && <JobLink projectId={projectId} id={park.childJobId} />}
      </Notice>
      {requestId !== "" && asked.isPending && <Skeleton rows={14} />}
      <FaultNotice error={asked.error} onRetry={() => void asked.refetch()} />
      {ask !== undefined && (
        <Section
          title={ask.question}
          boxed
          actions={
            <Link to="/p/$projectId/asks/$jobId/$askId" params={{ projectId, jobId: job.id, askId: ask.requestId }}>
              {ask.approvalId === "" ? "Open the question" : "See what will run"}
            </Link>
          }
        >
          {ask.approvalId !== "" && <Plan programJson={job.programJson} />}
          <AskBody ask={ask} job={job} projectId={projectId} wide />
        </Section>
      )}
    </>
  );
}
